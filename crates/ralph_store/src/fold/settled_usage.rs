//! `SettledUsage`: what the usage rows of a run add up to by day and model, so that `UsageRows` can subtract from them
//! when an agent reports a lower total than before.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rows::{SignedTokens, UsageRow};

/// How many groups are kept. A run that works for a month with two models has about sixty; of a longer one the oldest
/// groups become one sum.
const MAX_GROUPS: usize = 64;
const SECONDS_PER_DAY: i64 = 24 * 3600;

/// The settled rows of a run, oldest group first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SettledUsage {
    groups: Vec<Group>,
    /// The sums of groups that are no longer kept.
    older_tokens: SignedTokens,
    older_cost: i64,
}

/// The rows of one day and one model. Corrections go to the last of them, and never take more than all of them have: so
/// no day and no model ever shows a negative figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Group {
    last: UsageRow,
    tokens: SignedTokens,
    cost: i64,
}

impl SettledUsage {
    pub(super) fn add(&mut self, row: &UsageRow) {
        let cost = row.cost_micro_usd.unwrap_or(0);
        let known = self
            .groups
            .iter()
            .position(|group| group.last.model == row.model && day(group.last.at) == day(row.at));
        let mut group = match known {
            Some(index) => self.groups.remove(index),
            None => Group {
                last: row.clone(),
                tokens: SignedTokens::default(),
                cost: 0,
            },
        };
        group.tokens = group.tokens.zip(row.tokens, i64::saturating_add);
        group.cost = group.cost.saturating_add(cost);
        group.last = row.clone();
        self.groups.push(group);
        if self.groups.len() > MAX_GROUPS {
            let oldest = self.groups.remove(0);
            self.older_tokens = self.older_tokens.zip(oldest.tokens, i64::saturating_add);
            self.older_cost = self.older_cost.saturating_add(oldest.cost);
        }
    }

    /// What all rows of the run add up to.
    pub(super) fn sums(&self) -> (SignedTokens, i64) {
        let older = (self.older_tokens, self.older_cost);
        self.groups.iter().fold(older, |(tokens, cost), group| {
            (
                tokens.zip(group.tokens, i64::saturating_add),
                cost.saturating_add(group.cost),
            )
        })
    }

    /// Subtracts from the newest groups first. Returns the rows that have changed.
    pub(super) fn subtract(&mut self, mut tokens: SignedTokens, mut cost: i64) -> Vec<UsageRow> {
        let mut changed = Vec::new();
        let oldest = 0;
        for (index, group) in self.groups.iter_mut().enumerate().rev() {
            let before = group.last.clone();
            for field in SignedTokens::FIELDS {
                let due = field(&mut tokens);
                let sum = field(&mut group.tokens);
                // What belongs to groups that are no longer kept is subtracted from the oldest one.
                let taken = if index == oldest {
                    *due
                } else {
                    (*due).min((*sum).max(0))
                };
                *due -= taken;
                *sum = sum.saturating_sub(taken);
                let figure = field(&mut group.last.tokens);
                *figure = figure.saturating_sub(taken);
            }
            let taken = if index == oldest {
                cost
            } else {
                cost.min(group.cost.max(0))
            };
            if taken != 0 {
                cost -= taken;
                group.cost = group.cost.saturating_sub(taken);
                let figure = group.last.cost_micro_usd.unwrap_or(0);
                group.last.cost_micro_usd = Some(figure.saturating_sub(taken));
            }
            if group.last != before {
                changed.push(group.last.clone());
            }
        }
        changed
    }
}

fn day(at: Timestamp) -> i64 {
    at.as_second().div_euclid(SECONDS_PER_DAY)
}
