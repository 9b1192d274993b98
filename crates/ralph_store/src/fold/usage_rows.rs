//! What each message of the model used, so that the sum over a run's messages is what the run used.

use std::sync::Arc;

use agent_api::{MicroUsd, Tokens};
use jiff::Timestamp;
use ralph_run::{Amount, Totals, UsageStep};

use super::state::FoldState;
use crate::rows::UsageRow;

/// The usage rows of a run. A row is filled by what the run's total grows with each report, not by what the report
/// says of itself: vendors repeat messages and tell them in pieces, and only their totals are free of that. At the end
/// of a turn the agent's own figure replaces our estimates.
#[derive(Debug, Default)]
pub(super) struct UsageRows {
    /// Rows of the open turn, and whether an index has not seen them as they are.
    open: Vec<(UsageRow, bool)>,
    /// Rows that will not change any more.
    done: Vec<UsageRow>,
    /// Nobody wants rows.
    is_off: bool,
}

/// What a row is made of besides its figures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp<'a> {
    pub(super) seq: u64,
    pub(super) at: Timestamp,
    pub(super) model: Option<&'a str>,
}

impl UsageRows {
    pub(super) fn resume(rows: Vec<UsageRow>) -> Self {
        Self {
            open: rows.into_iter().map(|row| (row, false)).collect(),
            done: Vec::new(),
            is_off: false,
        }
    }

    /// Keeps no rows from now on.
    pub(super) fn turn_off(&mut self) {
        *self = Self {
            is_off: true,
            ..Self::default()
        };
    }

    /// A report within a turn. One that names no model goes on about the message of its lane.
    pub(super) fn add(
        &mut self,
        state: &mut FoldState,
        lane: Option<&str>,
        is_new: bool,
        stamp: Stamp<'_>,
        step: UsageStep,
    ) {
        if self.is_off {
            return;
        }
        let known = state.lanes.iter().position(|(name, _)| name.as_deref() == lane);
        let row = match known {
            Some(index) if !is_new => state.lanes.get(index).map(|(_, seq)| *seq),
            _ => None,
        };
        let row = row.and_then(|seq| {
            let index = self.open.binary_search_by_key(&seq, |(row, _)| row.seq).ok()?;
            self.open.get_mut(index)
        });
        if let Some((row, is_changed)) = row {
            if step.tokens != Tokens::default() {
                add(row, step);
                *is_changed = true;
            }
            return;
        }
        if step.tokens == Tokens::default() {
            return;
        }
        let mut row = empty(stamp, self.open.last());
        add(&mut row, step);
        self.open.push((row, true));
        match known.and_then(|index| state.lanes.get_mut(index)) {
            Some((_, seq)) => *seq = stamp.seq,
            None => state.lanes.push((lane.map(str::to_owned), stamp.seq)),
        }
        state.unsettled_from.get_or_insert(stamp.seq);
    }

    /// A turn or a process has ended: `totals` is what the process has used so far.
    pub(super) fn settle(&mut self, state: &mut FoldState, stamp: Stamp<'_>, totals: &Totals) {
        if self.is_off {
            return;
        }
        let tokens = totals.tokens.since(state.rows_tokens);
        let cost = totals.cost.map(|cost| cost.saturating_sub(state.rows_cost));
        let has_something = tokens != Tokens::default() || cost.is_some_and(|cost| cost != MicroUsd::ZERO);
        if self.open.is_empty() && has_something {
            self.open.push((empty(stamp, None), true));
        }
        correct_tokens(&mut self.open, tokens);
        if let Some(cost) = cost {
            spread(&mut self.open, cost, totals.is_estimate);
        }
        for (row, is_changed) in self.open.drain(..) {
            state.rows_tokens += row.tokens;
            state.rows_cost += row.cost.unwrap_or_default();
            if is_changed {
                self.done.push(row);
            }
        }
        state.unsettled_from = None;
        state.lanes.clear();
    }

    /// Rows that an index has not seen as they are.
    pub(super) fn take(&mut self) -> Vec<UsageRow> {
        let mut rows = std::mem::take(&mut self.done);
        for (row, is_changed) in &mut self.open {
            if std::mem::take(is_changed) {
                rows.push(row.clone());
            }
        }
        rows
    }
}

/// A turn may have thousands of messages: they share their model's name with the one before.
fn empty(stamp: Stamp<'_>, before: Option<&(UsageRow, bool)>) -> UsageRow {
    let shared = before
        .and_then(|(row, _)| row.model.clone())
        .filter(|model| Some(&**model) == stamp.model);
    UsageRow {
        seq: stamp.seq,
        at: stamp.at,
        model: shared.or_else(|| stamp.model.map(Arc::from)),
        tokens: Tokens::default(),
        cost: None,
        is_estimate: false,
    }
}

fn add(row: &mut UsageRow, step: UsageStep) {
    row.tokens += step.tokens;
    let amount = Amount {
        cost: row.cost,
        is_estimate: row.is_estimate,
    };
    let amount = amount + step.price;
    row.cost = amount.cost;
    row.is_estimate = amount.is_estimate;
}

type Field = fn(&mut Tokens) -> &mut u64;

const FIELDS: [Field; 5] = [
    |tokens| &mut tokens.input,
    |tokens| &mut tokens.cache_read,
    |tokens| &mut tokens.cache_write,
    |tokens| &mut tokens.output,
    |tokens| &mut tokens.reasoning,
];

/// Makes the rows add up: what is missing is the last one's, what is too much is taken back from the end.
fn correct_tokens(rows: &mut [(UsageRow, bool)], mut target: Tokens) {
    for field in FIELDS {
        let target = *field(&mut target);
        let sum = rows
            .iter_mut()
            .fold(0_u64, |sum, (row, _)| sum.saturating_add(*field(&mut row.tokens)));
        if let (true, Some((row, is_changed))) = (sum < target, rows.last_mut()) {
            *field(&mut row.tokens) += target - sum;
            *is_changed = true;
        }
        let mut excess = sum.saturating_sub(target);
        for (row, is_changed) in rows.iter_mut().rev() {
            if excess == 0 {
                break;
            }
            let count = field(&mut row.tokens);
            let taken = excess.min(*count);
            *count -= taken;
            excess -= taken;
            *is_changed = true;
        }
    }
}

/// Shares money out among rows, by our estimates, else by their tokens; the last one has what is left.
fn spread(rows: &mut [(UsageRow, bool)], cost: MicroUsd, is_estimate: bool) {
    let by_cost = rows
        .iter()
        .any(|(row, _)| row.cost.is_some_and(|cost| cost != MicroUsd::ZERO));
    let weight = |row: &UsageRow| {
        u128::from(if by_cost {
            row.cost.unwrap_or_default().as_micro_usd()
        } else {
            row.tokens.total()
        })
    };
    let all: u128 = rows.iter().map(|(row, _)| weight(row)).sum();
    let (mut weight_so_far, mut given) = (0_u128, 0_u128);
    let count = rows.len();
    for (index, (row, is_changed)) in rows.iter_mut().enumerate() {
        weight_so_far += weight(row);
        let whole = u128::from(cost.as_micro_usd());
        // In running sums, so that rounding neither loses nor makes a cent.
        let due = if index + 1 == count {
            whole
        } else {
            (whole * weight_so_far).checked_div(all).unwrap_or(0)
        };
        let share = MicroUsd::new(u64::try_from(due.saturating_sub(given)).unwrap_or(u64::MAX));
        given = due.max(given);
        *is_changed |= row.cost != Some(share) || row.is_estimate != is_estimate;
        row.cost = Some(share);
        row.is_estimate = is_estimate;
    }
}
