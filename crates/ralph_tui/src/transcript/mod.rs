//! The transcript: a run's records folded into cells, and the view that scrolls, folds and searches them.

mod ansi;
mod cell;
mod cells;
mod changes;
mod diff;
mod fold;
mod fold_agent;
mod fold_run;
mod layout;
mod line;
mod live_output;
mod logical_text;
mod markdown;
mod search;
mod sheet;
mod syntax;
#[cfg(test)]
mod tests;
mod text_body;
mod view;
mod view_jump;
mod view_scroll;
mod view_search;
mod visible_cells;
mod wrap;

pub use fold::Transcript;
pub(crate) use view::{Filter, FoldTarget, Jump, TranscriptView};
