//! Events of the agent in one line each: errors, retries, limits, tasks, and how requests were answered. Not sanitised.

use agent_api::{
    CloseReason, Denial, DiscardReason, ErrorInfo, Notice, PermissionRequested, RateLimit, RateLimitStatus,
    Retry, SessionStarted, Severity, Task, TaskState,
};
use ralph_run::CommandReceived;

use crate::figures::format_duration;
use crate::request_detail::describe_permission;
use crate::visible::visible;

/// `529 Overloaded`.
#[must_use]
pub fn describe_error(error: &ErrorInfo) -> String {
    let message = if error.message.trim().is_empty() {
        &error.code
    } else {
        &error.message
    };
    match error.http_status {
        Some(status) if !message.contains(&status.to_string()) => format!("{status} {message}"),
        _ => message.clone(),
    }
}

/// `1 of 10 in 4.0s: 529 Overloaded`.
#[must_use]
pub fn describe_retry(retry: &Retry) -> String {
    let mut text = String::new();
    match (retry.attempt, retry.max_attempts) {
        (Some(attempt), Some(most)) => text.push_str(&format!("{attempt} of {most}")),
        (Some(attempt), None) => text.push_str(&format!("{attempt}")),
        _ => {}
    }
    if let Some(delay) = retry.delay_ms {
        text.push_str(&format!(" in {}", format_duration(delay)));
    }
    if !text.is_empty() {
        text.push_str(": ");
    }
    text.push_str(&describe_error(&retry.error));
    text.trim_start().to_owned()
}

/// `usage limit five_hour nearly reached (92% used)`; `None` if requests pass.
#[must_use]
pub fn describe_rate_limit(limit: &RateLimit) -> Option<String> {
    let what = match limit.status {
        RateLimitStatus::Allowed | RateLimitStatus::Unknown => return None,
        RateLimitStatus::Warning => "nearly reached",
        RateLimitStatus::Rejected => "reached",
    };
    let window = limit.window.as_deref().map(describe_window);
    let window = window.map(|window| format!("{window} ")).unwrap_or_default();
    let used = limit.used_percent;
    let used = used.map(|used| format!(" ({used:.0}% used)")).unwrap_or_default();
    Some(format!("{window}usage limit {what}{used}"))
}

/// `5-hour` for the vendor's `five_hour`.
fn describe_window(window: &str) -> &str {
    match window {
        "five_hour" => "5-hour",
        "seven_day" => "weekly",
        "seven_day_opus" => "weekly Opus",
        "seven_day_sonnet" => "weekly Sonnet",
        other => other,
    }
}

/// `completed: Review the parser`; `None` while it is running.
#[must_use]
pub fn describe_task(task: &Task) -> Option<String> {
    let state = match task.state {
        TaskState::Running => return None,
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Stopped => "stopped",
    };
    let title = task.title.as_deref().or(task.summary.as_deref());
    Some(format!("{state}: {}", title.unwrap_or(&task.task_id)))
}

/// `Bash: not allowed in plan mode`.
#[must_use]
pub fn describe_denial(denial: &Denial) -> String {
    match &denial.reason {
        Some(reason) => format!("{}: {reason}", denial.tool),
        None => denial.tool.clone(),
    }
}

/// The model and the session's id, as far as they are known.
#[must_use]
pub fn describe_session(session: &SessionStarted) -> String {
    let parts = [session.model.as_deref(), session.session_id.as_deref()];
    parts.into_iter().flatten().collect::<Vec<&str>>().join(" ")
}

/// Below a text that its agent did not finish.
pub const INTERRUPTED: &str = "(interrupted)";

/// The name of a call that began before the records that are shown.
pub const EARLIER_CALL: &str = "an earlier call";

/// In place of a text that the agent took back.
#[must_use]
pub fn describe_discard(reason: DiscardReason) -> &'static str {
    match reason {
        DiscardReason::Retry => "(answer discarded, retrying)",
        DiscardReason::Superseded => "(answer replaced)",
    }
}

/// The label of lines that the agent writes to its error output.
pub const STDERR_LABEL: &str = "Stderr";

/// Label and text of what the agent says beside its work; `None` for what only developers need.
#[must_use]
pub fn describe_notice(notice: &Notice) -> Option<(&'static str, &str)> {
    let label = match notice.severity {
        Severity::Debug => return None,
        _ if notice.code == "stderr" => STDERR_LABEL,
        Severity::Info => "Notice",
        Severity::Warning | Severity::Error => "Warning",
    };
    let text = match notice.message.trim().is_empty() {
        true => &notice.code,
        false => &notice.message,
    };
    Some((label, text))
}

