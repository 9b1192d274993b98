//! `limit_silence`: when a silent agent is stopped. The rule `watch.silence` must find it first, or it has no effect.

use std::time::Duration;

use agent_api::{Profile, RunOptions};
use ralph_run::watchdog::{SilenceRule, WatchAction};

/// How much later than the rule the agent is stopped: time for its user to look, or for the agent to react to an
/// interrupt.
const REACTION_TIME: Duration = Duration::from_secs(4 * 60);

/// Sets the limits of silence. Never earlier than the agent's own; without a rule, or without own limits, it sets none.
pub(super) fn limit_silence(options: &mut RunOptions, rule: SilenceRule, profile: &Profile) {
    if rule.action == WatchAction::Off {
        return;
    }
    let later = |threshold: Duration, own: Option<Duration>| {
        let own = own.filter(|_| !threshold.is_zero())?;
        Some(threshold.saturating_add(REACTION_TIME).max(own))
    };
    options.inactivity_limit = later(rule.after, profile.inactivity_limit);
    options.tool_inactivity_limit = later(rule.during_call, profile.tool_inactivity_limit());
}

#[cfg(test)]
mod tests {
    use super::limit_silence;
    use agent_api::{AgentKind, Profile, RunOptions};
    use ralph_run::watchdog::{SilenceRule, WatchAction};
    use std::time::Duration;

    const MINUTE: Duration = Duration::from_secs(60);

    fn limits(rule: SilenceRule, own: Option<Duration>) -> (Option<Duration>, Option<Duration>) {
        let mut profile = Profile::new(AgentKind::DEMO, "Demo");
        profile.inactivity_limit = own;
        let mut options = RunOptions::new();
        limit_silence(&mut options, rule, &profile);
        (options.inactivity_limit, options.tool_inactivity_limit)
    }

    #[test]
    fn a_silent_agent_is_stopped_clearly_after_the_rule_has_found_it() {
        for action in [WatchAction::Notify, WatchAction::Interrupt, WatchAction::Stop] {
            let rule = SilenceRule {
                action,
                ..SilenceRule::default()
            };
            let found = limits(rule, Some(6 * MINUTE));
            assert_eq!(found, (Some(10 * MINUTE), Some(34 * MINUTE)), "{action:?}");
        }
    }

    #[test]
    fn the_limits_are_never_earlier_than_those_of_the_agent() {
        let rule = SilenceRule {
            after: MINUTE,
            during_call: MINUTE,
            action: WatchAction::Notify,
        };
        assert_eq!(
            limits(rule, Some(6 * MINUTE)),
            (Some(6 * MINUTE), Some(15 * MINUTE))
        );
        assert_eq!(
            limits(rule, Some(30 * MINUTE)),
            (Some(30 * MINUTE), Some(30 * MINUTE))
        );
        // It may be silent for ever.
        assert_eq!(limits(rule, None), (None, None));
    }

    #[test]
    fn without_the_rule_the_limits_of_the_agent_hold() {
        let off = SilenceRule {
            action: WatchAction::Off,
            ..SilenceRule::default()
        };
        assert_eq!(limits(off, Some(6 * MINUTE)), (None, None));
        let only_calls = SilenceRule {
            after: Duration::ZERO,
            ..SilenceRule::default()
        };
        assert_eq!(limits(only_calls, Some(6 * MINUTE)), (None, Some(34 * MINUTE)));
    }
}
