//! `Notification`: what a channel sends, made from a record. Its JSON is described in `docs/notifications.md`.

use agent_api::Body;
use jiff::Timestamp;
use ralph_run::{
    CooldownCause, EndReason, Evidence, LimitKind, Open, Record, RunBody, RunEnded, RunEvent, RunStarted,
    Warned, WarningKind,
};
use serde::Serialize;

use crate::settings::NotifyOn;
use run_view::{format_cost, format_duration};

/// The version of the JSON. It changes if a field is removed or means something else.
const VERSION: u32 = 1;
const MAX_MESSAGE_CHARS: usize = 500;

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationEvent {
    Waiting,
    Warning,
    Ended,
    /// `ralph notify test`.
    Test,
}

impl NotificationEvent {
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Warning => "warning",
            Self::Ended => "ended",
            Self::Test => "test",
        }
    }

    fn is_wanted(self, on: &[NotifyOn]) -> bool {
        match self {
            Self::Waiting => on.contains(&NotifyOn::Waiting),
            Self::Warning => on.contains(&NotifyOn::Warning),
            Self::Ended => on.contains(&NotifyOn::Ended),
            Self::Test => true,
        }
    }
}

/// The run that a notification is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RunContext {
    pub run_id: String,
    pub workspace: String,
    /// The agent's name for people.
    pub agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
}

