//! `StartUsage`: how many runs of a token, or of the server, are live, and what they cost today.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ralph_store::{CostGroup, CostQuery, MAX_LIMIT, RunSummary};

use super::ledger::Starting;
use crate::app::App;
use crate::problem::Problem;

/// How many runs are live, and what they cost today.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StartUsage {
    pub(super) live_runs: u32,
    /// What they have cost today, ended ones included.
    pub(super) spent_micro_usd: u64,
    /// What live ones may still cost before they reach their limits.
    pub(super) reserved_micro_usd: u64,
}

impl StartUsage {
    pub(super) fn committed(&self) -> u64 {
        self.spent_micro_usd.saturating_add(self.reserved_micro_usd)
    }
}

/// What is known about all runs in the moment before a start.
pub(super) struct Figures {
    /// The live ones, with what is known about them.
    live: HashMap<String, Option<RunSummary>>,
    starting: Vec<Starting>,
    /// What each run has cost today, if that was asked for.
    today: HashMap<String, u64>,
    midnight: Timestamp,
}

impl Figures {
    /// # Errors
    /// If the costs of today are needed and the index is away: nobody may spend more because of that.
    pub(super) async fn read(app: &App, needs_costs: bool) -> Result<Self, Problem> {
        let unreadable = |error| Problem::internal("cannot list the active runs", &error);
        // Before the active ones: a start that is done meanwhile is then in both lists, and not in none.
        let mut starting = app.starts.starting();
        let active = app.journals.active().await.map_err(unreadable)?;
        let mut live = HashMap::new();
        for run in active {
            let summary = match app.live.board().get(&run) {
                Some(summary) => Some(summary.as_ref().clone()),
                // Without the index it counts, and what it may still cost is not known.
                None if needs_costs => app.store.run(&run).await?,
                None => None,
            };
            if !summary
                .as_ref()
                .is_some_and(|summary| summary.activity.has_ended())
            {
                live.insert(run, summary);
            }
        }
        let midnight = midnight_before(Timestamp::now());
        // Of a run without a record, only its start says what it may cost.
        starting.retain(|starting| live.get(&starting.run).is_none_or(Option::is_none));
        live.retain(|run, _| !starting.iter().any(|starting| starting.run == *run));
        let mut figures = Self {
            starting,
            live,
            today: HashMap::new(),
            midnight,
        };
        if needs_costs {
            figures.today = costs_since(app, midnight).await?;
            // The index comes a little later than what is followed live, also for runs that have just ended.
            for summary in app.live.board().all() {
                figures.note_cost(&summary);
            }
        }
        Ok(figures)
    }

    /// Of a run that began today, all that it has cost is of today.
    fn note_cost(&mut self, summary: &RunSummary) {
        if summary.started_at < self.midnight {
            return;
        }
        let cost = summary.totals.cost.map_or(0, |cost| cost.as_micro_usd());
        let known = self.today.entry(summary.id.clone()).or_default();
        *known = cost.max(*known);
    }

    pub(super) fn is_live(&self, run: &str) -> bool {
        self.live.contains_key(run)
    }

    /// The usage of these runs; of all if absent.
    pub(super) fn usage_of(&self, runs: Option<&HashSet<String>>) -> StartUsage {
        let counts = |run: &str| runs.is_none_or(|runs| runs.contains(run));
        let mut usage = StartUsage::default();
        for (_, summary) in self.live.iter().filter(|(run, _)| counts(run)) {
            usage.live_runs = usage.live_runs.saturating_add(1);
            let Some(summary) = summary else { continue };
            let cost = summary.totals.cost.map_or(0, |cost| cost.as_micro_usd());
            let left = summary.max_cost_micro_usd.unwrap_or(0).saturating_sub(cost);
            usage.reserved_micro_usd = usage.reserved_micro_usd.saturating_add(left);
        }
        for starting in self.starting.iter().filter(|starting| counts(&starting.run)) {
            usage.live_runs = usage.live_runs.saturating_add(1);
            let left = starting.cost_ceiling_micro_usd.unwrap_or(0);
            usage.reserved_micro_usd = usage.reserved_micro_usd.saturating_add(left);
        }
        let spent = self.today.iter().filter(|(run, _)| counts(run));
        usage.spent_micro_usd = spent.fold(0, |sum, (_, cost)| sum.saturating_add(*cost));
        usage
    }
}

async fn costs_since(app: &App, since: Timestamp) -> Result<HashMap<String, u64>, Problem> {
    let mut costs = HashMap::new();
    let mut query = CostQuery {
        since: Some(since),
        group: CostGroup::Run,
        limit: MAX_LIMIT,
        ..CostQuery::default()
    };
    loop {
        let rows = app.store.costs(&query).await?;
        let is_full = rows.len() >= MAX_LIMIT;
        query.after = rows.last().map(|row| row.key.clone());
        costs.extend(rows.into_iter().map(|row| (row.key, row.cost.as_micro_usd())));
        if !is_full {
            return Ok(costs);
        }
    }
}

fn midnight_before(now: Timestamp) -> Timestamp {
    let day = now.to_zoned(TimeZone::UTC).start_of_day();
    day.map_or(now, |day| day.timestamp())
}

#[cfg(test)]
mod tests {
    use super::midnight_before;

    #[test]
    fn a_day_begins_at_midnight_in_utc() {
        let now = "2026-11-16T23:59:59.5Z".parse().unwrap();
        assert_eq!(midnight_before(now), "2026-11-16T00:00:00Z".parse().unwrap());
    }
}
