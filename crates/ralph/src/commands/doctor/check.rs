//! What was looked at, and how it is.

use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    /// What.
    pub(super) subject: String,
    /// How it is.
    pub(super) level: Level,
    /// What was found.
    pub(super) found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Worth knowing, no obstacle.
    Warning,
    /// Not there; something else may do.
    Missing,
    /// No run can start.
    Failed,
}

impl Check {
    pub(super) fn new(subject: &str, level: Level, found: impl Into<String>) -> Self {
        Self {
            subject: subject.to_owned(),
            level,
            found: found.into(),
            advice: None,
        }
    }

    pub(super) fn ok(subject: &str, found: impl Into<String>) -> Self {
        Self::new(subject, Level::Ok, found)
    }

    pub(super) fn warning(subject: &str, found: impl Into<String>) -> Self {
        Self::new(subject, Level::Warning, found)
    }

    pub(super) fn failed(subject: &str, found: impl Into<String>) -> Self {
        Self::new(subject, Level::Failed, found)
    }

    #[must_use]
    pub(super) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}
