//! The program: a small agent without a model.
//!
//! ```text
//! stdin ──► inbox ──► stage ──► stdout
//! SIGINT ─►   ▲         ▲
//!             │         └─ job: what is said and done, in order
//!             └─ every wait of the show listens here
//! ```
//!
//! One thread plays. Whatever arrives meanwhile (messages, control requests, answers, the signal) waits in one inbox
//! and is taken out at the next pause, so nothing needs a lock.

mod arguments;
mod conversation;
mod entry;
mod hearing;
mod inbox;
mod job;
mod lines;
mod meter;
mod props;
mod shell;
mod stage;
mod tools;

pub use entry::{DEMO_WORD, demo_main, play};
pub use props::{DEMO_FOLDER, DEMO_VERIFY};
