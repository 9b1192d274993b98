//! A run at a glance, for people.

use jiff::Timestamp;
use ralph_run::IterationOutcome;

use super::execute::Shown;
use crate::commands::clean::format_bytes;
use crate::commands::runs::{seconds, state};
use crate::console::{format_clock, format_cost, format_duration, format_tokens, one_line, sanitise};

/// Where values begin.
const INDENT: usize = 12;

/// How much is shown of what the agent said last.
const LAST_LINES: usize = 20;

/// How many iterations and files are shown.
const MOST_ROWS: usize = 20;

struct Page {
    text: String,
    columns: usize,
}

impl Page {
    /// `Workspace   /home/me/project`. A value that is not there has no line.
    fn row(&mut self, label: &str, value: &str) {
        if !value.trim().is_empty() {
            let value = one_line(value, self.columns.saturating_sub(INDENT));
            self.text.push_str(&format!("{label:INDENT$}{value}\n"));
        }
    }

    /// As a row, but never cut: it is to be copied.
    fn place(&mut self, label: &str, value: &str) {
        let value = one_line(value, usize::MAX);
        self.text.push_str(&format!("{label:INDENT$}{value}\n"));
    }
}

pub(super) fn render(shown: &Shown, now: Timestamp, columns: usize) -> String {
    let mut page = Page {
        text: String::new(),
        columns,
    };
    summary(&mut page, shown, now);
    figures(&mut page, shown);
    course(&mut page, shown);
    files(&mut page, shown);
    last_text(&mut page, shown);
    page.text
}

fn summary(page: &mut Page, shown: &Shown, now: Timestamp) {
    let (run, story) = (&shown.run, &shown.story);
    page.row("Run", &run.run_id);
    let code = run.exit_code.filter(|_| run.is_ended());
    let code = code
        .map(|code| format!(" (exit code {code})"))
        .unwrap_or_default();
    page.row("State", &format!("{}{code}", state(run)));
    if run.is_ended() {
        let message = story.ended.as_ref().and_then(|ended| ended.message.as_deref());
        let reason = run.reason.map(|reason| reason.describe());
        match (reason.filter(|reason| *reason != state(run)), message) {
            (Some(reason), Some(message)) => page.row("Because", &format!("{reason}: {message}")),
            (why, message) => page.row("Because", why.or(message).unwrap_or_default()),
        }
    } else {
        page.row("Now", run.status.activity.as_deref().unwrap_or_default());
    }
    match story.open_requests {
        0 => {}
        1 => page.row(
            "Asks",
            &format!("1 request waits; `ralph answer {}` shows it", run.run_id),
        ),
        count => page.row(
            "Asks",
            &format!("{count} requests wait; `ralph answer {}` lists them", run.run_id),
        ),
    }
    let version = run
        .agent_version
        .as_deref()
        .map(|version| format!(" {version}"))
        .unwrap_or_default();
    let model = run.model.as_deref().map(|model| format!(", model {model}"));
    page.row(
        "Agent",
        &format!("{}{version}{}", run.display_name, model.unwrap_or_default()),
    );
    page.row("Permissions", run.permission_mode.as_deref().unwrap_or_default());
    page.row("Mode", run.mode.as_deref().unwrap_or_default());
    page.row("Task", run.task.as_deref().unwrap_or_default());
    page.row("Prompt", &run.prompt);
    page.place("Workspace", &run.workspace);
    if let Some(session) = run.session_ids.last() {
        page.place("Session", session);
    }
    let took = format_clock(seconds(run, now));
    let for_so_long = if run.is_ended() { "took" } else { "runs for" };
    page.row(
        "Started",
        &format!(
            "{} UTC, {for_so_long} {took}",
            run.started_at.strftime("%Y-%m-%d %H:%M:%S")
        ),
    );
}

fn figures(page: &mut Page, shown: &Shown) {
    let totals = &shown.run.status.totals;
    let about = if totals.is_estimate { "about " } else { "" };
    let cost = totals.cost.map_or_else(|| "unknown".to_owned(), format_cost);
    page.row(
        "Cost",
        &format!(
            "{about}{cost}, turns {}, tokens {}",
            totals.turns,
            format_tokens(&totals.tokens)
        ),
    );
}

fn course(page: &mut Page, shown: &Shown) {
    let story = &shown.story;
    let skipped = story.iterations.len().saturating_sub(MOST_ROWS);
    for iteration in story.iterations.iter().skip(skipped) {
        let outcome = match iteration.outcome {
            IterationOutcome::Completed => "completed",
            IterationOutcome::Continues => "goes on",
            IterationOutcome::VerifyFailed => "verification failed",
            IterationOutcome::Failed => "failed",
            IterationOutcome::Ended => "ended from outside",
        };
        let cost = iteration
            .totals
            .cost
            .map(|cost| format!(", {}", format_cost(cost)));
        let took = format_duration(iteration.totals.duration_ms);
        page.row(
            &format!("Iteration {}", iteration.number),
            &format!("{outcome}, {took}{}", cost.unwrap_or_default()),
        );
    }
    for verify in &story.verify {
        let verdict = if verify.is_ok { "ok" } else { "failed" };
        page.row("Verify", &format!("{verdict}: {}", verify.command));
    }
    for warned in &story.warnings {
        page.row("Warning", &warned.message);
    }
    for damage in &story.damage {
        page.row("Journal", damage);
    }
}

fn files(page: &mut Page, shown: &Shown) {
    page.place("Files", &shown.directory.display().to_string());
    let skipped = shown.files.len().saturating_sub(MOST_ROWS);
    for file in shown.files.iter().take(MOST_ROWS) {
        let path = file.path.strip_prefix(&shown.directory).unwrap_or(&file.path);
        page.row(
            "",
            &format!("{}, {}", path.display(), format_bytes(file.size_bytes)),
        );
    }
    if skipped > 0 {
        page.row("", &format!("and {skipped} more"));
    }
}

fn last_text(page: &mut Page, shown: &Shown) {
    let text = sanitise(&shown.story.last_text);
    let lines: Vec<&str> = text.trim().lines().collect();
    if lines.iter().all(|line| line.is_empty()) {
        return;
    }
    page.text.push_str(&format!(
        "\n{} said last:\n",
        one_line(&shown.run.display_name, 40)
    ));
    let skipped = lines.len().saturating_sub(LAST_LINES);
    if skipped > 0 {
        page.text.push_str("  …\n");
    }
    for line in lines.iter().skip(skipped) {
        page.text.push_str(format!("  {}", line.trim_end()).trim_end());
        page.text.push('\n');
    }
}
