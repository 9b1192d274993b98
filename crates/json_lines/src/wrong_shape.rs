//! `WrongShape`: a JSON value that does not fit the type it is deserialized into.

/// A JSON value does not have the shape that it should be read into. It has the position of the mismatch and quotes
/// nothing, because the value may hold anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "unexpected type, missing member or number out of range at line {line}, column {column} of the value"
)]
#[non_exhaustive]
pub struct WrongShape {
    /// The line within the value, from 1.
    pub line: usize,
    /// The column, from 1; 0 stands for a whole line.
    pub column: usize,
}

impl From<&serde_json::Error> for WrongShape {
    fn from(error: &serde_json::Error) -> Self {
        Self {
            line: error.line(),
            column: error.column(),
        }
    }
}
