//! Renders `ralph show` as text.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ralph_run::model::{ChangedFile, RunState};
use ralph_run::{RunFile, short_run_id};

use super::Shown;
use crate::commands::clean::format_bytes;
use crate::commands::runs::{seconds, state};
use crate::console::describe_file;
use ralph_run::git::Commits;
use run_view::{format_cost, format_duration, format_tokens, one_line, sanitise};

/// The column of values.
const INDENT: usize = 13;

/// How many lines of the last message are shown.
const LAST_LINES: usize = 20;

/// How many iterations, changes and files are shown.
const MAX_ROWS: usize = 20;

struct Page {
    text: String,
    columns: usize,
}

impl Page {
    /// `Workspace   /home/me/project`. An empty value has no line.
    fn row(&mut self, label: &str, value: &str) {
        if !value.trim().is_empty() {
            let value = one_line(value, self.columns.saturating_sub(INDENT));
            self.text.push_str(&format!("{}{value}\n", pad(label)));
        }
    }

    /// As a row, but never cut, so that it can be copied.
    fn place(&mut self, label: &str, value: &str) {
        let value = one_line(value, usize::MAX);
        self.text.push_str(&format!("{}{value}\n", pad(label)));
    }
}

/// A long label moves its value, but never touches it.
fn pad(label: &str) -> String {
    format!("{label:width$} ", width = INDENT - 1)
}

pub(super) fn render(shown: &Shown, now: Timestamp, columns: usize) -> String {
    let mut page = Page {
        text: String::new(),
        columns,
    };
    summary(&mut page, shown, now);
    figures(&mut page, shown);
    course(&mut page, shown);
    changes(&mut page, shown);
    commits(&mut page, shown);
    files(&mut page, shown);
    last_text(&mut page, shown);
    page.text
}

fn summary(page: &mut Page, shown: &Shown, now: Timestamp) {
    let run = &shown.run;
    page.row("Run", &run.run_id);
    let code = run.exit_code.filter(|_| run.is_ended());
    let code = code
        .map(|code| format!(" (exit code {code})"))
        .unwrap_or_default();
    page.row("State", &format!("{}{code}", state(run)));
    if let RunState::Ended { reason } = &run.status.state {
        let message = shown.ended.as_ref().and_then(|ended| ended.message.as_deref());
        let reason = Some(reason.describe()).filter(|reason| *reason != state(run));
        match (reason, message) {
            (Some(reason), Some(message)) => page.row("Reason", &format!("{reason}: {message}")),
            (reason, message) => page.row("Reason", reason.as_deref().or(message).unwrap_or_default()),
        }
    } else if run.status.state.to_string() != state(run) {
        page.row("Activity", &run.status.state.to_string());
    }
    if shown.open_requests > 0 {
        let requests = plural(shown.open_requests, "open request");
        page.row(
            "Waiting",
            &format!("{requests}; see `ralph answer {}`", short_run_id(&run.run_id)),
        );
    }
    let version = run
        .agent_version
        .as_deref()
        .map(|version| format!(" {version}"))
        .unwrap_or_default();
    let model = run.model.as_deref().map(|model| format!(", model {model}"));
    page.row(
        "Agent",
        &format!("{}{version}{}", agent_name(run), model.unwrap_or_default()),
    );
    page.row("Permissions", run.permission_mode.as_deref().unwrap_or_default());
    page.row("Mode", run.mode.as_deref().unwrap_or_default());
    page.row("Task", run.task.as_deref().unwrap_or_default());
    page.row("Started by", run.by.as_deref().unwrap_or_default());
    page.row("Prompt", &run.prompt);
    page.place("Workspace", &run.workspace);
    if let Some(session) = run.session_ids.last() {
        page.place("Session", session);
    }
    let took = format_duration(seconds(run, now).saturating_mul(1_000));
    let verb = if run.is_ended() { "took" } else { "running for" };
    page.row(
        "Started",
        &format!(
            "{}, {verb} {took}",
            format_local_time(run.started_at, &TimeZone::try_system().unwrap_or(TimeZone::UTC))
        ),
    );
}

/// `2026-11-16 14:05:09 CET`.
fn format_local_time(at: Timestamp, zone: &TimeZone) -> String {
    let at = at.to_zoned(zone.clone());
    at.strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
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
    let listed = shown.iterations.len().min(MAX_ROWS);
    let skipped = (shown.iteration_count as usize).saturating_sub(listed);
    if skipped > 0 {
        let earlier = plural(skipped, "earlier iteration");
        page.row("Iterations", &format!("{earlier} not shown; see `--json`"));
    }
    for iteration in shown.iterations.iter().skip(shown.iterations.len() - listed) {
        let outcome = match &iteration.outcome {
            None => "running".to_owned(),
            Some(outcome) => outcome.describe(),
        };
        let role = iteration.role.as_ref().map(|role| format!("{role}: "));
        let cost = iteration
            .totals
            .cost
            .map(|cost| format!(", {}", format_cost(cost)));
        let took = iteration
            .outcome
            .as_ref()
            .map(|_| format!(", {}", format_duration(iteration.totals.duration_ms)));
        page.row(
            &format!("Iteration {}", iteration.number),
            &format!(
                "{}{outcome}{}{}",
                role.unwrap_or_default(),
                took.unwrap_or_default(),
                cost.unwrap_or_default()
            ),
        );
    }
    for verify in &shown.verify {
        page.row("Verify", &run_view::describe_verify(verify));
    }
    for warned in &shown.warnings {
        page.row("Warning", &warned.message);
    }
    if shown.unknown_records > 0 {
        let text = format!(
            "{} records of a newer version are not shown",
            shown.unknown_records
        );
        page.row("Journal", &text);
    }
    for damage in &shown.damage {
        page.row("Journal", damage);
    }
}

