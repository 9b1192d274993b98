//! `Digest`: the end of a run in a few lines: why it ended, what it changed, and what to do next.

use agent_api::AgentKind;
use ralph_run::model::{ChangedFile, RunModel};
use ralph_run::{EndReason, LimitKind, RunEnded, RunKind, VerifyFinished, short_run_id};

use super::figures::{format_cents, format_duration, format_tokens};
use super::one_line::one_line;
use super::run_rows::describe_exit;
use super::style::{Style, paint};
use super::tool_line::in_workspace;
use crate::git::Commits;

/// How many files and commits are listed.
const MAX_ROWS: usize = 10;
const MAX_COLUMNS: usize = 120;

/// What the end of a run is made of.
pub(super) struct Digest<'a> {
    pub(super) run: &'a RunModel,
    pub(super) ended: &'a RunEnded,
    /// `None` if git was not asked or did not answer.
    pub(super) commits: Option<&'a Commits>,
    /// The run's directory.
    pub(super) files: Option<&'a str>,
}

impl Digest<'_> {
    pub(super) fn render(&self, has_colours: bool) -> String {
        let mut rows = String::new();
        let style = if self.ended.exit_code == 0 {
            Style::Good
        } else {
            Style::Error
        };
        let heading = format!("--- {} ---", one_line(&self.heading(), MAX_COLUMNS));
        paint(&mut rows, has_colours, style, &heading);
        rows.push('\n');
        self.push_totals(&mut rows);
        self.push_changes(&mut rows);
        self.push_commits(&mut rows);
        for verify in self.run.verify() {
            rows.push_str(&format!("Verify: {}\n", describe_verify(verify)));
        }
        self.push_warnings(&mut rows);
        // A recording has no run that could be shown.
        let Some(files) = self.files else {
            return rows;
        };
        rows.push_str(&format!("Files: {}\n", one_line(files, usize::MAX)));
        for (number, command) in self.next_commands().iter().enumerate() {
            let label = if number == 0 { "Next: " } else { "      " };
            rows.push_str(&format!("{label}{}\n", one_line(command, usize::MAX)));
        }
        rows
    }

    /// `Run complete`, `Stopped at the cost limit: $10.02 of $10.00`, or why it ended.
    fn heading(&self) -> String {
        let Some(reason) = self.ended.reason.known() else {
            return format!("Run ended: {}", self.ended.reason.describe());
        };
        match reason {
            EndReason::Completed => "Run complete".to_owned(),
            EndReason::Limit(limit) => {
                let name = match limit {
                    LimitKind::Iterations => "iteration limit",
                    LimitKind::Runtime => "time limit",
                    LimitKind::IterationTimeout => "iteration timeout",
                    LimitKind::Cost => "cost limit",
                    LimitKind::Turns => "turn limit",
                    LimitKind::Tokens => "token limit",
                    LimitKind::Usage => "usage limit",
                };
                match self.limit_figures(*limit) {
                    Some(figures) => format!("Stopped at the {name}: {figures}"),
                    None => format!("Stopped at the {name}"),
                }
            }
            other => format!("Run ended: {}", other.describe()),
        }
    }

    /// Whether the message of the end has more than the heading and the commands.
    pub(super) fn has_more_to_say(&self) -> bool {
        let message = self.ended.message.as_deref().unwrap_or_default();
        let is_limit = matches!(self.ended.reason.known(), Some(EndReason::Limit(_)));
        !is_limit || used_of_limit(message).is_none() || message.contains("earlier runs")
    }

    fn limit_figures(&self, limit: LimitKind) -> Option<String> {
        // Earlier runs of the task count, and only the message has them.
        let figures = self.ended.message.as_deref().and_then(used_of_limit);
        figures.or_else(|| match limit {
            LimitKind::Iterations => {
                let max = self.run.started().map_or(0, |started| started.max_iterations);
                (max > 0).then(|| format!("{} of {max}", self.ended.iterations))
            }
            LimitKind::Runtime => Some(format_duration(self.ended.totals.duration_ms)),
            LimitKind::Cost
            | LimitKind::Tokens
            | LimitKind::IterationTimeout
            | LimitKind::Turns
            | LimitKind::Usage => None,
        })
    }

    /// `Duration: 1.2s | Cost: $0.0096 | Turns: 3`, then iterations and tokens.
    fn push_totals(&self, rows: &mut String) {
        super::run_rows::push_totals(rows, &self.ended.totals);
        rows.push_str(&format!(
            "Iterations: {} | Tokens: {}\n",
            self.ended.iterations,
            format_tokens(&self.ended.totals.tokens)
        ));
    }

    fn push_changes(&self, rows: &mut String) {
        let files = self.run.files();
        if files.is_empty() {
            return;
        }
        let (added, removed) = files.lines();
        let count = files.iter().len();
        rows.push_str(&format!(
            "Changed: {}, +{added} −{removed}\n",
            plural(count, "file")
        ));
        let workspace = self
            .run
            .started()
            .map_or("", |started| started.workspace.as_str());
        for file in files.iter().take(MAX_ROWS) {
            rows.push_str(&format!("  {}\n", describe_file(file, workspace)));
        }
        push_more(rows, count);
    }

    fn push_commits(&self, rows: &mut String) {
        let Some(Commits(commits)) = self.commits.filter(|commits| !commits.0.is_empty()) else {
            return;
        };
        rows.push_str(&format!("Commits: {}\n", commits.len()));
        for commit in commits.iter().take(MAX_ROWS) {
            let text = format!("{} {}", commit.id, commit.subject);
            rows.push_str(&format!("  {}\n", one_line(&text, MAX_COLUMNS)));
        }
        push_more(rows, commits.len());
    }

    /// `Warnings: 3 (2 × repeated tool call, silence)`.
    fn push_warnings(&self, rows: &mut String) {
        let count = self.run.counts().warnings;
        if count == 0 {
            return;
        }
        let mut kinds: Vec<(String, usize)> = Vec::new();
        for warned in self.run.warnings() {
            let kind = warned
                .kind
                .known()
                .map_or("other", |kind| kind.describe())
                .to_owned();
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, times)) => *times += 1,
                None => kinds.push((kind, 1)),
            }
        }
        let kinds: Vec<String> = kinds
            .into_iter()
            .map(|(kind, times)| match times {
                1 => kind,
                _ => format!("{times} × {kind}"),
            })
            .collect();
        rows.push_str(&format!("Warnings: {count} ({})\n", kinds.join(", ")));
    }

    /// The two commands that make sense now.
    fn next_commands(&self) -> Vec<String> {
        let Some(started) = self.run.started().filter(|started| !started.run_id.is_empty()) else {
            return Vec::new();
        };
        let id = short_run_id(&started.run_id);
        let (show, logs) = (format!("ralph show {id}"), format!("ralph logs {id} -v"));
        // A command of the user's own may name a session, but it cannot continue one.
        let can_resume = !started.is_ephemeral
            && started.backend != AgentKind::CUSTOM
            && !self.run.session_ids().is_empty();
        let is_conversation = started.kind == RunKind::Session;
        let resume = |option: &str| match can_resume {
            true if is_conversation => format!("ralph run --interactive --resume {id}{option}"),
            true => format!("ralph run --resume {id}{option}"),
            false => format!("ralph run{option}"),
        };
        let Some(reason) = self.ended.reason.known() else {
            return vec![show, logs];
        };
        match reason {
            EndReason::Completed if is_conversation && can_resume => vec![resume(""), show],
            EndReason::Completed => {
                let is_changed =
                    !self.run.files().is_empty() || self.commits.is_some_and(|commits| !commits.0.is_empty());
                let diff = started.start_commit.as_deref().filter(|_| is_changed);
                let diff = diff.map(|start| format!("git diff {}", start.get(..10).unwrap_or(start)));
                vec![show, diff.unwrap_or(logs)]
            }
            EndReason::Limit(limit) => {
                let option = match limit {
                    LimitKind::Cost => {
                        let limit = started.max_cost.unwrap_or_default();
                        let doubled = format_cents(limit + limit);
                        format!(" --max-cost {}", doubled.trim_start_matches('$'))
                    }
                    LimitKind::Iterations => {
                        format!(" --max-iterations {}", started.max_iterations.saturating_mul(2))
                    }
                    LimitKind::Runtime => " --max-runtime TIME".to_owned(),
                    LimitKind::IterationTimeout => " --iteration-timeout TIME".to_owned(),
                    LimitKind::Turns => " --max-turns N".to_owned(),
                    LimitKind::Tokens => " --max-tokens N".to_owned(),
                    LimitKind::Usage => String::new(),
                };
                vec![resume(&option), show]
            }
            EndReason::Interrupted
            | EndReason::Stopped
            | EndReason::Terminated
            | EndReason::HungUp
            | EndReason::OutputClosed
            | EndReason::Lost => vec![resume(""), show],
            EndReason::NotLoggedIn
            | EndReason::ModelNotFound
            | EndReason::NoCredit
            | EndReason::BackendUnavailable => {
                vec!["ralph doctor".to_owned(), logs]
            }
            EndReason::VerifyFailed => vec![logs, resume("")],
            EndReason::AgentError
            | EndReason::Denied
            | EndReason::PromptTooLong
            | EndReason::Watchdog
            | EndReason::Crashed
            | EndReason::NoResult
            | EndReason::StorageFailed => vec![logs, show],
        }
    }
}

