//! What the agent is told in an iteration.

mod compose;
mod tail;

pub use compose::{Memory, PromptParts, compose};
pub use tail::{TAIL_BYTES, TAIL_LINES, tail};
