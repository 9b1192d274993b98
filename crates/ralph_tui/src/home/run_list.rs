//! `RunList`: the runs in the order of the home screen, and the cursor, which is a run's id and never a row.

use std::cmp::Reverse;
use std::collections::HashMap;

use jiff::Timestamp;
use ralph_run::model::RunState;

use super::run_filter::{RunFilter, StateGroup};
use crate::input::RunSummary;
use crate::widgets::ListScroll;

#[derive(Debug, Default)]
pub(super) struct RunList {
    runs: Vec<RunSummary>,
    /// Places in `runs` of those that pass the filter, in the order of the list.
    order: Vec<usize>,
    selected: Option<String>,
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
}

impl RunList {
    pub(super) fn set_runs(&mut self, runs: Vec<RunSummary>) {
        self.runs = runs;
        let runs = &self.runs;
        self.snoozed.retain(|id, state| {
            runs.iter()
                .any(|run| run.file.run_id == *id && run.file.status.state == *state)
        });
        let before = self.selected.clone();
        let is_gone = |list: &Self| before.is_some() && list.selected != before;
        let had_wanted = self.wanted.is_some();
        self.refresh();
        if is_gone(self) {
            // A run that was wanted is there now.
            self.has_strayed = !(had_wanted && self.wanted.is_none());
        }
    }

    /// Whether nobody has moved the cursor since its run disappeared.
    pub(super) fn has_strayed(&self) -> bool {
        self.has_strayed
    }

    /// Filters and sorts again. The cursor stays on its run.
    pub(super) fn refresh(&mut self) {
        let words = self.filter.words();
        let mut order: Vec<usize> = (0..self.runs.len())
            .filter(|place| {
                let run = self.runs.get(*place);
                run.is_some_and(|run| self.filter.passes(run, &words))
            })
            .collect();
        order.sort_by_cached_key(|place| self.runs.get(*place).map(|run| self.sort_key(run)));
        self.order = order;
        if let Some(wanted) = self
            .wanted
            .take_if(|wanted| self.runs.iter().any(|run| run.file.run_id == *wanted))
        {
            self.selected = Some(wanted);
        }
        match self.selected_row() {
            Some(row) => self.last_row = row,
            None => self.select_row(self.last_row),
        }
    }

    /// Groups, and in a group what changed last first. Activity does not count, so that rows do not jump.
    fn sort_key(&self, run: &RunSummary) -> (StateGroup, bool, Reverse<Timestamp>, Reverse<String>) {
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
        (
            group,
            is_snoozed,
            Reverse(at.unwrap_or(file.started_at)),
            Reverse(file.run_id.clone()),
        )
    }

    pub(super) fn is_snoozed(&self, run: &RunSummary) -> bool {
        self.snoozed.get(&run.file.run_id) == Some(&run.file.status.state)
    }

    /// Moves the selected run below the active ones until its state changes, or back. `false` if it waits for nobody.
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
        self.runs
            .iter()
            .filter(|run| StateGroup::of(run) == group)
            .count()
    }

    pub(super) fn row(&self, row: usize) -> Option<&RunSummary> {
        self.runs.get(*self.order.get(row)?)
    }

    pub(super) fn run(&self, id: &str) -> Option<&RunSummary> {
        self.runs.iter().find(|run| run.file.run_id == id)
    }

    pub(super) fn selected(&self) -> Option<&RunSummary> {
        self.row(self.selected_row()?)
    }

    pub(super) fn selected_id(&self) -> Option<&str> {
        self.selected().map(|run| run.file.run_id.as_str())
    }

    pub(super) fn selected_row(&self) -> Option<usize> {
        let selected = self.selected.as_deref()?;
        (0..self.order.len()).find(|row| self.row(*row).is_some_and(|run| run.file.run_id == selected))
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
        self.last_row = row;
    }

    /// Selects a run, now or when it appears.
    pub(super) fn select(&mut self, id: &str) {
        self.wanted = Some(id.to_owned());
        self.has_strayed = false;
        self.refresh();
    }

    pub(super) fn move_by(&mut self, rows: isize) {
        let row = self.selected_row().unwrap_or(self.last_row);
        self.go_to_row(row.saturating_add_signed(rows));
    }
}
