//! `RunScanner`: reads `run.json` of all runs for the home screen, again only where something changed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use ralph_run::{Home, RunDirectory, RunFile};
use tokio::sync::mpsc;

use crate::input::{Input, RunSummary};

const REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// The times of files are not exact.
const SETTLE_TIME: Duration = Duration::from_secs(2);
/// How many seconds of activity are kept.
const ACTIVITY_SECONDS: usize = 30;

/// Watches the runs of a home from now on, until the receiver is dropped. Lists are sent while `is_wanted` says so.
pub(super) fn watch(home: Home) -> io::Result<(mpsc::Receiver<Input>, std::sync::mpsc::Sender<bool>)> {
    let (inputs, received) = mpsc::channel(1);
    let (wanted, wishes) = std::sync::mpsc::channel();
    thread::Builder::new().name("runs".to_owned()).spawn(move || {
        let mut scanner = RunScanner::new(home);
        let mut is_wanted = false;
        loop {
            let wish = if is_wanted {
                wishes.recv_timeout(REFRESH_INTERVAL)
            } else {
                wishes
                    .recv()
                    .map_err(|_| std::sync::mpsc::RecvTimeoutError::Disconnected)
            };
            match wish {
                Ok(wish) => is_wanted = wish,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return,
            }
            if !is_wanted {
                continue;
            }
            let input = match scanner.refresh() {
                Ok(runs) => runs.map(Input::Runs),
                Err(reason) => Some(Input::Notice(reason)),
            };
            let unreadable = scanner.changed_unreadable().map(Input::UnreadableRuns);
            for input in input.into_iter().chain(unreadable) {
                if inputs.blocking_send(input).is_err() {
                    return;
                }
            }
        }
    })?;
    Ok((received, wanted))
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
        let grown = self
            .journal_bytes
            .map_or(0, |before| length.saturating_sub(before));
        self.journal_bytes = Some(length);
        let is_same = summary.activity.iter().all(|bytes| *bytes == grown);
        let is_lost = summary.file.is_lost();
        let is_suspended = !is_lost && summary.file.runner.is_stopped();
        if is_same && (is_lost, is_suspended) == (summary.is_lost, summary.is_suspended) {
            return is_changed;
        }
        let summary = Arc::make_mut(summary);
        summary.activity.remove(0);
        summary.activity.push(grown);
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

    use jiff::Timestamp;
    use ralph_run::Home;

    use super::RunScanner;

    #[test]
    fn a_home_without_runs_is_an_empty_list_that_is_sent_once() {
        let directory = tempfile::tempdir().unwrap();
        let mut scanner = RunScanner::new(Home::new(directory.path().join("state"), None));
        assert_eq!(scanner.refresh(), Ok(Some(Vec::new())));
        assert_eq!(scanner.refresh(), Ok(None));
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
