//! `RepeatedAnswers`: iterations that end with the same answer and change nothing. A part of `Watchdog`.

use std::collections::HashMap;

use agent_api::{Body, Event, ToolKind, ToolStatus};

use super::calls::EndedCall;
use super::finding::{Finding, quoted};
use super::rules::{RepeatRule, WatchAction};
use super::workspace::Workspace;
use crate::record::{Evidence, IterationEnded, IterationOutcome, IterationStarted, WarningKind};

const MAX_EVIDENCE: usize = 10;

/// Runs have a few roles.
const MAX_ROLES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct RepeatedAnswers {
    /// The role of the open iteration.
    role: Option<String>,
    /// The answer of the open iteration and its record.
    answer: Option<(String, u64)>,
    /// A tool call of the open iteration changed a file.
    has_change: bool,
    /// A command succeeded: it may have changed something that no event shows.
    has_command: bool,
    /// By role: each has its own task and its own answer.
    streaks: HashMap<Option<String>, Streak>,
}

/// Iterations of a role, in a row, with the same answer and without a change.
#[derive(Debug, Default)]
struct Streak {
    answer: String,
    evidence: Vec<Evidence>,
    count: u32,
    /// In an iteration of any role since the first of them.
    has_command: bool,
    is_reported: bool,
}

impl RepeatedAnswers {
    pub(super) fn on_iteration_started(&mut self, started: &IterationStarted) {
        self.role.clone_from(&started.role);
        self.answer = None;
        self.has_change = false;
        self.has_command = false;
    }

    /// Follows the main conversation.
    pub(super) fn on_event(&mut self, seq: u64, event: &Event) {
        if event.parent.is_some() {
            return;
        }
        match &event.body {
            Body::TextBlock(block) => match &mut self.answer {
                Some((text, _)) if block.piece.index > 0 => text.push_str(&block.text),
                _ => self.answer = Some((block.text.clone(), seq)),
            },
            Body::TurnFinished(turn) => {
                if let Some(text) = turn.text.as_ref().filter(|text| !text.trim().is_empty()) {
                    self.answer = Some((text.clone(), seq));
                }
            }
            _ => {}
        }
    }

    /// Notes in our own folder are not a change: every iteration may write some.
    pub(super) fn on_call(&mut self, call: EndedCall<'_>, workspace: &Workspace) {
        if !matches!(
            call.finished.status,
            ToolStatus::Completed | ToolStatus::Background
        ) {
            return;
        }
        let paths = call.changed_paths();
        self.has_change |= paths.iter().any(|path| !workspace.is_own(path));
        match call.started.kind {
            // Some agents do not say which file it was.
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => self.has_change |= paths.is_empty(),
            ToolKind::Execute | ToolKind::Mcp | ToolKind::Agent | ToolKind::Other => self.has_command = true,
            _ => {}
        }
    }

    pub(super) fn on_iteration_ended(
        &mut self,
        ended: &IterationEnded,
        rule: RepeatRule<2>,
    ) -> Option<Finding> {
        let is_unfinished = matches!(
            ended.outcome.known(),
            Some(IterationOutcome::Continues | IterationOutcome::VerifyFailed)
        );
        if self.has_change {
            self.streaks.clear();
            return None;
        }
        for streak in self.streaks.values_mut() {
            streak.has_command |= self.has_command;
        }
        let Some((answer, seq)) = self.answer.take().filter(|_| is_unfinished) else {
            self.streaks.remove(&self.role);
            return None;
        };
        let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.streaks.len() >= MAX_ROLES {
            self.streaks.clear();
        }
        let streak = self.streaks.entry(self.role.clone()).or_default();
        if streak.answer != answer {
            *streak = Streak::default();
        }
        streak.has_command |= self.has_command;
        streak.count = streak.count.saturating_add(1);
        if streak.evidence.len() < MAX_EVIDENCE {
            streak.evidence.push(Evidence {
                seq,
                text: format!("iteration {}: {}", ended.number, quoted(&answer)),
            });
        }
        streak.answer = answer;
        // Commands may have changed something: only one more equal answer shows that they did not.
        let needed = rule.times + u32::from(streak.has_command);
        if rule.action == WatchAction::Off || streak.count < needed {
            return None;
        }
        if std::mem::replace(&mut streak.is_reported, true) {
            return None;
        }
        let of_role = self
            .role
            .as_deref()
            .map_or_else(String::new, |role| format!(" of `{}`", quoted(role)));
        let message = format!(
            "{} iterations{of_role} in a row ended with the same answer and changed no file",
            streak.count
        );
        let finding = Finding::new(WarningKind::RepeatedAnswer, rule.action, message);
        Some(finding.with(streak.evidence.clone()))
    }
}
