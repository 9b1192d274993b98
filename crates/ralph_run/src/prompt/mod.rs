//! The prompt of an iteration: `IterationPrompt` builds it from the plan, the task, the notes and the last failure.

mod compose;
mod iteration;
mod notes;
mod tail;

pub use compose::{Memory, PromptParts, RoleParts, compose};
pub use iteration::IterationPrompt;
pub use notes::{Notes, read_notes};
pub use tail::{TAIL_BYTES, TAIL_LINES, tail, tail_within};
