//! `RunScanner`: reads `run.json` of all runs for the home screen, again only where something changed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::{Duration, SystemTime};

use ralph_run::{Home, RunDirectory, RunFile};
use tokio::sync::mpsc;

use super::panic_hook::catch_panic;
use crate::input::{Input, RunSummary};

const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// A directory that changed this recently may change again without another time: file systems round them.
const SETTLE_TIME: Duration = Duration::from_secs(2);
/// How many seconds of activity are kept.
const ACTIVITY_SECONDS: usize = 30;

/// Watches the runs of a home from now on, until the receiver is dropped. Lists are sent while the last value that was
/// sent to it is `true`.
pub(super) fn watch(home: Home) -> io::Result<(mpsc::Receiver<Input>, std::sync::mpsc::Sender<bool>)> {
    let (inputs, received) = mpsc::channel(1);
    let (enabled_sender, enabled_updates) = std::sync::mpsc::channel();
    thread::Builder::new().name("runs".to_owned()).spawn(move || {
        let mut scanner = RunScanner::new(home);
        let mut is_enabled = false;
        loop {
            let update = if is_enabled {
                enabled_updates.recv_timeout(REFRESH_INTERVAL)
            } else {
                enabled_updates.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match update {
                Ok(update) => {
                    if update && !is_enabled {
                        scanner.forget_sizes();
                    }
                    is_enabled = update;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if !is_enabled {
                continue;
            }
            let found = match catch_panic(|| scanner.inputs()) {
                Ok(found) => found,
                Err(reason) => {
                    let reason = format!("the list of runs is not updated any more: {reason}");
                    // Without a receiver, the terminal UI has ended.
                    let _ = inputs.blocking_send(Input::Notice(reason));
                    return;
                }
            };
            for input in found {
                if inputs.blocking_send(input).is_err() {
                    return;
                }
            }
        }
    })?;
    Ok((received, enabled_sender))
}

#[derive(Debug)]
struct RunScanner {
    home: Home,
    /// When the directory of all runs changed last.
    listed_at: Option<SystemTime>,
    runs: HashMap<String, Entry>,
    last_problem: Option<String>,
    has_sent: bool,
    unreadable: usize,
}

#[derive(Debug)]
struct Entry {
    directory: RunDirectory,
    /// Of `run.json`: when it was written, and its length.
    stamp: Option<(SystemTime, u64)>,
    journal_bytes: Option<u64>,
    /// Shared with the screen, which sees by it that a run has not changed.
    summary: Option<Arc<RunSummary>>,
}

impl RunScanner {
    fn new(home: Home) -> Self {
        Self {
            home,
            listed_at: None,
            runs: HashMap::new(),
            last_problem: None,
            has_sent: false,
            unreadable: 0,
        }
    }

    /// What has changed since the last time.
    fn inputs(&mut self) -> Vec<Input> {
        let runs = match self.refresh() {
            Ok(runs) => runs.map(Input::Runs),
            Err(reason) => Some(Input::Notice(reason)),
        };
        let unreadable = self.changed_unreadable().map(Input::UnreadableRuns);
        runs.into_iter().chain(unreadable).collect()
    }

    /// Nobody looked for a while: how much journals have grown meanwhile is not the activity of a second.
    fn forget_sizes(&mut self) {
        for entry in self.runs.values_mut() {
            entry.journal_bytes = None;
        }
    }

    /// How many runs cannot be read, if that has changed.
    fn changed_unreadable(&mut self) -> Option<usize> {
        let unreadable = self.runs.values().filter(|entry| entry.is_unreadable()).count();
        (std::mem::replace(&mut self.unreadable, unreadable) != unreadable).then_some(unreadable)
    }

    /// All runs, if something about them has changed. An error is reported once.
    fn refresh(&mut self) -> Result<Option<Vec<Arc<RunSummary>>>, String> {
        let mut is_changed = !std::mem::replace(&mut self.has_sent, true);
        match self.list() {
            Ok(is_other) => is_changed |= is_other,
            Err(problem) => {
                if self.last_problem.as_ref() == Some(&problem) {
                    return Ok(None);
                }
                self.last_problem = Some(problem.clone());
                return Err(problem);
            }
        }
        self.last_problem = None;
        for entry in self.runs.values_mut() {
            is_changed |= entry.refresh();
        }
        let summaries = || self.runs.values().filter_map(|entry| entry.summary.clone());
        Ok(is_changed.then(|| summaries().collect()))
    }

    /// Finds new runs, and forgets those that were removed.
    fn list(&mut self) -> Result<bool, String> {
        let modified = fs::metadata(self.home.runs_directory()).and_then(|metadata| metadata.modified());
        let modified = modified.ok();
        if modified.is_some() && modified == self.listed_at {
            return Ok(false);
        }
        let listed = self.home.list().map_err(|error| error.to_string())?;
        // A directory that has just changed may change again without a new time.
        let is_settled = |at: &SystemTime| at.elapsed().is_ok_and(|elapsed| elapsed > SETTLE_TIME);
        self.listed_at = modified.filter(is_settled);
        let count = self.runs.len();
        let mut known = std::mem::take(&mut self.runs);
        let mut is_changed = false;
        for directory in listed {
            let id = directory.id().to_owned();
            let entry = known.remove(&id).unwrap_or_else(|| {
                is_changed = true;
                Entry::new(directory)
            });
            self.runs.insert(id, entry);
        }
        Ok(is_changed || self.runs.len() != count)
    }
}

impl Entry {
    fn new(directory: RunDirectory) -> Self {
        Self {
            directory,
            stamp: None,
            journal_bytes: None,
            summary: None,
        }
    }

    /// Whether there is a `run.json` that cannot be read.
    fn is_unreadable(&self) -> bool {
        self.summary.is_none() && self.stamp.is_some()
    }

    /// Whether something changed. A run that has ended is never read again.
    fn refresh(&mut self) -> bool {
        if self
            .summary
            .as_ref()
            .is_some_and(|summary| summary.file.is_ended())
        {
            return false;
        }
        let stamp = stamp(&self.directory.run_file());
        let mut is_changed = false;
        if stamp != self.stamp || self.summary.is_none() {
            // Not there yet, or damaged: read again when it changes.
            if stamp.is_none() || (stamp == self.stamp && self.summary.is_none()) {
                return false;
            }
            self.stamp = stamp;
            let Ok(file) = RunFile::load(&self.directory.run_file()) else {
                return false;
            };
            is_changed = true;
            match &mut self.summary {
                Some(summary) => Arc::make_mut(summary).file = file,
                None => self.summary = Some(Arc::new(summary_of(file))),
            }
        }
        let Some(summary) = &mut self.summary else {
            return is_changed;
        };
        if summary.file.is_ended() {
            let summary = Arc::make_mut(summary);
            summary.is_lost = false;
            summary.is_suspended = false;
            summary.activity.clear();
            return true;
        }
        let length = fs::metadata(self.directory.journal()).map_or(0, |metadata| metadata.len());
        let before = self.journal_bytes.replace(length);
        let grown = before.map(|before| length.saturating_sub(before));
        let is_same = grown.is_none_or(|grown| summary.activity.iter().all(|bytes| *bytes == grown));
        let is_lost = summary.file.is_lost();
        let is_suspended = !is_lost && summary.file.runner.is_stopped();
        if is_same && (is_lost, is_suspended) == (summary.is_lost, summary.is_suspended) {
            return is_changed;
        }
        let summary = Arc::make_mut(summary);
        if let Some(grown) = grown {
            summary.activity.remove(0);
            summary.activity.push(grown);
        }
        summary.is_lost = is_lost;
        summary.is_suspended = is_suspended;
        true
    }
}

fn summary_of(file: RunFile) -> RunSummary {
    RunSummary {
        file,
        is_lost: false,
        is_suspended: false,
        activity: vec![0; ACTIVITY_SECONDS],
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use jiff::Timestamp;
    use ralph_run::model::RunState;
    use ralph_run::{Home, RunDirectory, Runner};
    use serde_json::json;

    use super::RunScanner;
    use crate::input::RunSummary;

    #[test]
    fn a_home_without_runs_is_an_empty_list_that_is_sent_once() {
        let directory = tempfile::tempdir().unwrap();
        let mut scanner = RunScanner::new(Home::new(directory.path().join("state"), None));
        assert_eq!(scanner.refresh(), Ok(Some(Vec::new())));
        assert_eq!(scanner.refresh(), Ok(None));
    }

    fn file_of(run: &RunDirectory, state: &str, runner: &Runner) -> serde_json::Value {
        json!({"version": 1, "run_id": run.id(), "workspace": "/w", "backend": "demo", "display_name": "Demo",
            "kind": "loop", "prompt": "", "started_at": "2026-01-01T00:00:00Z", "runner": runner,
            "ralph_version": "0.1.0", "status": {"state": state}})
    }

    /// The only run of a list that has just changed.
    fn only(scanner: &mut RunScanner) -> Arc<RunSummary> {
        let runs = scanner.refresh().unwrap().expect("nothing has changed");
        assert_eq!(runs.len(), 1);
        Arc::clone(&runs[0])
    }

    #[test]
    fn a_run_is_read_again_when_its_file_its_journal_or_its_runner_changes() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let run = home.create_run(Timestamp::now()).unwrap();
        let mut scanner = RunScanner::new(home);
        assert_eq!(scanner.refresh(), Ok(Some(Vec::new())));
        let own = Runner::current();
        fs::write(run.run_file(), file_of(&run, "thinking", &own).to_string()).unwrap();
        let first = only(&mut scanner);
        assert_eq!(first.file.status.state, RunState::Thinking);
        assert!(!first.is_lost);
        assert_eq!(scanner.refresh(), Ok(None));
        fs::write(run.journal(), "12345").unwrap();
        assert_eq!(only(&mut scanner).activity.last(), Some(&5));
        // A visit to another screen, in which the run wrote much.
        fs::write(run.journal(), "1".repeat(10_000)).unwrap();
        scanner.forget_sizes();
        assert_eq!(scanner.refresh(), Ok(None));
        fs::write(run.journal(), "1".repeat(10_003)).unwrap();
        let activity = only(&mut scanner).activity.clone();
        assert_eq!(activity[activity.len() - 2..], [5, 3]);
        let gone = Runner {
            pid: own.pid,
            start_time: own.start_time + 1,
            ..own
        };
        fs::write(run.run_file(), file_of(&run, "responding", &gone).to_string()).unwrap();
        let lost = only(&mut scanner);
        assert!(lost.is_lost && lost.file.status.state == RunState::Responding);
    }

    #[test]
    fn a_damaged_run_is_left_out_and_a_removed_one_disappears() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(directory.path().join("state"), None);
        let run = home.create_run(Timestamp::now()).unwrap();
        fs::write(run.run_file(), "not JSON").unwrap();
        let mut scanner = RunScanner::new(home);
        assert_eq!(scanner.refresh(), Ok(Some(Vec::new())));
        assert_eq!(scanner.changed_unreadable(), Some(1));
        assert_eq!(scanner.refresh(), Ok(None));
        assert_eq!(scanner.changed_unreadable(), None);
        fs::remove_dir_all(run.path()).unwrap();
        assert_eq!(scanner.refresh(), Ok(Some(Vec::new())));
        assert_eq!(scanner.runs.len(), 0);
    }
}
