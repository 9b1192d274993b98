//! `Problem`: what is wrong in a task file, and where. `ralph tasks check` prints them.

use std::fmt;

use serde::Serialize;
use yaml_tree::Position;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The task cannot be worked on.
    Error,
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Relative to the top of the repository.
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub severity: Severity,
    pub message: String,
}

impl Problem {
    pub(crate) fn error(file: &str, at: Position, message: impl Into<String>) -> Self {
        Self::new(file, at, Severity::Error, message.into())
    }

    pub(crate) fn warning(file: &str, at: Position, message: impl Into<String>) -> Self {
        Self::new(file, at, Severity::Warning, message.into())
    }

    fn new(file: &str, at: Position, severity: Severity, message: String) -> Self {
        Self {
            file: file.to_owned(),
            line: at.line,
            column: at.column,
            severity,
            message,
        }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
        };
        let Self {
            file,
            line,
            column,
            message,
            ..
        } = self;
        write!(formatter, "{file}:{line}:{column}: {severity}{message}")
    }
}
