//! `UsageRows`: what each message of the model used, so that the rows of a run add up to the run's totals.

use std::sync::Arc;

use agent_api::Tokens;
use jiff::Timestamp;
use ralph_run::{Amount, Totals, UsageStep};

use super::state::FoldState;
use crate::columns::integer;
use crate::rows::{SignedTokens, UsageRow};

/// The usage rows of a run. A row is filled by what the run's total grows with each report, not by what the report
/// says of itself: vendors repeat messages and report them in parts, and only their totals are free of that. At the end
/// of a turn the agent's own figure replaces our estimates.
#[derive(Debug, Default)]
pub(super) struct UsageRows {
    /// Rows of the open turn, and whether an index has not seen them as they are.
    open: Vec<(UsageRow, bool)>,
    /// Rows of ended turns that an index has not seen as they are.
    done: Vec<UsageRow>,
    /// The caller wants no rows.
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

    /// Adds a report within a turn. One that names no model continues the message of its lane.
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

    /// Ends a turn or a process: `totals` is what the process has used so far.
    pub(super) fn settle(&mut self, state: &mut FoldState, stamp: Stamp<'_>, totals: &Totals) {
        if self.is_off {
            return;
        }
        let tokens = SignedTokens::from(totals.tokens).zip(state.rows_tokens, i64::saturating_sub);
        let cost = totals
            .cost
            .map(|cost| integer(cost.as_micro_usd()).saturating_sub(state.rows_cost));
        self.settle_open(state, stamp, tokens, cost, totals.is_estimate);
    }

    /// Ends the run: all its rows together become its totals, whatever its processes reported.
    pub(super) fn settle_run(&mut self, state: &mut FoldState, stamp: Stamp<'_>, totals: &Totals) {
        if self.is_off {
            return;
        }
        let (rows_tokens, rows_cost) = state.settled.sums();
        let tokens = SignedTokens::from(totals.tokens).zip(rows_tokens, i64::saturating_sub);
        let cost = totals
            .cost
            .map(|cost| integer(cost.as_micro_usd()).saturating_sub(rows_cost));
        self.settle_open(state, stamp, tokens, cost, totals.is_estimate);
    }

    /// Makes the open rows add up to these figures. Where a figure is negative, the open rows become zero and the rest is
    /// subtracted from earlier rows.
    fn settle_open(
        &mut self,
        state: &mut FoldState,
        stamp: Stamp<'_>,
        mut tokens: SignedTokens,
        cost: Option<i64>,
        is_estimate: bool,
    ) {
        let has_more = SignedTokens::FIELDS.iter().any(|field| *field(&mut tokens) > 0);
        if self.open.is_empty() && (has_more || cost.is_some_and(|cost| cost > 0)) {
            self.open.push((empty(stamp, None), true));
        }
        correct_tokens(&mut self.open, tokens);
        if let Some(cost) = cost {
            spread(&mut self.open, cost.max(0), is_estimate);
        }
        for (row, is_changed) in self.open.drain(..) {
            state.rows_tokens = state.rows_tokens.zip(row.tokens, i64::saturating_add);
            state.rows_cost = state.rows_cost.saturating_add(row.cost_micro_usd.unwrap_or(0));
            state.settled.add(&row);
            if is_changed {
                self.done.push(row);
            }
        }
        self.subtract(state, tokens, cost.unwrap_or(0));
        state.unsettled_from = None;
        state.lanes.clear();
    }

    /// Subtracts what is negative from rows that were settled before.
    fn subtract(&mut self, state: &mut FoldState, tokens: SignedTokens, cost: i64) {
        let excess = tokens.zip(SignedTokens::default(), |due, _| due.min(0).saturating_neg());
        let cost_excess = cost.min(0).saturating_neg();
        if excess == SignedTokens::default() && cost_excess == 0 {
            return;
        }
        state.rows_tokens = state.rows_tokens.zip(excess, i64::saturating_sub);
        state.rows_cost = state.rows_cost.saturating_sub(cost_excess);
        for row in state.settled.subtract(excess, cost_excess) {
            self.done.retain(|known| known.seq != row.seq);
            self.done.push(row);
        }
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

/// An empty row. A turn may have thousands of messages: they share their model's name with the one before.
fn empty(stamp: Stamp<'_>, before: Option<&(UsageRow, bool)>) -> UsageRow {
    let shared = before
        .and_then(|(row, _)| row.model.clone())
        .filter(|model| Some(&**model) == stamp.model);
    UsageRow {
        seq: stamp.seq,
        at: stamp.at,
        model: shared.or_else(|| stamp.model.map(Arc::from)),
        tokens: SignedTokens::default(),
        cost_micro_usd: None,
        is_estimate: false,
    }
}

fn add(row: &mut UsageRow, step: UsageStep) {
    row.tokens = row.tokens.zip(step.tokens.into(), i64::saturating_add);
    let Amount { cost, is_estimate } = step.price;
    if let Some(cost) = cost {
        let known = row.cost_micro_usd.unwrap_or(0);
        row.cost_micro_usd = Some(known.saturating_add(integer(cost.as_micro_usd())));
    }
    row.is_estimate |= is_estimate;
}

/// Makes rows add up to `target`: what is missing is added to the last one, what is too much is subtracted from the end.
/// No row becomes negative, so a negative target leaves zeros.
fn correct_tokens(rows: &mut [(UsageRow, bool)], mut target: SignedTokens) {
    for field in SignedTokens::FIELDS {
        let target = (*field(&mut target)).max(0);
        let sum = rows
            .iter_mut()
            .fold(0_i64, |sum, (row, _)| sum.saturating_add(*field(&mut row.tokens)));
        if let (true, Some((row, is_changed))) = (sum < target, rows.last_mut()) {
            *field(&mut row.tokens) += target - sum;
            *is_changed = true;
        }
        let mut excess = sum.saturating_sub(target);
        for (row, is_changed) in rows.iter_mut().rev() {
            if excess <= 0 {
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

/// Shares a cost out among rows by our estimates, or by their tokens if there are none; the last row gets what is left.
fn spread(rows: &mut [(UsageRow, bool)], cost: i64, is_estimate: bool) {
    let by_cost = rows
        .iter()
        .any(|(row, _)| row.cost_micro_usd.is_some_and(|cost| cost != 0));
    let weight = |row: &UsageRow| {
        i128::from(if by_cost {
            row.cost_micro_usd.unwrap_or(0)
        } else {
            row.tokens.total()
        })
    };
    let all: i128 = rows.iter().map(|(row, _)| weight(row)).sum();
    let (mut weight_so_far, mut given) = (0_i128, 0_i128);
    let count = rows.len();
    for (index, (row, is_changed)) in rows.iter_mut().enumerate() {
        weight_so_far += weight(row);
        let whole = i128::from(cost);
        // In running sums, so that rounding neither loses nor adds a cent. Where figures are absurdly high, the last row
        // gets everything.
        let due = if index + 1 == count {
            whole
        } else {
            let part = whole.checked_mul(weight_so_far);
            part.and_then(|part| part.checked_div(all)).unwrap_or(given)
        };
        let share = i64::try_from(due - given).unwrap_or(i64::MAX);
        given = due;
        *is_changed |= row.cost_micro_usd != Some(share) || row.is_estimate != is_estimate;
        row.cost_micro_usd = Some(share);
        row.is_estimate = is_estimate;
    }
}
