//! `RepeatedCalls`: the same tool call, or the same failing command, again and again. A part of `Watchdog`.
//!
//! Repeating a call is normal when something may have changed since: after an edit or another command. It is also normal
//! for calls that wait for something, which never count. While a background task runs, any call may wait for it, so more
//! of them are needed; a task that never ends does not turn the rules off.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use agent_api::{ItemId, ToolFinished, ToolInput, ToolKind, ToolStarted, ToolStatus};

use super::finding::{Finding, quoted};
use super::rules::{RepeatRule, WatchAction};
use crate::record::{Evidence, WarningKind};

const MAX_STREAKS: usize = 256;
const MAX_EVIDENCE: usize = 10;

/// While a background task runs, this many times as many calls are needed.
const BACKGROUND_FACTOR: u32 = 3;

/// Programs that are called again and again to see whether something is ready.
const POLLING_PROGRAMS: [&str; 10] = [
    "sleep", "wait", "watch", "poll", "pgrep", "ps", "jobs", "curl", "ping", "nc",
];
/// Those that are so with one of [`POLLING_WORDS`] as their command.
const SERVICE_PROGRAMS: [&str; 13] = [
    "docker",
    "docker-compose",
    "gh",
    "git",
    "glab",
    "helm",
    "kubectl",
    "oc",
    "pm2",
    "podman",
    "service",
    "supervisorctl",
    "systemctl",
];
/// Commands of programs, and parts of the names of tools, that ask whether something is ready.
const POLLING_WORDS: [&str; 7] = ["wait", "watch", "poll", "status", "health", "logs", "ps"];
/// Words of a shell, and programs, that are followed by the command that they run.
const COMMAND_PREFIXES: [&str; 16] = [
    "!", "{", "if", "then", "elif", "else", "while", "until", "do", "time", "sudo", "env", "exec", "nohup",
    "command", "timeout",
];

/// A call that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndedCall<'a> {
    pub(super) seq: u64,
    pub(super) parent: Option<&'a ItemId>,
    pub(super) started: &'a ToolStarted,
    pub(super) finished: &'a ToolFinished,
}

