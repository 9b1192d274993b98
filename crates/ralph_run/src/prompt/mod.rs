//! The prompt of an iteration: `compose` builds it from the task, the notes and the last failure.

mod compose;
mod notes;
mod tail;

pub use compose::{Memory, PromptParts, compose};
pub use notes::{Notes, read_notes};
pub use tail::{TAIL_BYTES, TAIL_LINES, tail};
