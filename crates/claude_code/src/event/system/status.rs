//! What the CLI is doing right now.

use crate::event::field::wire_struct;
use crate::event::open::open_enum;
use crate::event::system::PermissionMode;
use crate::json::RawJson;
use crate::text::Text;

wire_struct! {
    /// What the CLI is doing right now, or that a setting has changed.
    pub struct Status {
        /// `None` when an activity has ended.
        status: Option<StatusKind> = b"status",
        /// The permission mode, when it has changed.
        permission_mode: Option<PermissionMode> = b"permissionMode",
        /// How a compaction ended.
        compact_result: Option<Text> = b"compact_result",
        /// Why a compaction failed.
        compact_error: Option<Text> = b"compact_error",
    }
}

open_enum! {
    /// An activity.
    pub enum StatusKind {
        /// Waits for the API.
        Requesting = "requesting",
        /// Shortens the conversation.
        Compacting = "compacting",
    }
}

wire_struct! {
    /// How much the model has thought so far, estimated.
    pub struct ThinkingTokens {
        /// In this message.
        estimated_tokens: Option<u64> = b"estimated_tokens",
        /// Since the last such event.
        estimated_tokens_delta: Option<u64> = b"estimated_tokens_delta",
    }
}

wire_struct! {
    /// The conversation before this was replaced by a summary.
    pub struct CompactBoundary {
        /// Before and after.
        compact_metadata: Option<CompactMetadata> = b"compact_metadata",
        /// The last message that was replaced.
        logical_parent_uuid: Option<Text> = b"logical_parent_uuid",
    }
}

wire_struct! {
    /// A compaction in figures.
    pub struct CompactMetadata {
        /// `auto` or `manual`.
        trigger: Option<Text> = b"trigger",
        /// Tokens before.
        pre_tokens: Option<u64> = b"pre_tokens",
        /// Tokens after.
        post_tokens: Option<u64> = b"post_tokens",
        /// Tokens dropped in this session.
        cumulative_dropped_tokens: Option<u64> = b"cumulative_dropped_tokens",
        /// How long it took, in milliseconds.
        duration_ms: Option<u64> = b"duration_ms",
        /// The part that was kept, as written.
        preserved_messages: Option<RawJson> = b"preserved_messages",
    }
}
