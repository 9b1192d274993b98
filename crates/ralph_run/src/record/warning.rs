//! `Warned`: something a person should know, with the records that show it. The machine and the watchdog write it.

use serde::{Deserialize, Serialize};

use crate::open::Open;

/// Something a person should know while it happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Warned {
    /// What kind.
    #[cfg_attr(feature = "ts", ts(as = "WarningKind"))]
    pub kind: Open<WarningKind>,
    /// For people.
    pub message: String,
    /// The records that show it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// A record that a warning is based on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Evidence {
    /// The record's number.
    pub seq: u64,
    /// What it shows, in one short line.
    pub text: String,
}

impl Warned {
    /// A warning without evidence.
    pub fn new(kind: WarningKind, message: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            evidence: Vec::new(),
        }
    }
}

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    /// 80 % of the money is spent.
    CostNearLimit,
    /// 80 % of the tokens are used.
    TokensNearLimit,
    /// The agent works elsewhere than it was asked to.
    OtherDirectory,
    /// Lines of the agent's output could not be read.
    UnreadableLines,
    /// The agent's output file shrank.
    LogTruncated,
    /// A file of the run could not be written.
    Storage,
    /// Nobody answered the agent in time, and it was told to decide by itself.
    Unanswered,
    /// What was asked for cannot be had in full.
    Degraded,
    /// 80% of the iterations are used.
    IterationsNearLimit,
    /// 80% of the time is used.
    RuntimeNearLimit,
    /// The agent has been silent for a long time.
    Silence,
    /// The same tool call again and again.
    RepeatedCall,
    /// The same command fails again and again.
    RepeatedFailure,
    /// The same answer as in the iteration before, and nothing was changed.
    RepeatedAnswer,
    /// A file has a content again that it had before.
    FlippedFile,
    /// The run spends much faster than it did before.
    BurnRate,
    /// A file outside the workspace or outside `watch.scope` was changed.
    OutOfScope,
    /// The context window is nearly full.
    ContextNearlyFull,
    /// The agent wrote events of types that this version does not know.
    UnknownEvents,
    /// A notification could not be sent.
    NotificationFailed,
    /// The prompt file was changed, and the new text is used.
    PromptChanged,
}

impl WarningKind {
    /// What it is about, in two or three words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::CostNearLimit => "cost near its limit",
            Self::TokensNearLimit => "tokens near their limit",
            Self::OtherDirectory => "other directory",
            Self::UnreadableLines => "unreadable output",
            Self::LogTruncated => "truncated log",
            Self::Storage => "file not written",
            Self::Unanswered => "unanswered request",
            Self::Degraded => "something was not available",
            Self::IterationsNearLimit => "iterations near their limit",
            Self::RuntimeNearLimit => "time near its limit",
            Self::Silence => "silence",
            Self::RepeatedCall => "repeated tool call",
            Self::RepeatedFailure => "repeated failure",
            Self::RepeatedAnswer => "repeated answer",
            Self::FlippedFile => "file changed back and forth",
            Self::BurnRate => "high cost per minute",
            Self::OutOfScope => "change out of scope",
            Self::ContextNearlyFull => "context nearly full",
            Self::UnknownEvents => "unknown events",
            Self::NotificationFailed => "failed notification",
            Self::PromptChanged => "changed prompt",
        }
    }
}