impl EndedCall<'_> {
    /// The files that it changed, as the agent names them.
    pub(super) fn changed_paths(self) -> Vec<String> {
        if !self.finished.changes.is_empty() {
            let paths = self.finished.changes.iter();
            return paths.map(|change| change.path.clone()).collect();
        }
        if !matches!(self.started.kind, ToolKind::Edit) {
            return Vec::new();
        }
        match self.started.typed_input() {
            ToolInput::Edit { path, .. } | ToolInput::Write { path, .. } => vec![path],
            _ => Vec::new(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct RepeatedCalls {
    /// The last call of each conversation: the main one and those of subagents.
    last: HashMap<Option<ItemId>, Streak>,
    /// Failing commands.
    failures: HashMap<u64, Streak>,
    /// Goes up with everything that may have changed a file.
    changes: u64,
}

#[derive(Debug)]
struct Streak {
    call: u64,
    outcome: u64,
    changes: u64,
    count: u32,
    evidence: Vec<Evidence>,
    is_reported: bool,
}

impl Streak {
    fn new(call: u64, outcome: u64, changes: u64) -> Self {
        Self {
            call,
            outcome,
            changes,
            count: 0,
            evidence: Vec::new(),
            is_reported: false,
        }
    }

    /// Whether the rule finds it now: once per streak.
    fn add(&mut self, rule: RepeatRule, evidence: Evidence) -> bool {
        self.count = self.count.saturating_add(1);
        if self.evidence.len() < MAX_EVIDENCE {
            self.evidence.push(evidence);
        }
        let is_found = rule.action != WatchAction::Off && self.count >= rule.times;
        is_found && !std::mem::replace(&mut self.is_reported, true)
    }
}

impl RepeatedCalls {
    /// A new turn: what was done in an earlier one is done again for a reason.
    pub(super) fn reset(&mut self) {
        self.last.clear();
        self.failures.clear();
    }

    pub(super) fn observe(
        &mut self,
        call: EndedCall<'_>,
        is_task_running: bool,
        mut calls: RepeatRule,
        mut failures: RepeatRule,
    ) -> Option<Finding> {
        if is_task_running {
            for rule in [&mut calls, &mut failures] {
                rule.times = rule.times.saturating_mul(BACKGROUND_FACTOR);
            }
        }
        let EndedCall {
            parent,
            started,
            finished,
            ..
        } = call;
        let is_failed_command = started.kind == ToolKind::Execute && finished.status == ToolStatus::Failed;
        let key = call_key(started).filter(|_| !is_polling(started));
        let found = match key {
            Some(key) if is_failed_command => {
                self.last.remove(&parent.cloned());
                self.add_failure(key, call, failures)
            }
            Some(key) => {
                self.failures.remove(&key);
                self.add_call(key, call, calls)
            }
            None => {
                self.last.remove(&parent.cloned());
                None
            }
        };
        let is_same_failure = is_failed_command && key.is_some();
        if may_change_files(started.kind, finished) {
            self.changes += 1;
            if let (true, Some(key)) = (is_same_failure, key)
                && let Some(streak) = self.failures.get_mut(&key)
            {
                // The command itself is not a change to what it does.
                streak.changes = self.changes;
            }
        }
        found
    }

    fn add_failure(&mut self, key: u64, call: EndedCall<'_>, rule: RepeatRule) -> Option<Finding> {
        let outcome = outcome_key(call.finished);
        if self.failures.len() >= MAX_STREAKS && !self.failures.contains_key(&key) {
            self.failures.clear();
        }
        let changes = self.changes;
        let streak = self
            .failures
            .entry(key)
            .or_insert_with(|| Streak::new(key, outcome, changes));
        let may_differ = streak.changes != changes && streak.outcome != outcome;
        if may_differ {
            *streak = Streak::new(key, outcome, changes);
        }
        streak.outcome = outcome;
        let label = label(call.started);
        if !streak.add(rule, evidence(call)) {
            return None;
        }
        let message = format!(
            "`{label}` failed {} times, and nothing that was done in between helped",
            streak.count
        );
        let finding = Finding::new(WarningKind::RepeatedFailure, rule.action, message);
        Some(finding.with(streak.evidence.clone()))
    }

    fn add_call(&mut self, key: u64, call: EndedCall<'_>, rule: RepeatRule) -> Option<Finding> {
        let outcome = outcome_key(call.finished);
        if self.last.len() >= MAX_STREAKS {
            self.last.clear();
        }
        let changes = self.changes;
        let streak = self
            .last
            .entry(call.parent.cloned())
            .or_insert_with(|| Streak::new(key, outcome, changes));
        if (streak.call, streak.outcome) != (key, outcome) {
            *streak = Streak::new(key, outcome, changes);
        }
        if !streak.add(rule, evidence(call)) {
            return None;
        }
        let name = quoted(&call.started.name);
        let label = label(call.started);
        let message = format!(
            "the agent made the same call {} times in a row, with the same result: {name} `{label}`",
            streak.count
        );
        let finding = Finding::new(WarningKind::RepeatedCall, rule.action, message);
        Some(finding.with(streak.evidence.clone()))
    }
}

/// What a call is used on, for people.
fn label(started: &ToolStarted) -> String {
    let input = started.input.as_ref().map(|input| input.as_str());
    quoted(started.subject.as_deref().or(input).unwrap_or(&started.name))
}

fn evidence(call: EndedCall<'_>) -> Evidence {
    let status = match call.finished.status {
        ToolStatus::Completed => "completed",
        ToolStatus::Failed => "failed",
        ToolStatus::Denied => "was denied",
        ToolStatus::Cancelled => "was cancelled",
        ToolStatus::Background => "continues in the background",
    };
    let line = call.finished.output.lines().find(|line| !line.trim().is_empty());
    let output = line.map_or_else(String::new, |line| format!(": {}", quoted(line)));
    Evidence {
        seq: call.seq,
        text: format!("{} {status}{output}", call.started.name),
    }
}

/// Identifies a call that can be compared; `None` if its arguments are unknown or its tool is of another kind.
fn call_key(started: &ToolStarted) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    started.name.hash(&mut hasher);
    match started.kind {
        ToolKind::Execute
        | ToolKind::Read
        | ToolKind::Edit
        | ToolKind::Delete
        | ToolKind::Move
        | ToolKind::Search
        | ToolKind::Fetch
        | ToolKind::WebSearch
        | ToolKind::Mcp => {}
        // Plans, questions and subagents are not repeated by mistake, and of other tools nothing is known.
        _ => return None,
    }
    let input = started.input.as_ref().filter(|input| !input.is_oversize())?;
    match started.typed_input() {
        // The description may be worded differently.
        ToolInput::Command { command, .. } => command.hash(&mut hasher),
        _ => input.as_str().hash(&mut hasher),
    }
    Some(hasher.finish())
}

fn outcome_key(finished: &ToolFinished) -> u64 {
    let mut hasher = DefaultHasher::new();
    finished.status.hash(&mut hasher);
    finished.exit_code.hash(&mut hasher);
    finished.output.hash(&mut hasher);
    finished.output_bytes.hash(&mut hasher);
    hasher.finish()
}

/// Whether a call waits for something, so that it is repeated on purpose.
fn is_polling(started: &ToolStarted) -> bool {
    match started.typed_input() {
        ToolInput::Command { command, .. } => command
            .split(|character: char| "\n;|&()`".contains(character))
            .any(is_polling_command),
        _ => started
            .name
            .split(|character: char| !character.is_ascii_alphanumeric())
            .any(|word| POLLING_WORDS.contains(&word.to_ascii_lowercase().as_str())),
    }
}

/// Whether one command of a shell's line waits for something. What its arguments are called says nothing.
fn is_polling_command(command: &str) -> bool {
    let mut words = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '$']))
        .skip_while(|word| is_prefix(word));
    let program = words.next().and_then(|word| word.rsplit('/').next());
    let Some(program) = program else { return false };
    if program == "tail" || program == "journalctl" {
        return words.any(|word| word == "--follow" || is_short_option(word, ['f', 'F']));
    }
    let is_asked = || words.take(2).any(|word| POLLING_WORDS.contains(&word));
    POLLING_PROGRAMS.contains(&program) || (SERVICE_PROGRAMS.contains(&program) && is_asked())
}

/// Whether the command is still to come: after a word of the shell, an assignment, and what `timeout` and `sudo` take.
fn is_prefix(word: &str) -> bool {
    COMMAND_PREFIXES.contains(&word)
        || word.starts_with('-')
        || word.contains('=')
        || word.starts_with(|first: char| first.is_ascii_digit())
}

/// As in `-f` and `-fn20`.
fn is_short_option(word: &str, letters: [char; 2]) -> bool {
    let option = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    option.is_some_and(|option| option.contains(letters))
}

/// Whether files may be different after a call.
fn may_change_files(kind: ToolKind, finished: &ToolFinished) -> bool {
    if !finished.changes.is_empty() {
        return true;
    }
    match kind {
        ToolKind::Read
        | ToolKind::Search
        | ToolKind::Fetch
        | ToolKind::WebSearch
        | ToolKind::Plan
        | ToolKind::Question
        | ToolKind::SwitchMode => false,
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => finished.status == ToolStatus::Completed,
        // A command that fails may have done half of its work.
        _ => true,
    }
}