fn changes(page: &mut Page, shown: &Shown) {
    if shown.changes.is_empty() {
        return;
    }
    let sum = |lines: fn(&ChangedFile) -> u32| shown.changes.iter().map(|file| u64::from(lines(file))).sum();
    let (added, removed): (u64, u64) = (sum(|file| file.added), sum(|file| file.removed));
    let count = plural(shown.changes.len(), "file");
    page.row("Changed", &format!("{count}, +{added} −{removed}"));
    for file in shown.changes.iter().take(MAX_ROWS) {
        page.row("", &describe_file(file, &shown.run.workspace));
    }
    let skipped = shown.changes.len().saturating_sub(MAX_ROWS);
    if skipped > 0 {
        page.row("", &format!("and {skipped} more"));
    }
}

fn commits(page: &mut Page, shown: &Shown) {
    let Some(Commits(commits)) = shown.commits.as_ref().filter(|commits| !commits.0.is_empty()) else {
        return;
    };
    page.row("Commits", &commits.len().to_string());
    for commit in commits.iter().take(MAX_ROWS) {
        page.row("", &format!("{} {}", commit.id, commit.subject));
    }
    let skipped = commits.len().saturating_sub(MAX_ROWS);
    if skipped > 0 {
        page.row("", &format!("and {skipped} more"));
    }
}

fn files(page: &mut Page, shown: &Shown) {
    page.place("Files", &shown.directory.display().to_string());
    let skipped = shown.files.len().saturating_sub(MAX_ROWS);
    for file in shown.files.iter().take(MAX_ROWS) {
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
    let text = sanitise(&shown.last_text);
    let lines: Vec<&str> = text.trim().lines().collect();
    if lines.iter().all(|line| line.is_empty()) {
        return;
    }
    page.text.push_str("\nLast message:\n");
    let skipped = lines.len().saturating_sub(LAST_LINES);
    if skipped > 0 {
        page.text.push_str("  …\n");
    }
    for line in lines.iter().skip(skipped) {
        page.text.push_str(format!("  {}", line.trim_end()).trim_end());
        page.text.push('\n');
    }
}

/// A custom backend has no name of its own.
fn agent_name(run: &RunFile) -> String {
    match run.display_name.as_str() {
        "Agent" => run.backend.to_string(),
        name => name.to_owned(),
    }
}

fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use ralph_run::model::RunModel;
    use ralph_run::{Record, RunFile};
    use serde_json::json;

    use super::super::Shown;
    use super::{format_local_time, render};

    /// A loop after this many iterations.
    fn shown(iterations: u32) -> Shown {
        let mut model = RunModel::new();
        let mut seq = 0;
        let mut push = |kind: &str, data: serde_json::Value| {
            seq += 1;
            let record = json!({"seq": seq, "at": "2026-11-16T12:00:00Z", "iteration": 1, "attempt": 1,
                "event": {"type": kind, "data": data}});
            let record: Record = serde_json::from_str(&record.to_string()).unwrap();
            model.apply(&record);
        };
        for number in 1..=iterations {
            push("iteration_started", json!({"number": number, "prompt": "x"}));
            push(
                "iteration_ended",
                json!({"number": number, "outcome": "continues", "totals": {"duration_ms": 839}}),
            );
        }
        let run: RunFile = serde_json::from_value(json!({
            "version": 1, "run_id": "20261116-125252-9ed6f3", "workspace": "/w", "backend": "custom",
            "display_name": "Agent", "started_at": "2026-11-16T12:00:00Z", "prompt": "x",
            "status": {"state": "tool", "name": "Bash", "subject": "cargo test"},
            "runner": {"pid": 0, "start_time": 0, "boot_id": ""}, "ralph_version": "0"
        }))
        .unwrap();
        Shown {
            run,
            directory: "/r".into(),
            iterations: model.iterations().iter().cloned().collect(),
            iteration_count: model.counts().iterations,
            verify: Vec::new(),
            warnings: Vec::new(),
            changes: Vec::new(),
            commits: None,
            last_text: String::new(),
            ended: None,
            open_requests: 2,
            damage: Vec::new(),
            unknown_records: 0,
            files: Vec::new(),
        }
    }

    #[test]
    fn a_label_never_touches_its_value_and_what_is_left_out_is_said() {
        let text = render(&shown(50), "2026-11-16T12:00:05Z".parse().unwrap(), 200);
        assert!(text.contains("\nIteration 50 continued, 839ms\n"), "{text}");
        assert!(
            text.contains("\nIterations   30 earlier iterations not shown; see `--json`\nIteration 31 "),
            "{text}"
        );
        let text = render(&shown(20), "2026-11-16T12:00:05Z".parse().unwrap(), 200);
        assert!(
            !text.contains("not shown") && text.contains("\nIteration 1  "),
            "{text}"
        );
    }

    #[test]
    fn a_run_that_works_says_what_it_does_and_what_it_waits_for() {
        let text = render(&shown(1), "2026-11-16T12:00:05Z".parse().unwrap(), 200);
        assert!(
            text.contains("\nState        running\nActivity     running Bash: cargo test\n"),
            "{text}"
        );
        assert!(
            text.contains("\nWaiting      2 open requests; see `ralph answer "),
            "{text}"
        );
        assert!(text.contains("\nAgent        custom\n"), "{text}");
    }

    #[test]
    fn times_are_in_the_zone_of_the_reader() {
        let at = "2026-07-16T12:00:00Z".parse().unwrap();
        let berlin = jiff::tz::TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(format_local_time(at, &berlin), "2026-07-16 14:00:00 CEST");
        assert_eq!(
            format_local_time(at, &jiff::tz::TimeZone::UTC),
            "2026-07-16 12:00:00 UTC"
        );
    }
}
