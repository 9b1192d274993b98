//! Full-text search. The index is a file of its own beside the store and is filled from the journals.
//!
//! It maps words to records and their positions in the journals; the text itself stays there. Records are numbered in
//! the order in which they are indexed, roughly by time, so the newest hits have the highest numbers.

mod candidates;
mod cursor;
mod expression;
mod extract;
mod filters;
mod find;
mod gather;
mod index;
mod journal_lines;
mod kinds;
mod removal;
mod scan;
mod schema;
mod scope;
mod snippet;
mod strings;
mod words;
mod write;

pub(crate) use candidates::{Candidate, Candidates};
pub(crate) use expression::{Clause, Expression};
pub(crate) use filters::{Filter, write as write_filter};
pub(crate) use find::find;
pub(crate) use gather::{
    Batch as TextBatch, Calls, Gatherer, LineSource, Mark, Pending, Row as TextRow, Span,
};
pub use index::{Indexed, SearchOptions, TextIndex};
pub(crate) use kinds::{names as kinds_with_words, number_of as kind_number};
pub(crate) use scan::scan;
pub(crate) use write::run_filters;
