//! `UsageHolds`: usage limits belong to an account, so all agents of that account wait for one reset.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::agent::Agent;
use crate::backoff::{after, fraction};
use crate::state::AgentState;

/// After the reset, the agents of an account start one after the other, so that a limit that is not yet reset, or is
/// reached again at once, is noticed by few of them.
const WAKE_STEP: Duration = Duration::from_secs(2);
const MAX_WAKE_SPREAD: Duration = Duration::from_secs(300);

/// Who pays for an agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Account {
    pub backend: String,
    /// The name that the agents give it; the user's only account of the backend by default.
    pub name: String,
}

impl Account {
    pub fn of(agent: &Agent, state: &AgentState) -> Self {
        let backend = agent.backend.as_ref().or(state.backend.as_ref());
        Self {
            backend: backend.cloned().unwrap_or_else(|| "auto".to_owned()),
            name: agent.account.clone().unwrap_or_default(),
        }
    }
}

/// One hold for each account whose usage limit is reached.
#[derive(Debug, Default)]
pub struct UsageHolds {
    accounts: HashMap<Account, Held>,
}

#[derive(Debug, Default)]
struct Held {
    until: Option<Timestamp>,
    agents: u32,
}

impl UsageHolds {
    /// Adds an agent, and what it knows about the reset of its account's limit.
    pub fn add(&mut self, account: Account, until: Option<Timestamp>) {
        let held = self.accounts.entry(account).or_default();
        held.agents += 1;
        held.until = held.until.max(until);
    }

    /// When this agent may start; `None` if that is now.
    pub fn wakes_at(&self, agent_id: &str, account: &Account, now: Timestamp) -> Option<Timestamp> {
        let held = self.accounts.get(account)?;
        let spread = WAKE_STEP
            .saturating_mul(held.agents.saturating_sub(1))
            .min(MAX_WAKE_SPREAD);
        let wakes_at = after(held.until?, spread.mul_f64(fraction(agent_id, 0)));
        (now < wakes_at).then_some(wakes_at)
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::{Account, UsageHolds};

    fn account(name: &str) -> Account {
        Account {
            backend: "one".to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn the_limit_of_one_agent_holds_all_of_its_account_and_no_others() {
        let now = Timestamp::UNIX_EPOCH;
        let reset = now + SignedDuration::from_secs(3_600);
        let mut holds = UsageHolds::default();
        holds.add(account(""), Some(reset));
        for _ in 0..99 {
            holds.add(account(""), None);
        }
        holds.add(account("work"), None);
        let wakes: Vec<Timestamp> = (0..100)
            .filter_map(|agent| holds.wakes_at(&format!("{agent}"), &account(""), now))
            .collect();
        assert_eq!(wakes.len(), 100);
        let (first, last) = (wakes.iter().min().unwrap(), wakes.iter().max().unwrap());
        assert!(*first >= reset && *last <= reset + SignedDuration::from_secs(200));
        assert!(
            last.duration_since(*first) > SignedDuration::from_secs(150),
            "staggered"
        );
        assert_eq!(holds.wakes_at("x", &account("work"), now), None);
        let later = reset + SignedDuration::from_secs(201);
        assert_eq!(holds.wakes_at("x", &account(""), later), None);
    }

    #[test]
    fn a_lone_agent_starts_at_the_reset() {
        let reset = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(60);
        let mut holds = UsageHolds::default();
        holds.add(account(""), Some(reset));
        assert_eq!(
            holds.wakes_at("x", &account(""), Timestamp::UNIX_EPOCH),
            Some(reset)
        );
        assert_eq!(holds.wakes_at("x", &account(""), reset), None);
    }
}
