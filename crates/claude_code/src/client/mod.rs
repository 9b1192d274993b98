//! Runs the CLI: a thin face over the shared loop of `agent_client`.

mod builder;
mod handle;
mod prepare;
mod protocol;
mod sender;

pub(crate) use builder::Started;
pub use builder::{Client, ClientBuilder};
pub(crate) use handle::stderr_tail;
pub use handle::{Completion, Events, Handle};
pub use prepare::{Prepared, PromptFiles, prepare};
pub use sender::{Session, SessionSender};