impl From<&RunStarted> for RunContext {
    fn from(started: &RunStarted) -> Self {
        Self {
            run_id: started.run_id.clone(),
            workspace: started.workspace.clone(),
            agent: started.display_name.clone(),
            task: started.task.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Notification {
    pub version: u32,
    pub event: NotificationEvent,
    /// What the run waits for, the kind of the warning, or why the run ended.
    pub kind: String,
    #[serde(flatten)]
    pub run: RunContext,
    /// One line.
    pub title: String,
    pub message: String,
    pub at: Timestamp,
    /// The record in the journal.
    pub seq: u64,
    /// How many notifications this one stands for.
    pub count: u32,
    /// When the wait ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    #[serde(flatten)]
    pub end: Option<EndFigures>,
}

/// The figures of a run that has ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EndFigures {
    pub exit_code: u8,
    pub iterations: u32,
    pub duration_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Notification {
    /// The notification for a record, if it is worth one and wanted.
    pub fn of(record: &Record, run: &RunContext, on: &[NotifyOn]) -> Option<Self> {
        let draft = match &record.event {
            RunEvent::Agent(event) => of_event(&event.body),
            RunEvent::Run(body) => of_body(body),
            RunEvent::Unknown(_) => None,
        };
        let draft = draft.filter(|draft| draft.event.is_wanted(on))?;
        Some(Self {
            version: VERSION,
            event: draft.event,
            kind: draft.kind,
            run: run.clone(),
            title: draft.title,
            message: cut(&draft.message),
            at: record.at,
            seq: record.seq,
            count: 1,
            until: draft.until,
            evidence: draft.evidence,
            end: draft.end,
        })
    }

    pub fn test(workspace: String, at: Timestamp) -> Self {
        let draft = Draft::new(
            NotificationEvent::Test,
            "test",
            "ralph: test",
            "This is a test notification.",
        );
        Self {
            version: VERSION,
            event: draft.event,
            kind: draft.kind,
            run: RunContext {
                run_id: "test".to_owned(),
                workspace,
                agent: "ralph".to_owned(),
                task: None,
            },
            title: draft.title,
            message: draft.message,
            at,
            seq: 0,
            count: 1,
            until: None,
            evidence: Vec::new(),
            end: None,
        }
    }

    /// The text of a channel that has no fields.
    pub fn text(&self) -> String {
        let shown = u32::try_from(self.message.lines().count()).unwrap_or(u32::MAX);
        let more = match self.count.saturating_sub(shown.max(1)) {
            0 => String::new(),
            count => format!(" (and {count} more)"),
        };
        format!("{}{more}", self.message)
    }

    /// One for both: this one, which is newer, with the messages of both.
    #[must_use]
    pub fn after(mut self, earlier: &Self) -> Self {
        self.count = self.count.saturating_add(earlier.count);
        if !earlier.message.lines().any(|line| line == self.message) {
            self.message = cut(&format!("{}\n{}", earlier.message, self.message));
        } else {
            self.message.clone_from(&earlier.message);
        }
        self
    }
}

struct Draft {
    event: NotificationEvent,
    kind: String,
    title: String,
    message: String,
    until: Option<Timestamp>,
    evidence: Vec<Evidence>,
    end: Option<EndFigures>,
}

impl Draft {
    fn new(event: NotificationEvent, kind: &str, title: &str, message: impl Into<String>) -> Self {
        Self {
            event,
            kind: kind.to_owned(),
            title: title.to_owned(),
            message: message.into(),
            until: None,
            evidence: Vec::new(),
            end: None,
        }
    }

    fn waiting(kind: &str, what: &str, message: impl Into<String>) -> Self {
        let title = format!("ralph: waiting for {what}");
        Self::new(NotificationEvent::Waiting, kind, &title, message)
    }
}

fn of_event(body: &Body) -> Option<Draft> {
    match body {
        Body::PermissionRequested(asked) => {
            let subject = asked.subject.as_ref().map(|subject| format!(": {subject}"));
            let message = format!("{}{}", asked.tool, subject.unwrap_or_default());
            Some(Draft::waiting("permission", "permission", message))
        }
        Body::QuestionAsked(asked) => {
            let first = asked.questions.first().map(|question| question.text.clone());
            Some(Draft::waiting("question", "an answer", first.unwrap_or_default()))
        }
        Body::PlanProposed(proposed) => Some(Draft::waiting("plan", "plan approval", proposed.plan.clone())),
        _ => None,
    }
}

fn of_body(body: &RunBody) -> Option<Draft> {
    match body {
        RunBody::BudgetAwaited(awaited) => {
            let mut draft = Draft::waiting("budget", "a higher limit", awaited.message.clone());
            draft.until = awaited.until;
            Some(draft)
        }
        RunBody::CooldownStarted(cooldown) if cooldown.cause == CooldownCause::UsageLimit => {
            let (what, message) = match cooldown.is_retry {
                true => (
                    "the agent's service",
                    format!(
                        "The service is overloaded or limits its use. The run tries again at {}.",
                        cooldown.until
                    ),
                ),
                false => (
                    "the usage limit",
                    format!("The usage limit resets at {}.", cooldown.until),
                ),
            };
            let mut draft = Draft::waiting("limit", what, message);
            draft.until = Some(cooldown.until);
            Some(draft)
        }
        RunBody::Warned(warned) => of_warning(warned),
        RunBody::RunEnded(ended) => Some(of_end(ended)),
        _ => None,
    }
}

fn of_warning(warned: &Warned) -> Option<Draft> {
    match warned.kind.known() {
        // About settings and output, and shown where the run is. A notification that failed would fail again.
        Some(
            WarningKind::Degraded
            | WarningKind::OtherDirectory
            | WarningKind::UnreadableLines
            | WarningKind::NotificationFailed
            | WarningKind::PromptChanged,
        ) => None,
        Some(
            WarningKind::CostNearLimit
            | WarningKind::TokensNearLimit
            | WarningKind::IterationsNearLimit
            | WarningKind::RuntimeNearLimit
            | WarningKind::LogTruncated
            | WarningKind::Storage
            | WarningKind::Unanswered
            | WarningKind::Silence
            | WarningKind::RepeatedCall
            | WarningKind::RepeatedFailure
            | WarningKind::RepeatedAnswer
            | WarningKind::FlippedFile
            | WarningKind::BurnRate
            | WarningKind::OutOfScope
            | WarningKind::ContextNearlyFull
            | WarningKind::UnknownEvents,
        )
        | None => {
            let kind = word(&warned.kind);
            let mut draft = Draft::new(
                NotificationEvent::Warning,
                &kind,
                "ralph: warning",
                warned.message.clone(),
            );
            draft.evidence.clone_from(&warned.evidence);
            Some(draft)
        }
    }
}

fn of_end(ended: &RunEnded) -> Draft {
    let kind = match &ended.reason {
        Open::Known(EndReason::Limit(limit)) => format!("limit_{}", word::<LimitKind>(limit)),
        reason => word(reason),
    };
    let totals = &ended.totals;
    let reason = ended.reason.describe();
    let mut message = ended
        .message
        .as_deref()
        .and_then(|message| message.lines().find(|line| !line.trim().is_empty()))
        .map_or_else(String::new, |line| format!("{line}. ").replace(".. ", ". "));
    let iterations = match ended.iterations {
        1 => "1 iteration".to_owned(),
        count => format!("{count} iterations"),
    };
    message.push_str(&iterations);
    message.push_str(&format!(", {}", format_duration(totals.duration_ms)));
    if let Some(cost) = totals.cost {
        message.push_str(&format!(", {}", format_cost(cost)));
    }
    let title = format!("ralph: {reason}");
    let mut draft = Draft::new(NotificationEvent::Ended, &kind, &title, message);
    draft.end = Some(EndFigures {
        exit_code: ended.exit_code,
        iterations: ended.iterations,
        duration_ms: totals.duration_ms,
        cost_usd: totals.cost.map(|cost| cost.as_usd()),
    });
    draft
}

/// A word as the journal writes it.
fn word<T: Serialize>(value: &T) -> String {
    let value = serde_json::to_value(value).ok();
    let word = value.as_ref().and_then(|value| value.as_str());
    word.unwrap_or("other").to_owned()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
