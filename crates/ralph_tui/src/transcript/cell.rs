//! `Cell`: one thing that a run said or did, as it is shown in the transcript.

use agent_api::{
    Json, PermissionRequested, PlanUpdated, Question, RawRef, ToolFinished, ToolKind, ToolStarted,
};
use jiff::Timestamp;
use ralph_run::model::MessageState;
use ralph_run::{BudgetAwaited, CooldownStarted, IterationEnded, RunEnded, VerifyFinished, Warned};
use run_view::{Answer, CallEnd};

use super::text_body::TextBody;
use crate::theme::Role;

/// One thing that a run said or did.
#[derive(Debug)]
pub(crate) struct Cell {
    /// The record that started it. A text that is only known live has the number of the record before.
    pub(crate) seq: u64,
    pub(crate) iteration: u32,
    /// The number of the raw log, which counts over the whole run.
    pub(crate) raw_log: u32,
    /// 0 for the main conversation, 1 for its subagents, and so on.
    pub(crate) depth: u8,
    pub(crate) raw: Option<RawRef>,
    pub(crate) kind: CellKind,
    /// Counts the changes of the cell.
    pub(super) version: u32,
}

#[derive(Debug)]
pub(crate) enum CellKind {
    Text(TextCell),
    Thinking(TextCell),
    Tool(Box<ToolCell>),
    Todo(TodoCell),
    Request(Box<RequestCell>),
    Message(MessageCell),
    Iteration(Box<IterationCell>),
    Verify(VerifyCell),
    Warning(Warned),
    Wait(Box<WaitCell>),
    Notice(NoticeCell),
    End(Box<EndCell>),
    /// It was taken back and leaves no trace.
    Gone,
}

#[derive(Debug, Default)]
pub(crate) struct TextCell {
    pub(crate) body: TextBody,
    pub(crate) is_aborted: bool,
    /// The vendor does not show it.
    pub(crate) is_withheld: bool,
}

#[derive(Debug)]
pub(crate) struct ToolCell {
    pub(crate) kind: ToolKind,
    /// `Bash: cargo test`, with nothing hidden.
    pub(crate) label: String,
    pub(crate) name: String,
    pub(crate) input: Option<Json>,
    pub(crate) started_at: Timestamp,
    /// What it has written so far, while it runs.
    pub(crate) live_output: TextBody,
    pub(crate) end: Option<ToolEnd>,
}

impl ToolCell {
    pub(crate) fn new(started: &ToolStarted, label: String, at: Timestamp) -> Self {
        Self {
            kind: started.kind,
            label,
            name: started.name.clone(),
            input: started.input.clone(),
            started_at: at,
            live_output: TextBody::default(),
            end: None,
        }
    }

    /// The arguments, typed.
    pub(crate) fn typed_input(&self) -> agent_api::ToolInput {
        let mut call = ToolStarted::new(agent_api::ItemId::new(""), self.name.as_str(), self.kind);
        call.input.clone_from(&self.input);
        call.typed_input()
    }
}

#[derive(Debug)]
pub(crate) struct ToolEnd {
    pub(crate) call: CallEnd,
    /// `None` if its process ended before it did.
    pub(crate) finished: Option<Box<ToolFinished>>,
}

#[derive(Debug)]
pub(crate) struct TodoCell {
    pub(crate) plan: PlanUpdated,
    /// Only the newest list is shown in full.
    pub(crate) is_newest: bool,
}

#[derive(Debug)]
pub(crate) struct RequestCell {
    pub(crate) ask: Ask,
    pub(crate) answer: Answer,
    pub(crate) state: RequestState,
}

