//! Runs the CLI.

mod builder;
mod events;
mod handle;
mod known;
mod launch;
mod queue;

pub use builder::{Client, ClientBuilder};
pub use events::Events;
pub(crate) use events::Reader;
pub(crate) use handle::stderr_tail;
pub use handle::{Completion, Handle};
pub(crate) use launch::{Launched, launch};
pub use launch::{Prepared, PromptFiles, prepare};
pub(crate) use queue::{Busy, EventSink, event_queue};
