//! `RepeatedAnswers`: iterations that end with the same answer and change nothing. A part of `Watchdog`.

use agent_api::{Body, Event, ToolKind, ToolStatus};

use super::calls::EndedCall;
use super::finding::{Finding, quoted};
use super::rules::{RepeatRule, WatchAction};
use super::workspace::Workspace;
use crate::record::{Evidence, IterationEnded, IterationOutcome, WarningKind};

const MAX_EVIDENCE: usize = 10;

#[derive(Debug, Default)]
pub(super) struct RepeatedAnswers {
    /// The answer of the open iteration and its record.
    answer: Option<(String, u64)>,
    /// A tool call of the open iteration changed a file.
    has_change: bool,
    /// A command succeeded: it may have changed something that no event shows.
    has_command: bool,
    /// The answer of the iterations before, in a row.
    last: Option<String>,
    evidence: Vec<Evidence>,
    count: u32,
}

impl RepeatedAnswers {
    pub(super) fn on_iteration_started(&mut self) {
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
        let Some((answer, seq)) = self.answer.take().filter(|_| is_unfinished) else {
            self.forget();
            return None;
        };
        let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_same = !self.has_change && self.last.as_deref() == Some(answer.as_str());
        if !is_same {
            self.forget();
        }
        self.count += 1;
        if self.evidence.len() < MAX_EVIDENCE {
            self.evidence.push(Evidence {
                seq,
                text: format!("iteration {}: {}", ended.number, quoted(&answer)),
            });
        }
        self.last = Some(answer);
        // Commands may have changed something: only one more equal answer shows that they did not.
        let needed = rule.times + u32::from(self.has_command);
        if rule.action == WatchAction::Off || self.count != needed {
            return None;
        }
        let message = format!(
            "{} iterations in a row ended with the same answer and changed no file",
            self.count
        );
        let finding = Finding::new(WarningKind::RepeatedAnswer, rule.action, message);
        Some(finding.with(self.evidence.clone()))
    }

    fn forget(&mut self) {
        self.last = None;
        self.evidence.clear();
        self.count = 0;
    }
}
