//! What to ask of the CLI.
//!
//! [`PrintRequest`] and [`Request`] are one prompt, [`SessionRequest`] is a conversation. What they have in common
//! is in [`Options`]; a client's own options fill in what a request leaves open.

mod choices;
mod environment;
mod kinds;
mod options;
mod session_id;

pub use choices::{
    Expansion, Fork, PartialMessages, PermissionHost, Persistence, Replay, SessionChoice, SystemPrompt,
};
pub use environment::{BaseEnvironment, Environment};
pub use kinds::{PrintRequest, Request, SessionRequest};
pub use options::Options;
pub use session_id::{SessionId, SessionIdError};
