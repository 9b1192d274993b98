//! What a person should know.

use crate::event::field::wire_struct;
use crate::text::Text;

wire_struct! {
    /// The API failed and the CLI will try again by itself.
    pub struct ApiRetry {
        /// Counts from 1.
        attempt: Option<u64> = b"attempt",
        /// After this many it gives up.
        max_retries: Option<u64> = b"max_retries",
        /// How long it waits, in milliseconds (a fraction up to 2.1.197).
        retry_delay_ms: Option<f64> = b"retry_delay_ms",
        /// HTTP status; `None` when the connection broke.
        error_status: Option<u64> = b"error_status",
        /// Category, for example `overloaded`.
        error: Option<Text> = b"error",
    }
}

wire_struct! {
    /// The answer broke and Qwen Code asks for it again.
    pub struct AnswerRetry {
        /// The details.
        data: Option<AnswerRetryData> = b"data",
    }
}

wire_struct! {
    /// How an answer is asked for again.
    #[derive(Copy)]
    pub struct AnswerRetryData {
        /// Counts from 1.
        attempt: Option<u64> = b"attempt",
        /// After this many it gives up.
        max_retries: Option<u64> = b"maxRetries",
        /// How long it waits, in milliseconds.
        delay_ms: Option<u64> = b"delayMs",
        /// Tool calls of the broken answer that will not run.
        discarded_tool_calls: Option<u64> = b"discardedToolCalls",
        /// Whether the new answer goes on behind the text of the broken one; otherwise it takes its place.
        preserve_text: Option<bool> = b"preserveText",
    }
}

wire_struct! {
    /// A line for the transcript.
    pub struct Informational {
        /// The line.
        content: Option<Text> = b"content",
        /// How important.
        level: Option<Text> = b"level",
        /// Whether the turn ends here.
        prevent_continuation: bool = b"prevent_continuation",
    }
}

wire_struct! {
    /// A line for the status area.
    pub struct Notification {
        /// Replaces an earlier one with the same key.
        key: Option<Text> = b"key",
        /// The line.
        text: Option<Text> = b"text",
        /// How urgent.
        priority: Option<Text> = b"priority",
    }
}

wire_struct! {
    /// Another model takes over.
    pub struct ModelFallback {
        /// Which one gave up.
        original_model: Option<Text> = b"original_model",
        /// Which one goes on.
        fallback_model: Option<Text> = b"fallback_model",
        /// Why, for example `overloaded`.
        trigger: Option<Text> = b"trigger",
        /// The same for people.
        content: Option<Text> = b"content",
    }
}

wire_struct! {
    /// The model refused.
    pub struct ModelRefusal {
        /// Which one.
        original_model: Option<Text> = b"original_model",
        /// Which one goes on, if any.
        fallback_model: Option<Text> = b"fallback_model",
        /// The vendor's category.
        api_refusal_category: Option<Text> = b"api_refusal_category",
        /// The vendor's explanation.
        api_refusal_explanation: Option<Text> = b"api_refusal_explanation",
        /// The message that was refused.
        refused_user_message_uuid: Option<Text> = b"refused_user_message_uuid",
        /// The API request.
        request_id: Option<Text> = b"request_id",
        /// The same for people.
        content: Option<Text> = b"content",
    }
}
