//! Turns requests into command lines, without touching the system.

mod build;
mod line;

pub use build::{AnyRequest, MAX_ARGUMENT_BYTES, MAX_PROMPT_BYTES, build};
pub use line::{Argument, Argv, Input, Note};
