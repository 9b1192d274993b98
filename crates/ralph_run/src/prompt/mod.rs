//! What the agent is told in an iteration.

mod compose;
mod notes;
mod tail;

pub use compose::{Memory, PromptParts, compose};
pub use notes::{Notes, read_notes};
pub use tail::{TAIL_BYTES, TAIL_LINES, tail};