/// `Bash: rm -rf build · Remove the build`.
#[must_use]
pub fn describe_permission_request(asked: &PermissionRequested) -> String {
    let mut text = describe_permission(asked);
    if let Some(description) = &asked.description {
        text.push_str(if asked.subject.is_some() { " · " } else { ": " });
        text.push_str(description);
    }
    text
}

/// What an agent asks a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    Permission,
    Question,
    Plan,
}

impl RequestKind {
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Permission => "Permission",
            Self::Question => "Question",
            Self::Plan => "Plan",
        }
    }
}

/// Who gives commands, in the journal: the keyboard of the console, and the terminal UI.
pub const TERMINAL_ACTOR: &str = "terminal";
pub const TUI_ACTOR: &str = "tui";

/// Where a message comes from: `the terminal`, `web`.
#[must_use]
pub fn actor_name(by: &str) -> &str {
    match by {
        TERMINAL_ACTOR | TUI_ACTOR => "the terminal",
        by => by,
    }
}

/// Who answered a request: `in the terminal`, `by web`.
#[must_use]
pub fn describe_actor(by: &str) -> String {
    match by {
        TERMINAL_ACTOR | TUI_ACTOR => "in the terminal".to_owned(),
        by => format!("by {by}"),
    }
}

/// Who answered a request and what, as far as the records say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    pub is_answered: bool,
    pub by: Option<String>,
    /// The reason of a denial, or the answers to questions.
    pub text: Option<String>,
    /// The arguments that replaced those the agent asked for.
    pub changed_input: Option<String>,
}

impl From<&CommandReceived> for Answer {
    fn from(command: &CommandReceived) -> Self {
        Self {
            is_answered: true,
            by: command.by.clone(),
            text: command.text.clone(),
            changed_input: command.changed_input.clone(),
        }
    }
}

/// `allowed by web`, `denied (no answer)`, `answered in the terminal: Hello`,
/// `allowed with changes in the terminal: {"command":"ls"}`. `None` for a request that ended with its process.
#[must_use]
pub fn describe_answer(kind: RequestKind, reason: CloseReason, answer: &Answer) -> Option<String> {
    let mut text = match (reason, kind) {
        (CloseReason::Answered, RequestKind::Question) => "answered",
        (CloseReason::Answered, RequestKind::Plan) => "approved",
        (CloseReason::Answered, RequestKind::Permission) if answer.changed_input.is_some() => {
            "allowed with changes"
        }
        (CloseReason::Answered, RequestKind::Permission) => "allowed",
        (CloseReason::Denied, RequestKind::Plan) => "rejected",
        (CloseReason::Denied, _) => "denied",
        (CloseReason::Withdrawn, _) => "withdrawn by the agent",
        // Also reasons of newer versions.
        _ => return None,
    }
    .to_owned();
    if let Some(by) = &answer.by {
        text.push(' ');
        text.push_str(&describe_actor(by));
    } else if !answer.is_answered && reason == CloseReason::Denied {
        text.push_str(" (no answer)");
    }
    let detail = match reason {
        CloseReason::Answered | CloseReason::Denied => answer.changed_input.as_ref().or(answer.text.as_ref()),
        _ => None,
    };
    if let Some(detail) = detail {
        text.push_str(": ");
        text.push_str(&visible(&detail.replace('\n', ", ")));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{Answer, RequestKind, describe_answer};
    use agent_api::CloseReason;
    use ralph_run::CommandReceived;

    fn in_terminal(command: CommandReceived) -> Answer {
        let command = CommandReceived {
            by: Some("tui".to_owned()),
            ..command
        };
        (&command).into()
    }

    #[test]
    fn an_answer_says_what_was_answered() {
        let text = |text: &str| {
            in_terminal(CommandReceived {
                text: Some(text.to_owned()),
                ..CommandReceived::default()
            })
        };
        let described = describe_answer(RequestKind::Question, CloseReason::Answered, &text("Hello\nRed"));
        assert_eq!(described.as_deref(), Some("answered in the terminal: Hello, Red"));
        let described = describe_answer(RequestKind::Plan, CloseReason::Denied, &text("too many steps"));
        assert_eq!(
            described.as_deref(),
            Some("rejected in the terminal: too many steps")
        );
    }

    #[test]
    fn changed_arguments_are_not_described_as_what_was_asked_for() {
        let answer = in_terminal(CommandReceived {
            changed_input: Some(r#"{"command":"echo safe"}"#.to_owned()),
            ..CommandReceived::default()
        });
        let described = describe_answer(RequestKind::Permission, CloseReason::Answered, &answer);
        let expected = r#"allowed with changes in the terminal: {"command":"echo safe"}"#;
        assert_eq!(described.as_deref(), Some(expected));
    }
}
