//! `TextLag`: how many records the text index lacks, kept by both engines between two comparisons of all runs.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::rows::Batch;

/// How many records the text index lacks: those that were missing at the last comparison of all runs, and those that
/// were taken in since, for each run.
#[derive(Debug, Default)]
pub(crate) struct TextLag(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// Not known by run.
    rest: u64,
    runs: HashMap<String, u64>,
}

/// Records of some runs.
pub(crate) type Lacking = Vec<(String, u64)>;

impl TextLag {
    pub(crate) fn new(rest: u64) -> Self {
        let lag = Self::default();
        lag.set(rest);
        lag
    }

    /// All runs were compared: this is what is missing.
    pub(crate) fn set(&self, rest: u64) {
        *self.lock() = Counts {
            rest,
            runs: HashMap::new(),
        };
    }

    /// How many records batches have, for [`Self::add`] once they are in the index.
    pub(crate) fn count(batches: &[Batch]) -> Lacking {
        let counts = batches.iter().filter(|batch| !batch.records.is_empty());
        counts
            .map(|batch| (batch.summary.id.clone(), batch.records.len() as u64))
            .collect()
    }

    /// These records were taken in and have no text yet.
    pub(crate) fn add(&self, new: Lacking) {
        let mut counts = self.lock();
        for (run, records) in new {
            *counts.runs.entry(run).or_default() += records;
        }
    }

    /// What these runs lack now, for [`Self::settle`] once their text is indexed.
    pub(crate) fn of(&self, runs: &[String]) -> Lacking {
        let counts = self.lock();
        let lacking = runs
            .iter()
            .filter_map(|run| Some((run.clone(), *counts.runs.get(run)?)));
        lacking.collect()
    }

    /// The text of these records is indexed.
    pub(crate) fn settle(&self, indexed: Lacking) {
        let mut counts = self.lock();
        for (run, records) in indexed {
            if let Some(left) = counts.runs.get_mut(&run) {
                *left = left.saturating_sub(records);
                if *left == 0 {
                    counts.runs.remove(&run);
                }
            }
        }
    }

    /// These runs were removed.
    pub(crate) fn forget(&self, runs: &[String]) {
        let mut counts = self.lock();
        for run in runs {
            counts.runs.remove(run);
        }
    }

    /// What each run lacks, and whether that is all: what was missing when the index was opened is not known by run.
    pub(crate) fn by_run(&self) -> (HashMap<String, u64>, bool) {
        let counts = self.lock();
        (counts.runs.clone(), counts.rest == 0)
    }

    pub(crate) fn total(&self) -> u64 {
        let counts = self.lock();
        counts.runs.values().sum::<u64>() + counts.rest
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What these runs lack together.
pub(crate) fn total_of(lacking: &HashMap<String, u64>, runs: &HashSet<String>) -> u64 {
    runs.iter().filter_map(|run| lacking.get(run)).sum()
}
