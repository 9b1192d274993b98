//! What may run.

use crate::event::field::wire_struct;
use crate::event::open::open_enum;
use crate::text::Text;

open_enum! {
    /// What happens without asking.
    pub enum PermissionMode {
        /// Only what is harmless.
        Default = "default",
        /// Edits too.
        AcceptEdits = "acceptEdits",
        /// Nothing changes before a plan is approved.
        Plan = "plan",
        /// What would be asked is refused.
        DontAsk = "dontAsk",
        /// Everything.
        BypassPermissions = "bypassPermissions",
        /// The CLI decides.
        Auto = "auto",
    }
}

wire_struct! {
    /// A tool call was not allowed; the run goes on. Hooks deny without this event.
    pub struct PermissionDenied {
        /// The tool.
        tool_name: Option<Text> = b"tool_name",
        /// The call.
        tool_use_id: Option<Text> = b"tool_use_id",
        /// Why, for people.
        message: Option<Text> = b"message",
        /// Why.
        decision_reason: Option<Text> = b"decision_reason",
        /// What kind of reason.
        decision_reason_type: Option<Text> = b"decision_reason_type",
    }
}
