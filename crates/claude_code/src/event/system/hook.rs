//! Hooks that the user configured.

use crate::event::field::wire_struct;
use crate::text::Text;

wire_struct! {
    /// A hook begins.
    pub struct HookStarted {
        /// Names this run of the hook.
        hook_id: Option<Text> = b"hook_id",
        /// For example `PreToolUse:Bash`.
        hook_name: Option<Text> = b"hook_name",
        /// For example `PreToolUse`.
        hook_event: Option<Text> = b"hook_event",
    }
}

wire_struct! {
    /// A hook has ended.
    pub struct HookResponse {
        /// Names this run of the hook.
        hook_id: Option<Text> = b"hook_id",
        /// For example `PreToolUse:Bash`.
        hook_name: Option<Text> = b"hook_name",
        /// For example `PreToolUse`.
        hook_event: Option<Text> = b"hook_event",
        /// `success` or `error`.
        outcome: Option<Text> = b"outcome",
        /// Exit code of the hook's command.
        exit_code: Option<u64> = b"exit_code",
        /// All it wrote.
        output: Option<Text> = b"output",
        /// What it wrote on standard output.
        stdout: Option<Text> = b"stdout",
        /// What it wrote on standard error.
        stderr: Option<Text> = b"stderr",
    }
}
