//! `RunTable`: the runs in the order of the home screen, and the cursor, which is a run's id and never a row.
//!
//! Sorting, filtering and counting happen when the runs or the filter change. A key that moves the cursor and a frame
//! look at single rows only.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use ralph_run::model::RunState;

use super::run_filter::{RunFilter, StateGroup, search_text, waits_for_message};
use crate::input::RunSummary;
use crate::widgets::ListScroll;

#[derive(Debug, Default)]
pub(super) struct RunTable {
    runs: Vec<Entry>,
    /// The place of each run in `runs`, by id.
    places: HashMap<String, usize>,
    /// Places in `runs` of those that pass the filter, in the order of the list.
    order: Vec<usize>,
    /// How many runs are in each group, whatever the filter.
    counts: [usize; StateGroup::ALL.len()],
    selected: Option<String>,
    /// The row of the selected run, if it passes the filter.
    selected_row: Option<usize>,
    /// A run that is selected as soon as it is there, unless the user moves before.
    wanted: Option<String>,
    /// Where the selected run was in the list, for the case that it disappears.
    last_row: usize,
    /// Whether the selected run disappeared and the cursor went to another one, which the user did not choose.
    has_strayed: bool,
    /// The state in which a run was snoozed. In another one, it is not any more.
    snoozed: HashMap<String, RunState>,
    pub(super) filter: RunFilter,
    pub(super) scroll: ListScroll,
    /// How often all runs were looked at.
    #[cfg(test)]
    pub(super) scans: usize,
}

#[derive(Debug)]
struct Entry {
    run: Arc<RunSummary>,
    /// What the filter looks at, in lower case, once it was needed.
    search_text: Option<String>,
}

type SortKey = (StateGroup, Rank, Reverse<Timestamp>);

/// Within a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    First,
    /// A conversation can wait longer than a request.
    WaitsForMessage,
    Snoozed,
}

impl RunTable {
    pub(super) fn set_runs(&mut self, runs: impl Iterator<Item = Arc<RunSummary>>) {
        let mut before = std::mem::take(&mut self.runs);
        let runs: Vec<Entry> = runs
            .map(|run| {
                let place = self.places.get(&run.file.run_id);
                let known = place.and_then(|place| before.get_mut(*place));
                // A run that has not changed is the same object.
                let known = known.filter(|known| Arc::ptr_eq(&known.run, &run));
                let search_text = known.and_then(|known| known.search_text.take());
                Entry { run, search_text }
            })
            .collect();
        // Almost every refresh has the same runs in the same order: hashing a thousand ids would delay a key.
        let is_at = |(place, entry): (usize, &Entry)| self.places.get(&entry.run.file.run_id) == Some(&place);
        if self.places.len() != runs.len() || !(0..).zip(&runs).all(is_at) {
            self.places = (0..)
                .zip(&runs)
                .map(|(place, entry)| (entry.run.file.run_id.clone(), place))
                .collect();
        }
        self.runs = runs;
        self.counts = [0; StateGroup::ALL.len()];
        for entry in &self.runs {
            if let Some(count) = self.counts.get_mut(StateGroup::of(&entry.run) as usize) {
                *count += 1;
            }
        }
        let mut snoozed = std::mem::take(&mut self.snoozed);
        snoozed.retain(|id, state| self.run(id).is_some_and(|run| run.file.status.state == *state));
        self.snoozed = snoozed;
        let before = self.selected.clone();
        let is_gone = |list: &Self| before.is_some() && list.selected != before;
        let had_wanted = self.wanted.is_some();
        self.refresh();
        if is_gone(self) {
            // A run that was wanted is there now.
            self.has_strayed = !(had_wanted && self.wanted.is_none());
        }
    }

    /// Whether the run under the cursor disappeared and the user has not moved the cursor since.
    pub(super) fn has_strayed(&self) -> bool {
        self.has_strayed
    }

