//! `Finding`: something that a rule of the watchdog found. The machine records it and takes its action.

use super::rules::WatchAction;
use crate::record::{Evidence, Warned, WarningKind};

/// How much of a command, a path or an answer is quoted.
const MAX_QUOTED_CHARS: usize = 120;

/// What a rule found, with the records that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub kind: WarningKind,
    /// For people, in one sentence without a period.
    pub message: String,
    /// Oldest first.
    pub evidence: Vec<Evidence>,
    pub action: WatchAction,
}

impl Finding {
    pub(super) fn new(kind: WarningKind, action: WatchAction, message: String) -> Self {
        Self {
            kind,
            message,
            evidence: Vec::new(),
            action,
        }
    }

    pub(super) fn with(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// The record of it.
    pub fn warned(&self) -> Warned {
        Warned {
            kind: self.kind.into(),
            message: self.message.clone(),
            evidence: self.evidence.clone(),
        }
    }

    /// Whether it is about the turn that is open, so that an interrupt makes sense. An answer is found to be repeated
    /// when its turn is over.
    pub(crate) fn is_about_open_turn(&self) -> bool {
        self.kind != WarningKind::RepeatedAnswer
    }

    /// What the agent is told if the action is `interrupt`.
    pub(crate) fn message_to_agent(&self) -> String {
        let advice = match self.kind {
            WarningKind::RepeatedCall | WarningKind::RepeatedFailure => {
                "Do not repeat it. Find out why it does not help, and try something else."
            }
            WarningKind::RepeatedAnswer => "Check what is still missing, and do it.",
            WarningKind::FlippedFile => "Decide which version is right before you change the file again.",
            WarningKind::OutOfScope => "Undo this change, and stay within your task.",
            WarningKind::ContextNearlyFull => "Write down what matters for the rest of the work.",
            WarningKind::Silence => "Continue with your task. Run long commands in the background.",
            _ => "Check whether you are still on the right way.",
        };
        format!(
            "ralph, the program that supervises you, noticed: {}. {advice}",
            self.message
        )
    }
}

/// The beginning of a text, on one line.
pub(super) fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