#[derive(Debug)]
pub(crate) enum Ask {
    Permission(Box<PermissionRequested>),
    Question(Vec<Question>),
    Plan(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RequestState {
    Open,
    /// How, in words, and whether it was granted.
    Closed {
        text: String,
        is_granted: bool,
    },
    /// Its process ended first.
    Ended,
}

#[derive(Debug)]
pub(crate) struct MessageCell {
    pub(crate) text: String,
    pub(crate) state: MessageState,
    pub(crate) by: Option<String>,
}

#[derive(Debug)]
pub(crate) struct IterationCell {
    pub(crate) number: u32,
    pub(crate) most: u32,
    pub(crate) role: Option<String>,
    pub(crate) prompt: String,
    pub(crate) end: Option<IterationEnded>,
}

#[derive(Debug)]
pub(crate) struct VerifyCell {
    pub(crate) command: String,
    pub(crate) started_at: Timestamp,
    pub(crate) end: Option<Box<VerifyFinished>>,
    /// The run ended before the command did.
    pub(crate) is_over: bool,
}

/// Something that the run waits for, with a countdown.
#[derive(Debug)]
pub(crate) struct WaitCell {
    pub(crate) what: Wait,
    pub(crate) is_over: bool,
}

#[derive(Debug)]
pub(crate) enum Wait {
    Cooldown(CooldownStarted),
    Budget(BudgetAwaited),
    /// A retry of the agent: what is known about it, and when it happens.
    Retry {
        text: String,
        until: Option<Timestamp>,
    },
}

impl Wait {
    pub(crate) fn until(&self) -> Option<Timestamp> {
        match self {
            Self::Cooldown(cooldown) => Some(cooldown.until),
            Self::Budget(awaited) => awaited.until,
            Self::Retry { until, .. } => *until,
        }
    }
}

/// A line with a label: notices, errors, commands, sessions, attempts, unknown records, damage.
#[derive(Debug)]
pub(crate) struct NoticeCell {
    pub(crate) role: Role,
    pub(crate) label: &'static str,
    pub(crate) text: String,
}

#[derive(Debug)]
pub(crate) struct EndCell {
    pub(crate) ended: RunEnded,
    pub(crate) heading: String,
}

impl Cell {
    /// Whether it shows a clock.
    pub(crate) fn is_ticking(&self) -> bool {
        match &self.kind {
            CellKind::Tool(tool) => tool.end.is_none(),
            CellKind::Verify(verify) => verify.end.is_none() && !verify.is_over,
            CellKind::Wait(wait) => !wait.is_over && wait.what.until().is_some(),
            CellKind::Text(_)
            | CellKind::Thinking(_)
            | CellKind::Todo(_)
            | CellKind::Request(_)
            | CellKind::Message(_)
            | CellKind::Iteration(_)
            | CellKind::Warning(_)
            | CellKind::Notice(_)
            | CellKind::End(_)
            | CellKind::Gone => false,
        }
    }

    /// The color of the mark in the margin that tells it from what the agent wrote. Text of the agent has none.
    pub(super) fn mark_role(&self) -> Option<Role> {
        match &self.kind {
            CellKind::Text(_) | CellKind::Gone => None,
            CellKind::Request(request) if request.state == RequestState::Open => Some(Role::NeedsPerson),
            CellKind::Message(_) => Some(Role::Message),
            _ if self.is_error() => Some(Role::Bad),
            CellKind::Thinking(_)
            | CellKind::Tool(_)
            | CellKind::Todo(_)
            | CellKind::Request(_)
            | CellKind::Iteration(_)
            | CellKind::Verify(_)
            | CellKind::Warning(_)
            | CellKind::Wait(_)
            | CellKind::Notice(_)
            | CellKind::End(_) => Some(Role::Faint),
        }
    }

    pub(crate) fn is_error(&self) -> bool {
        match &self.kind {
            CellKind::Tool(tool) => tool.end.as_ref().is_some_and(|end| !end.call.is_good),
            CellKind::Verify(verify) => verify
                .end
                .as_ref()
                .is_some_and(|end| !end.is_ok && !end.exit.was_stopped),
            CellKind::Notice(notice) => notice.role == Role::Bad,
            CellKind::End(end) => end.ended.reason.is_failure(end.ended.exit_code),
            CellKind::Warning(_) => true,
            CellKind::Text(_)
            | CellKind::Thinking(_)
            | CellKind::Todo(_)
            | CellKind::Request(_)
            | CellKind::Message(_)
            | CellKind::Iteration(_)
            | CellKind::Wait(_)
            | CellKind::Gone => false,
        }
    }

    pub(crate) fn is_edit(&self) -> bool {
        match &self.kind {
            CellKind::Tool(tool) => {
                matches!(tool.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
                    || tool
                        .end
                        .as_ref()
                        .and_then(|end| end.finished.as_ref())
                        .is_some_and(|finished| !finished.changes.is_empty())
            }
            _ => false,
        }
    }

    /// Whether cells like it stand close together, without a blank row between them.
    pub(super) fn is_compact(&self) -> bool {
        match &self.kind {
            CellKind::Tool(_)
            | CellKind::Notice(_)
            | CellKind::Wait(_)
            | CellKind::Warning(_)
            | CellKind::Verify(_)
            | CellKind::Gone => true,
            CellKind::Text(_)
            | CellKind::Thinking(_)
            | CellKind::Todo(_)
            | CellKind::Request(_)
            | CellKind::Message(_)
            | CellKind::Iteration(_)
            | CellKind::End(_) => false,
        }
    }

    /// Whether it is folded unless the reader says otherwise.
    pub(super) fn is_folded_by_default(&self) -> bool {
        match &self.kind {
            CellKind::Thinking(_)
            | CellKind::Tool(_)
            | CellKind::Verify(_)
            | CellKind::Iteration(_)
            | CellKind::Warning(_) => true,
            CellKind::Text(_)
            | CellKind::Todo(_)
            | CellKind::Request(_)
            | CellKind::Message(_)
            | CellKind::Wait(_)
            | CellKind::Notice(_)
            | CellKind::End(_)
            | CellKind::Gone => false,
        }
    }
}
