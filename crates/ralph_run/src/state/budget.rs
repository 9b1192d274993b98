//! `budget.json`: what a task has cost over all its runs.

use agent_api::MicroUsd;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a task has cost over all its runs, and what it may cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct BudgetState {
    /// Names the task; none for runs without one.
    pub task: Option<String>,
    /// What it has cost so far.
    pub total_cost: MicroUsd,
    /// What it may cost.
    pub max_cost: Option<MicroUsd>,
    /// Prompts so far.
    pub iterations: u32,
    /// How many there may be.
    pub max_iterations: Option<u32>,
    /// How much of it is whose: the runs that added to it last, the newest at the end.
    pub booked: Vec<Booked>,
    /// What others keep here.
    pub other: Map<String, Value>,
}

/// How much of an account is a run's. It is written together with the sum, so that no crash lets it be added twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Booked {
    pub run_id: String,
    #[serde(rename = "micro_usd")]
    pub cost: MicroUsd,
}

/// The `accounted_cost` in `run.json` covers runs that are older than these.
const MAX_BOOKED: usize = 32;

impl BudgetState {
    /// This account, if it is the task's; otherwise an empty one for the task.
    #[must_use]
    pub fn for_task(self, task: Option<&str>) -> Self {
        if self.task.as_deref() == task {
            return self;
        }
        Self {
            task: task.map(str::to_owned),
            other: self.other,
            ..Self::default()
        }
    }

    /// Makes `cost` what the run has added in all. A smaller sum than before changes nothing, so it does not matter who
    /// books a run, how often, and in which order. `accounted` is what the run itself knows to be in here.
    pub fn book(&mut self, run_id: &str, cost: MicroUsd, accounted: MicroUsd) {
        let place = self.booked.iter().position(|booked| booked.run_id == run_id);
        let known = place.map_or(MicroUsd::ZERO, |place| self.booked.remove(place).cost);
        let mut before = known.max(accounted);
        if self.total_cost < before {
            // The account was started again since.
            before = cost.max(before);
        }
        let added = cost.saturating_sub(before);
        self.total_cost = match self.task {
            Some(_) => self.total_cost + added,
            // Runs without a task are not added up.
            None => cost,
        };
        self.booked.push(Booked {
            run_id: run_id.to_owned(),
            cost: cost.max(before),
        });
        let excess = self.booked.len().saturating_sub(MAX_BOOKED);
        self.booked.drain(..excess);
    }
}

/// The account as it stands in the file: people and other programs know these names, and dollars.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Written {
    task: Option<String>,
    total_cost_usd: f64,
    max_cost_usd: Option<f64>,
    iterations: u32,
    max_iterations: Option<u32>,
    /// One that makes no sense is as good as none, and no reason to put the whole account aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    booked: Option<Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl From<BudgetState> for Written {
    fn from(state: BudgetState) -> Self {
        Self {
            task: state.task,
            total_cost_usd: state.total_cost.as_usd(),
            max_cost_usd: state.max_cost.map(MicroUsd::as_usd),
            iterations: state.iterations,
            max_iterations: state.max_iterations,
            booked: match state.booked.as_slice() {
                [] => None,
                booked => serde_json::to_value(booked).ok(),
            },
            other: state.other,
        }
    }
}

impl TryFrom<Written> for BudgetState {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        Ok(Self {
            task: written.task,
            total_cost: from_dollars(written.total_cost_usd)?,
            max_cost: written.max_cost_usd.map(from_dollars).transpose()?,
            iterations: written.iterations,
            max_iterations: written.max_iterations,
            booked: written.booked.map(read_booked).unwrap_or_default(),
            other: written.other,
        })
    }
}

/// Earlier versions kept the last run only.
fn read_booked(value: Value) -> Vec<Booked> {
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let read = values.into_iter().map(serde_json::from_value);
    read.filter_map(Result::ok).collect()
}

/// Exact to the millionth in this range. What is outside is not a sum of money.
fn from_dollars(usd: f64) -> Result<MicroUsd, &'static str> {
    if (0.0..=1e9).contains(&usd) {
        Ok(MicroUsd::new((usd * 1e6).round() as u64))
    } else {
        Err("not a sum of money")
    }
}
