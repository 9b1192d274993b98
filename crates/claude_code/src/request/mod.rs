//! What to ask of the CLI: [`PrintRequest`] is one prompt, [`SessionRequest`] is a conversation.
//!
//! Both carry [`RunOptions`](crate::RunOptions); the client's own options fill the gaps.

mod kinds;
mod session_id;

pub use kinds::{PrintRequest, Replay, Request, SessionRequest};
pub use session_id::{SessionId, SessionIdError};
