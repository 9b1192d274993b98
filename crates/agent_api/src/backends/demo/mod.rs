//! A scripted agent that comes with this crate, for machines without an agent or a key.
//!
//! It is a child process like any other and speaks Claude's dialect, so all that is built for real agents works on it:
//! it thinks, reads, plans, runs a command that fails, repairs a script, asks a question where somebody can answer, and
//! claims to be done when it is not. A second run puts that right. It needs no network and touches nothing but a folder
//! `ralph-demo/` where it works.

mod agent;
mod backend;

pub use agent::{DEMO_FOLDER, DEMO_VERIFY, DEMO_WORD, demo_main, play};
pub use backend::{DEMO_SPEED, Demo};
