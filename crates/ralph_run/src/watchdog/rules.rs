//! `WatchRules`: the thresholds and actions of the watchdog. Made from the settings under `watch:`.

use std::time::Duration;

use agent_api::MicroUsd;
use serde::{Deserialize, Serialize};

use super::scope::Scope;

/// What follows from a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatchAction {
    /// The rule is not checked.
    Off,
    /// A warning.
    #[default]
    Notify,
    /// A warning; the turn is interrupted and the agent is told why.
    Interrupt,
    /// A warning; the run ends.
    Stop,
}

/// The rules of a run.
#[derive(Debug, Clone, Default)]
pub struct WatchRules {
    pub silence: SilenceRule,
    pub repeated_call: RepeatRule,
    pub repeated_failure: RepeatRule,
    /// Counts iterations.
    pub repeated_answer: RepeatRule<2>,
    /// Counts how often a change was undone or made again.
    pub flipped_file: RepeatRule<2>,
    pub burn_rate: BurnRule,
    pub out_of_scope: ScopeRule,
    pub context: ContextRule,
    pub unknown_events: PlainRule,
}

#[derive(Debug, Clone, Copy)]
pub struct SilenceRule {
    /// While the model works.
    pub after: Duration,
    /// While a tool call is open.
    pub during_call: Duration,
    pub action: WatchAction,
}

/// Found when something happened this many times; `TIMES` is the default.
#[derive(Debug, Clone, Copy)]
pub struct RepeatRule<const TIMES: u32 = 3> {
    pub times: u32,
    pub action: WatchAction,
}

#[derive(Debug, Clone, Copy)]
pub struct BurnRule {
    /// How many times the run's median.
    pub factor: u32,
    /// Less than this within the window is never too much.
    pub at_least: MicroUsd,
    /// The time over which the current rate is measured.
    pub window: Duration,
    pub action: WatchAction,
}

#[derive(Debug, Clone, Default)]
pub struct ScopeRule {
    /// Where the agent may change files; without one, in the whole workspace.
    pub scope: Option<Scope>,
    pub action: WatchAction,
}

#[derive(Debug, Clone, Copy)]
pub struct ContextRule {
    pub percent: u32,
    pub action: WatchAction,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct PlainRule {
    pub action: WatchAction,
}

impl WatchRules {
    /// No rule is checked.
    pub fn off() -> Self {
        let mut rules = Self::default();
        for action in rules.actions_mut() {
            *action = WatchAction::Off;
        }
        rules
    }

    fn actions_mut(&mut self) -> [&mut WatchAction; 9] {
        [
            &mut self.silence.action,
            &mut self.repeated_call.action,
            &mut self.repeated_failure.action,
            &mut self.repeated_answer.action,
            &mut self.flipped_file.action,
            &mut self.burn_rate.action,
            &mut self.out_of_scope.action,
            &mut self.context.action,
            &mut self.unknown_events.action,
        ]
    }
}

impl Default for SilenceRule {
    fn default() -> Self {
        Self {
            after: Duration::from_secs(6 * 60),
            during_call: Duration::from_secs(30 * 60),
            action: WatchAction::default(),
        }
    }
}

impl<const TIMES: u32> Default for RepeatRule<TIMES> {
    fn default() -> Self {
        Self {
            times: TIMES,
            action: WatchAction::default(),
        }
    }
}

impl Default for BurnRule {
    fn default() -> Self {
        Self {
            factor: 3,
            at_least: MicroUsd::new(1_000_000),
            window: Duration::from_secs(5 * 60),
            action: WatchAction::default(),
        }
    }
}

impl Default for ContextRule {
    fn default() -> Self {
        Self {
            percent: 90,
            action: WatchAction::default(),
        }
    }
}
