//! `Usage` and `RunUsage`: tokens and cost, of one report and of the whole run.

use agent_client::{MicroUsd, Tokens};
use serde::{Deserialize, Serialize};

/// Tokens and cost. Vendors count in different ways; all are converted to the same split, and `run` is the total of this
/// run, whatever the vendor's figures cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Usage {
    /// What `tokens` and `cost` cover.
    pub scope: UsageScope,
    /// The reported tokens, in the common split.
    pub tokens: Tokens,
    /// The reported cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The model, if the figures are for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How full the model's context is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUse>,
    /// The run's total so far. It replaces earlier totals; never add them up.
    pub run: RunUsage,
}

/// A run that costs more than this, or uses more tokens, does not exist: the figure is wrong.
const MOST_MICRO_USD: MicroUsd = MicroUsd::new(1_000_000_000_000);
const MOST_TOKENS: u64 = 1_000_000_000_000;

impl Usage {
    /// Tokens without a cost, and the run's total with them.
    #[must_use]
    pub fn new(scope: UsageScope, tokens: Tokens, run: RunUsage) -> Self {
        Self {
            scope,
            tokens,
            cost: None,
            model: None,
            context: None,
            run,
        }
    }

    /// Whether the figures can be true.
    pub(crate) fn is_plausible(&self) -> bool {
        let tokens = [self.tokens, self.run.tokens];
        let costs = [self.cost, self.run.cost];
        tokens.iter().all(|tokens| tokens.total() <= MOST_TOKENS)
            && costs
                .iter()
                .flatten()
                .all(|cost| cost.micro_usd <= MOST_MICRO_USD)
    }
}

/// What a usage report covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum UsageScope {
    /// One request to the model.
    Step,
    /// One turn.
    Turn,
    /// This process.
    Run,
    /// The whole session, with earlier runs.
    Session,
}

/// A cost and its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Cost {
    /// In millionths of a dollar.
    #[cfg_attr(feature = "ts", ts(as = "u64"))]
    pub micro_usd: MicroUsd,
    /// Where the amount comes from.
    pub source: CostSource,
}

impl Cost {
    /// A cost that the agent reported.
    #[must_use]
    pub const fn reported(micro_usd: MicroUsd) -> Self {
        let source = CostSource::Reported;
        Self { micro_usd, source }
    }
}

/// Where a cost comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// The agent reported it.
    Reported,
    /// It was computed from tokens and a price list.
    Estimated,
}

/// How full the model's context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContextUse {
    /// Tokens in the context.
    pub used: u64,
    /// How many tokens fit, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// Tokens and cost of a whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct RunUsage {
    /// Tokens, including subagents if the agent counts them.
    pub tokens: Tokens,
    /// The cost; `None` if the agent does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Whether figures are missing, because a turn is open or ended without them. Then the total is estimated from the
    /// messages so far. The estimate is usually low; broken answers that the agent does not count can make it high.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
    /// Whether `cost` may include earlier runs of a resumed session, which the agent does not separate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_include_earlier_runs: bool,
}
