//! YAML as a tree in which every value knows its position, and the known word that is most like a misspelt one.
//!
//! `ralph.yml` and the front matter of tasks are read with it.

mod document;
mod suggest;

pub use document::{Entry, Node, Position, Problem, Value, parse_document};
pub use suggest::{edit_distance, nearest_word};
