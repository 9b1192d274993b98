//! The transcript: a run's records folded into cells, and the view that scrolls, folds and searches them.

mod fold;
mod view;

pub use fold::Transcript;
pub(crate) use view::{Filter, FoldTarget, Jump, TranscriptView};
