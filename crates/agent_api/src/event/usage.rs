//! Tokens and money.

use std::ops::{Add, AddAssign};

use claude_code::MicroUsd;
use serde::{Deserialize, Serialize};

/// What was used. Vendors count in different ways; here all are converted to one split, and `run` is the run's own
/// total, whatever the vendor's figure covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Usage {
    /// What `tokens` and `cost` cover.
    pub scope: UsageScope,
    /// As reported, in the canonical split.
    pub tokens: Tokens,
    /// As reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The model, where the figures are of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How full the model's context is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUse>,
    /// The run's total so far. Replaces earlier totals; never to be added up.
    pub run: RunUsage,
}

/// What a report covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum UsageScope {
    /// One call of the model.
    Step,
    /// One turn.
    Turn,
    /// This process.
    Run,
    /// The whole conversation, earlier runs included.
    Session,
}

/// Tokens by what they cost. `reasoning` is part of `output`, the others do not overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct Tokens {
    /// Read by the model, neither from nor into the cache.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Read by the model and written to the cache.
    pub cache_write: u64,
    /// Written by the model, thinking included.
    pub output: u64,
    /// The part of `output` that was thinking, where the vendor says.
    pub reasoning: u64,
}

impl Tokens {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.input, self.cache_read, self.cache_write, self.output]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// What is new since an earlier total.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            cache_read: self.cache_read.saturating_sub(earlier.cache_read),
            cache_write: self.cache_write.saturating_sub(earlier.cache_write),
            output: self.output.saturating_sub(earlier.output),
            reasoning: self.reasoning.saturating_sub(earlier.reasoning),
        }
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// An amount of money and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Cost {
    /// In millionths of a dollar.
    #[cfg_attr(feature = "ts", ts(as = "u64"))]
    pub micro_usd: MicroUsd,
    /// Who says so.
    pub source: CostSource,
}

/// Who says what something cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The agent.
    Reported,
    /// Computed from tokens and a price list.
    Estimated,
}

/// How full the model's context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContextUse {
    /// Tokens in it.
    pub used: u64,
    /// How many fit, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// The total of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct RunUsage {
    /// Tokens, subagents included where the agent counts them.
    pub tokens: Tokens,
    /// What it cost; none where the agent does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Whether something is still missing: a turn is open, or its figures never came. Then it is an estimate from the
    /// messages so far, a low one as a rule; it can be high by answers that broke and that the agent does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// Whether `cost` may include earlier runs of a resumed session, because nothing tells them apart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_include_earlier_runs: bool,
}

#[cfg(test)]
mod tests {
    use super::Tokens;

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens {
            input,
            cache_read: 2,
            cache_write: 3,
            output,
            reasoning: output,
        }
    }

    #[test]
    fn reasoning_is_part_of_the_output_and_counted_once() {
        assert_eq!(tokens(1, 4).total(), 10);
    }

    #[test]
    fn what_is_new_adds_up_to_the_total() {
        let (earlier, total) = (tokens(5, 6), tokens(50, 60));
        assert_eq!(earlier + total.since(earlier), total);
    }

    #[test]
    fn absurd_figures_neither_overflow_nor_turn_negative() {
        let most = tokens(u64::MAX, u64::MAX);
        assert_eq!((most + most).total(), u64::MAX);
        assert_eq!(tokens(1, 1).since(most).total(), 0);
    }
}