/// `cargo test: ok (1.5s)`.
pub fn describe_verify(verify: &VerifyFinished) -> String {
    let command = one_line(&verify.command, MAX_COLUMNS / 2);
    let took = format_duration(verify.duration_ms);
    match verify.timed_out_after_ms {
        _ if verify.is_ok => format!("{command}: ok ({took})"),
        Some(limit) => format!("{command}: failed, timed out after {}", format_duration(limit)),
        // By the end of the run: that says nothing about the work.
        None if verify.exit.was_stopped => format!("{command}: stopped"),
        None => format!("{command}: failed, {} ({took})", describe_exit(&verify.exit)),
    }
}

/// `src/main.rs +10 −3`.
pub fn describe_file(file: &ChangedFile, workspace: &str) -> String {
    let path = one_line(in_workspace(&file.path, workspace), MAX_COLUMNS);
    format!("{path} +{} −{}", file.added, file.removed)
}

fn push_more(rows: &mut String, count: usize) {
    if count > MAX_ROWS {
        rows.push_str(&format!("  … {} more\n", count - MAX_ROWS));
    }
}

/// `1 file`, `2 files`.
fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

/// `$10.02 of $10.00` in a message such as `used $10.021 of $10.00; raise …`.
fn used_of_limit(message: &str) -> Option<String> {
    let figures = message.strip_prefix("used ")?.split([',', ';']).next()?;
    Some(figures.split(' ').map(to_cents).collect::<Vec<_>>().join(" "))
}

/// `$10.02` of `$10.023456`; other words stay.
fn to_cents(word: &str) -> String {
    match word.split_once('.') {
        Some((dollars, decimals)) if dollars.starts_with('$') && decimals.len() > 2 => {
            format!("{dollars}.{}", &decimals[..decimals.floor_char_boundary(2)])
        }
        _ => word.to_owned(),
    }
}
