//! JSON values that are not what the caller asked for.

use serde_json::error::Category;

/// A JSON value does not have the shape that it was to be read into. It tells where, and quotes nothing: the value may
/// hold anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} at line {line}, column {column} of the value: read it into another type", reason(*.category))]
#[non_exhaustive]
pub struct WrongShape {
    /// What is wrong.
    pub category: Category,
    /// The line within the value, from 1.
    pub line: usize,
    /// The column, from 1; 0 when a whole line is meant.
    pub column: usize,
}

impl From<&serde_json::Error> for WrongShape {
    fn from(error: &serde_json::Error) -> Self {
        Self {
            category: error.classify(),
            line: error.line(),
            column: error.column(),
        }
    }
}

fn reason(category: Category) -> &'static str {
    match category {
        Category::Data => "a value of another type, or a missing one,",
        Category::Syntax | Category::Eof => "something that the reader cannot take",
        Category::Io => "a read error",
    }
}
