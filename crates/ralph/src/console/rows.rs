//! Lines with a label, such as `[Tool] Read: src/main.rs`.

use agent_api::{
    Denial, ErrorInfo, PermissionRequested, Question, RateLimit, RateLimitStatus, Retry, SessionStarted,
    Task, TaskState, Usage, UsageScope,
};

use super::figures::{format_cost, format_duration, format_tokens};
use super::fold_blanks::fold_blanks;
use super::one_line::{one_line, width, wrap};
use super::options::Options;
use super::request_rows::render_detail;
use super::sanitise::sanitise;
use super::style::{Style, paint};
use super::visible::{escape_hidden, visible};

/// The width of lines without a terminal, and of results.
const MAX_COLUMNS: usize = 200;
/// How far further lines of a text are indented.
const INDENT: usize = 2;

#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) has_colours: bool,
    /// The limit of one-line texts, label included.
    pub(super) columns: usize,
    /// Whether longer texts are broken between words there.
    pub(super) wraps: bool,
}

impl Look {
    pub(super) fn new(options: &Options) -> Self {
        let columns = if options.is_terminal {
            options.width.min(MAX_COLUMNS)
        } else {
            MAX_COLUMNS
        };
        Self {
            has_colours: options.has_colours,
            columns,
            wraps: options.is_terminal,
        }
    }

    /// `[Label] text` in one line, cut.
    pub(super) fn row(&self, style: Style, label: &str, text: &str) -> String {
        let mut row = String::new();
        self.push_label(&mut row, style, label);
        let room = self.columns.saturating_sub(width(label) + 3);
        row.push_str(&one_line(text, room));
        row.push('\n');
        row
    }

    /// `[Label] text` with all its lines, further ones indented.
    pub(super) fn rows(&self, style: Style, label: &str, text: &str) -> String {
        let mut rows = String::new();
        self.push_label(&mut rows, style, label);
        let text = sanitise(text);
        for (number, line) in text.trim().lines().enumerate() {
            let indent = if number == 0 { width(label) + 3 } else { INDENT };
            if number > 0 {
                rows.push_str(&format!("\n{:INDENT$}", ""));
            }
            let is_long = indent + width(line) > self.columns;
            if self.wraps && is_long && !line.starts_with(char::is_whitespace) {
                rows.push_str(&wrap(line, indent.min(self.columns / 2), self.columns));
            } else {
                rows.push_str(line.trim_end());
            }
        }
        rows.push('\n');
        rows
    }

    fn push_label(&self, out: &mut String, style: Style, label: &str) {
        paint(out, self.has_colours, style, &format!("[{label}]"));
        out.push(' ');
    }
}

/// `529 Overloaded`.
pub(super) fn describe_error(error: &ErrorInfo) -> String {
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

pub(super) fn render_retry(look: Look, retry: &Retry) -> String {
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
    look.row(Style::Warning, "Retry", text.trim_start())
}

pub(super) fn render_session(look: Look, session: &SessionStarted) -> String {
    let parts = [session.model.as_deref(), session.session_id.as_deref()];
    let parts: Vec<&str> = parts.into_iter().flatten().collect();
    look.row(Style::Faint, "Session", &parts.join(" "))
}

/// `[Usage] in 1200 (cached 1000) out 34 $0.0096`; nothing for a single call of the model, which its turn includes.
pub(super) fn render_usage(look: Look, usage: &Usage) -> Option<String> {
    let (tokens, cost) = match usage.scope {
        UsageScope::Step => return None,
        UsageScope::Turn => (usage.tokens, usage.cost),
        UsageScope::Run | UsageScope::Session => (usage.run.tokens, usage.run.cost),
    };
    let mut text = format_tokens(&tokens);
    if let Some(cost) = cost {
        text.push(' ');
        text.push_str(&format_cost(cost.micro_usd));
    }
    Some(look.row(Style::Faint, "Usage", &text))
}

/// `Bash: cargo test`.
pub(crate) fn describe_permission(asked: &PermissionRequested) -> String {
    escape_hidden(&match &asked.subject {
        Some(subject) => format!("{}: {subject}", asked.tool),
        None => asked.tool.clone(),
    })
}

pub(super) fn render_permission(look: Look, asked: &PermissionRequested, hint: &str) -> String {
    let mut text = describe_permission(asked);
    if let Some(description) = &asked.description {
        text.push_str(if asked.subject.is_some() { " · " } else { ": " });
        text.push_str(description);
    }
    // Never cut to the width: what is approved must be seen.
    let look_as_written = Look { wraps: false, ..look };
    let mut rows = look_as_written.rows(Style::Warning, "Permission", &visible(&fold_blanks(&text)));
    rows.push_str(&render_detail(look, asked));
    push_faint(&mut rows, look, hint);
    rows
}

pub(super) fn render_question(look: Look, questions: &[Question], hint: &str) -> String {
    let mut rows = String::new();
    for question in questions {
        rows.push_str(&look.rows(Style::Warning, "Question", &question.text));
        for (number, option) in (1..).zip(&question.options) {
            let mut text = format!("{number}. {}", option.label);
            if let Some(description) = &option.description {
                text.push_str(": ");
                text.push_str(description);
            }
            rows.push_str("  ");
            rows.push_str(&one_line(&text, look.columns.saturating_sub(2)));
            rows.push('\n');
        }
    }
    push_faint(&mut rows, look, hint);
    rows
}

pub(super) fn render_plan_proposed(look: Look, plan: &str, hint: &str) -> String {
    let mut rows = look.rows(Style::Warning, "Plan", plan);
    push_faint(&mut rows, look, hint);
    rows
}

fn push_faint(rows: &mut String, look: Look, text: &str) {
    if text.is_empty() {
        return;
    }
    paint(rows, look.has_colours, Style::Faint, &format!("  {text}"));
    rows.push('\n');
}

pub(super) fn render_denial(look: Look, denial: &Denial) -> String {
    match &denial.reason {
        Some(reason) => look.row(Style::Error, "Denied", &format!("{}: {reason}", denial.tool)),
        None => look.row(Style::Error, "Denied", &denial.tool),
    }
}

pub(super) fn render_rate_limit(look: Look, limit: &RateLimit) -> Option<String> {
    let what = match limit.status {
        RateLimitStatus::Allowed | RateLimitStatus::Unknown => return None,
        RateLimitStatus::Warning => "nearly reached",
        RateLimitStatus::Rejected => "reached",
    };
    let window = limit
        .window
        .as_deref()
        .map(|window| format!("{} ", describe_window(window)))
        .unwrap_or_default();
    let used = limit
        .used_percent
        .map(|used| format!(" ({used:.0}% used)"))
        .unwrap_or_default();
    Some(look.row(
        Style::Warning,
        "Warning",
        &format!("{window}usage limit {what}{used}"),
    ))
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

pub(super) fn render_task(look: Look, task: &Task) -> Option<String> {
    let state = match task.state {
        TaskState::Running => return None,
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Stopped => "stopped",
    };
    let title = task
        .title
        .as_deref()
        .or(task.summary.as_deref())
        .unwrap_or(&task.task_id);
    Some(look.row(Style::Faint, "Task", &format!("{state}: {title}")))
}
