//! `Digest`: the end of a run in a few lines: why it ended, what it changed, and what to do next.

use agent_api::AgentKind;
use ralph_run::model::{ChangedFile, RunModel};
use ralph_run::{EndReason, LimitKind, RunEnded, RunKind, short_run_id};

use super::style::{Style, paint};
use ralph_run::git::Commits;
use run_view::{
    describe_end, describe_totals, describe_verify, format_cents, format_tokens, in_workspace, one_line,
};

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

    fn heading(&self) -> String {
        let max_iterations = self.run.started().map_or(0, |started| started.max_iterations);
        describe_end(self.ended, max_iterations)
    }

    /// `Duration: 1.2s | Cost: $0.0096 | Turns: 3`, then iterations and tokens.
    fn push_totals(&self, rows: &mut String) {
        rows.push_str(&describe_totals(&self.ended.totals));
        rows.push('\n');
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