    /// Filters and sorts again. The cursor stays on its run.
    pub(super) fn refresh(&mut self) {
        #[cfg(test)]
        {
            self.scans += 1;
        }
        let words = self.filter.words();
        if !words.is_empty() {
            for entry in &mut self.runs {
                let run = &entry.run;
                entry.search_text.get_or_insert_with(|| search_text(&run.file));
            }
        }
        let mut keyed: Vec<(SortKey, usize)> = (0..)
            .zip(&self.runs)
            .filter(|(_, entry)| {
                let text = entry.search_text.as_deref().unwrap_or_default();
                self.filter.passes(&entry.run, text, &words)
            })
            .map(|(place, entry)| (self.sort_key(&entry.run), place))
            .collect();
        let id = |place: usize| self.runs.get(place).map(|entry| entry.run.file.run_id.as_str());
        keyed.sort_unstable_by(|(one, place), (other, other_place)| {
            one.cmp(other).then_with(|| id(*other_place).cmp(&id(*place)))
        });
        self.order = keyed.into_iter().map(|(_, place)| place).collect();
        if let Some(wanted) = self.wanted.take_if(|wanted| self.places.contains_key(wanted)) {
            self.selected = Some(wanted);
        }
        self.selected_row = self.row_of_selected();
        match self.selected_row {
            Some(row) => self.last_row = row,
            None => self.select_row(self.last_row),
        }
    }

    fn row_of_selected(&self) -> Option<usize> {
        let place = self.places.get(self.selected.as_deref()?)?;
        self.order.iter().position(|other| other == place)
    }

    /// Groups, and in a group what changed last first. Activity does not count, so that rows do not jump.
    fn sort_key(&self, run: &RunSummary) -> SortKey {
        let file = &run.file;
        let group = StateGroup::of(run);
        let at = match group {
            StateGroup::NeedsPerson => file.status.state_since,
            StateGroup::Active => None,
            StateGroup::Ended => file.ended_at.or(file.status.state_since),
        };
        let is_snoozed = self.is_snoozed(run);
        let group = match is_snoozed {
            true => StateGroup::Active,
            false => group,
        };
        let rank = if is_snoozed {
            Rank::Snoozed
        } else if group == StateGroup::NeedsPerson && waits_for_message(&file.status.state) {
            Rank::WaitsForMessage
        } else {
            Rank::First
        };
        (group, rank, Reverse(at.unwrap_or(file.started_at)))
    }

    pub(super) fn is_snoozed(&self, run: &RunSummary) -> bool {
        self.snoozed.get(&run.file.run_id) == Some(&run.file.status.state)
    }

    /// Moves the selected run below the active ones until its state changes, or back. `false` if it does not wait for the user.
    pub(super) fn toggle_snooze(&mut self) -> bool {
        let Some(run) = self.selected() else { return false };
        let (id, state) = (run.file.run_id.clone(), run.file.status.state.clone());
        if StateGroup::of(run) != StateGroup::NeedsPerson {
            return false;
        }
        if self.snoozed.remove(&id).is_none() {
            self.snoozed.insert(id, state);
        }
        self.refresh();
        true
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// All runs, whatever the filter.
    pub(super) fn total(&self) -> usize {
        self.runs.len()
    }

    pub(super) fn count(&self, group: StateGroup) -> usize {
        self.counts.get(group as usize).copied().unwrap_or(0)
    }

    pub(super) fn row(&self, row: usize) -> Option<&RunSummary> {
        let entry = self.runs.get(*self.order.get(row)?)?;
        Some(&entry.run)
    }

    pub(super) fn run(&self, id: &str) -> Option<&RunSummary> {
        let entry = self.runs.get(*self.places.get(id)?)?;
        Some(&entry.run)
    }

    pub(super) fn selected(&self) -> Option<&RunSummary> {
        self.row(self.selected_row?)
    }

    pub(super) fn selected_id(&self) -> Option<&str> {
        self.selected().map(|run| run.file.run_id.as_str())
    }

    pub(super) fn selected_row(&self) -> Option<usize> {
        self.selected_row
    }

    /// The row, or the last one.
    pub(super) fn go_to_row(&mut self, row: usize) {
        self.wanted = None;
        self.has_strayed = false;
        self.select_row(row);
    }

    fn select_row(&mut self, row: usize) {
        let row = row.min(self.order.len().saturating_sub(1));
        self.selected = self.row(row).map(|run| run.file.run_id.clone());
        self.selected_row = self.selected.is_some().then_some(row);
        self.last_row = row;
    }

    /// Selects a run, now or when it appears.
    pub(super) fn select(&mut self, id: &str) {
        self.wanted = Some(id.to_owned());
        self.has_strayed = false;
        self.refresh();
    }

    pub(super) fn move_by(&mut self, rows: isize) {
        let row = self.selected_row.unwrap_or(self.last_row);
        self.go_to_row(row.saturating_add_signed(rows));
    }
}
