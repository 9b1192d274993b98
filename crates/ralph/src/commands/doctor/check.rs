//! `Check`: one line of the report of `ralph doctor`.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) subject: String,
    pub(super) level: Level,
    pub(super) found: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    Ok,
    /// A run can start.
    Warning,
    /// Not found; another one may do.
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

    pub(super) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}
