//! `BudgetState`: the account of a task over all its runs, and of the other tasks of a workspace. Kept in `budget.json`.

use agent_api::MicroUsd;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a task has cost over all its runs, and what it may cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BudgetFile", into = "BudgetFile")]
pub struct BudgetState {
    /// `None` for runs without a task.
    pub task: Option<String>,
    pub total_cost: MicroUsd,
    pub max_cost: Option<MicroUsd>,
    pub iterations: u32,
    pub max_iterations: Option<u32>,
    /// The runs that added to `total_cost` last, the newest at the end.
    pub charged: Vec<ChargedRun>,
    /// The accounts of other tasks, the one that was used last at the end.
    pub other_tasks: Vec<BudgetState>,
    /// Fields of other versions of ralph.
    pub other: Map<String, Value>,
}

/// How much of an account is a run's. It is written together with the sum, so that no crash lets it be added twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChargedRun {
    pub run_id: String,
    #[serde(rename = "micro_usd")]
    pub cost: MicroUsd,
}

/// The `accounted_cost` in `run.json` covers runs that are older than these.
const MAX_CHARGED: usize = 32;
/// The same for accounts of other tasks, so that a file with many of them stays small.
const MAX_CHARGED_OTHER: usize = 4;
const MAX_OTHER_TASKS: usize = 200;
/// The account of a task with a longer name is not kept while other tasks are worked on.
const MAX_TASK_BYTES: usize = 1024;

impl BudgetState {
    /// The account of a task, which starts at 0 if there is none. The account that was open before is kept beside it.
    #[must_use]
    pub fn for_task(mut self, task: Option<&str>) -> Self {
        if self.task.as_deref() == task {
            return self;
        }
        let mut other_tasks = std::mem::take(&mut self.other_tasks);
        let known = other_tasks
            .iter()
            .rposition(|account| account.task.as_deref() == task);
        let opened = known.map(|place| other_tasks.remove(place));
        let other = std::mem::take(&mut self.other);
        other_tasks.retain(|account| account.task != self.task);
        let is_short = self.task.as_ref().is_none_or(|task| task.len() <= MAX_TASK_BYTES);
        if is_short && self != Self::default() {
            drop_oldest(&mut self.charged, MAX_CHARGED_OTHER);
            other_tasks.push(self);
        }
        drop_oldest(&mut other_tasks, MAX_OTHER_TASKS);
        Self {
            task: task.map(str::to_owned),
            other_tasks,
            other,
            ..opened.unwrap_or_default()
        }
    }

    /// Starts the account again at 0. What runs have added before stays known, so that it is not added again.
    pub fn reset(&mut self) {
        self.total_cost = MicroUsd::ZERO;
        self.iterations = 0;
    }

    /// Makes `cost` what the run has added in all. A smaller sum than before changes nothing, so a run can be charged by
    /// several processes, repeatedly and in any order. `accounted` is what `run.json` says was added already.
    pub fn charge(&mut self, run_id: &str, cost: MicroUsd, accounted: MicroUsd) {
        let place = self.charged.iter().position(|run| run.run_id == run_id);
        let known = place.map_or(MicroUsd::ZERO, |place| self.charged.remove(place).cost);
        let mut before = known.max(accounted);
        if self.total_cost < before {
            // The account was reset since.
            before = cost.max(before);
        }
        let added = cost.saturating_sub(before);
        self.total_cost = match self.task {
            Some(_) => self.total_cost + added,
            // Runs without a task are not added up.
            None => cost,
        };
        self.charged.push(ChargedRun {
            run_id: run_id.to_owned(),
            cost: cost.max(before),
        });
        drop_oldest(&mut self.charged, MAX_CHARGED);
    }
}

fn drop_oldest<T>(list: &mut Vec<T>, max: usize) {
    let excess = list.len().saturating_sub(max);
    list.drain(..excess);
}

/// The file, with the names and dollars that people and other programs know. The account that was used last is at the
/// top, those of other tasks are in `other_tasks`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct BudgetFile {
    task: Option<String>,
    total_cost_usd: f64,
    max_cost_usd: Option<f64>,
    iterations: u32,
    max_iterations: Option<u32>,
    /// An invalid one is ignored: the rest of the account still counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    booked: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_tasks: Vec<BudgetFile>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

impl From<BudgetState> for BudgetFile {
    fn from(state: BudgetState) -> Self {
        Self {
            task: state.task,
            total_cost_usd: state.total_cost.as_usd(),
            max_cost_usd: state.max_cost.map(MicroUsd::as_usd),
            iterations: state.iterations,
            max_iterations: state.max_iterations,
            booked: match state.charged.as_slice() {
                [] => None,
                charged => serde_json::to_value(charged).ok(),
            },
            other_tasks: state.other_tasks.into_iter().map(Self::from).collect(),
            other: state.other,
        }
    }
}

impl TryFrom<BudgetFile> for BudgetState {
    type Error = &'static str;

    fn try_from(file: BudgetFile) -> Result<Self, Self::Error> {
        let other_tasks = file.other_tasks.into_iter().map(Self::try_from);
        Ok(Self {
            task: file.task,
            total_cost: from_dollars(file.total_cost_usd)?,
            max_cost: file.max_cost_usd.map(from_dollars).transpose()?,
            iterations: file.iterations,
            max_iterations: file.max_iterations,
            charged: file.booked.map(read_charged).unwrap_or_default(),
            other_tasks: other_tasks.collect::<Result<_, _>>()?,
            other: file.other,
        })
    }
}

/// Earlier versions kept the last run only.
fn read_charged(value: Value) -> Vec<ChargedRun> {
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let read = values.into_iter().map(serde_json::from_value);
    read.filter_map(Result::ok).collect()
}

/// Exact to the millionth in this range. What is outside is not an amount of money.
fn from_dollars(usd: f64) -> Result<MicroUsd, &'static str> {
    if (0.0..=1e9).contains(&usd) {
        Ok(MicroUsd::new((usd * 1e6).round() as u64))
    } else {
        Err("not an amount of money")
    }
}
