//! The session as a whole.

use crate::event::field::wire_struct;
use crate::event::open::open_enum;
use crate::text::Text;

wire_struct! {
    /// The session starts or stops working; only when asked for by environment.
    pub struct SessionStateChanged {
        /// What it does now.
        state: Option<SessionState> = b"state",
    }
}

open_enum! {
    /// What a session does.
    pub enum SessionState {
        /// Works.
        Running = "running",
        /// Has really finished.
        Idle = "idle",
        /// Waits for an answer.
        RequiresAction = "requires_action",
    }
}

wire_struct! {
    /// The session has a new title.
    pub struct SessionTitleChanged {
        /// The title.
        title: Option<Text> = b"title",
    }
}

wire_struct! {
    /// A user interface should draw itself anew.
    pub struct UiInvalidate {
        /// Why. A string here, unlike in stream events.
        event: Option<Text> = b"event",
    }
}
