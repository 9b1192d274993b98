//! `Rule`: what a `ralph.yml` that is not trusted may do with each key. A key without a rule needs trust.

use serde::{Deserialize, Serialize};

/// Which values of a key hold without trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// All of them.
    Allowed,
    /// Paths within the workspace.
    InWorkspace,
    /// Limits that are not above the default. `0`, no limit, is above every default but none.
    Limit,
    /// Only these values. They restrict the agent, whatever else holds.
    Only(&'static [&'static str], Risk),
    /// All but these. Of a mapping or a list with commas, every part counts.
    Except(&'static [&'static str], Risk),
    /// None but the default.
    NeedsTrust(Risk),
}

/// What the author of a file could do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Run a program.
    Executes,
    /// Let the agent use another program, model, account, address or conversation.
    Redirects,
    /// Let the agent do more without asking.
    Permits,
    /// Change the agent's instructions.
    Instructs,
    /// Let a run use more than the default.
    RaisesLimit,
    /// Read a file outside of the workspace.
    ReadsOutside,
    /// Keep something out of sight.
    Hides,
    /// Send notifications to an address.
    Sends,
    /// Choose which mode works, and so its tools and instructions.
    ChoosesMode,
    /// Continue a conversation instead of starting one.
    KeepsSession,
    /// The key has no rule.
    Unclassified,
}

impl Risk {
    /// For people, after a key and its value.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Executes => "runs a program",
            Self::Redirects => "changes what the agent connects to",
            Self::Permits => "lets the agent do more without asking",
            Self::Instructs => "changes the agent's instructions",
            Self::RaisesLimit => "raises a limit",
            Self::ReadsOutside => "reads a file outside of the workspace",
            Self::Hides => "hides output",
            Self::Sends => "sends messages to an address",
            Self::ChoosesMode => "chooses the mode of the next iteration",
            Self::KeepsSession => "continues an earlier conversation",
            Self::Unclassified => "is not known to be safe",
        }
    }
}

/// The rule of a key, in the form of the settings reference: `verify`, `cli.env`, `modes.*.tools`. `None` for a key
/// that nobody has classified.
pub fn rule_of(key: &str) -> Option<Rule> {
    use Risk::{ChoosesMode, Executes, Hides, Instructs, KeepsSession, Permits, Redirects, Sends};
    Some(match key {
        // They start programs, or change what a program does.
        "cli.command" | "cli.args" | "acp.command" | "acp.args" | "verify" | "worktree.setup" => Rule::NeedsTrust(Executes),
        // A variable can name another server, another account or a library to load.
        "cli.env" | "acp.env" => Rule::NeedsTrust(Redirects),
        // Agents differ in who is asked and which provider sees the code.
        "cli.backend" | "model" | "modes.*.model" | "auth" => Rule::NeedsTrust(Redirects),
        // With `arg`, everybody on the machine can read the prompt.
        "cli.prompt_mode" | "cli.prompt_flag" | "cli.output_format" => Rule::NeedsTrust(Redirects),
        "transport" | "accepts_input" => Rule::NeedsTrust(Redirects),
         // A remote branch is fetched.
         "worktree.base" => Rule::NeedsTrust(Redirects),
        "pty_mode" => Rule::Only(&["false"], Redirects),
        "modes.*.session" => Rule::NeedsTrust(KeepsSession),
        // A list of tools also approves them, and a mode has such a list.
        "modes.*.next" => Rule::NeedsTrust(ChoosesMode),
        "mode" | "tools" | "allowed_tools" | "modes.*.tools" | "modes.*.allowed_tools" => {
            Rule::NeedsTrust(Permits)
        }
        // The others permit more than `ask`, which holds where a person or the server can answer.
        "permission_mode" | "modes.*.permission_mode" => Rule::Only(&["ask", "plan", "refuse"], Permits),
        "denials" => Rule::NeedsTrust(Permits),
        "allow_secrets" => Rule::NeedsTrust(Permits),
        "system_prompt"
        | "append_system_prompt"
        | "system_prompt_file"
        | "append_system_prompt_file"
        | "modes.*.system_prompt_file"
        | "modes.*.append_system_prompt_file"
        // Unlike the prompt of a loop, it is added to a prompt that the user wrote.
        | "modes.*.prompt"
        | "modes.*.prompt_file" => Rule::NeedsTrust(Instructs),
        // What matches is neither shown nor recorded: `.*` would hide a whole run.
        "redact" | "quiet" => Rule::NeedsTrust(Hides),
        "event_loop.prompt_file" => Rule::InWorkspace,
        "event_loop.prompt" | "event_loop.completion_promise" => Rule::Allowed,
        "event_loop.max_iterations"
        | "event_loop.max_cost_usd"
        | "event_loop.max_runtime_seconds"
        | "event_loop.iteration_timeout_seconds"
        | "event_loop.max_turns"
        | "event_loop.max_tokens"
        | "event_loop.max_consecutive_failures"
        | "max_wait"
        | "verify_timeout"
        | "worktree.setup_timeout"
        | "idle_timeout"
        // A person who does not answer in time has denied: without a limit, a run waits for ever.
        | "ask_timeout" => Rule::Limit,
        // Asking restricts the agent.
        "ask" => Rule::Allowed,
        "event_loop.cooldown_delay_seconds" | "modes.*.once" => Rule::Allowed,
        "memory" | "partials" | "verbose" | "tui" | "theme" => Rule::Allowed,
        // It shows what an agent does outside of its task, so the task's author must not turn it off.
        "watch" => Rule::Only(&["true"], Hides),
        // Thresholds and the other actions run nothing.
        "watch.out_of_scope"
        | "watch.silence"
        | "watch.repeated_call"
        | "watch.repeated_failure"
        | "watch.repeated_answer"
        | "watch.flipped_file"
        | "watch.burn_rate"
        | "watch.context"
        | "watch.unknown_events" => Rule::Except(&["off", "false"], Hides),
        // It only restricts.
        "watch.scope" => Rule::Allowed,
        // Only files of the same checkout, which an agent without a worktree has anyway.
        "worktree.copy" => Rule::Allowed,
        "notify" => Rule::Only(&["true"], Hides),
        "notify.command" | "notify.desktop" => Rule::NeedsTrust(Executes),
        "notify.webhook" | "notify.webhook_secret_env" => Rule::NeedsTrust(Sends),
        // What it leaves out is not sent.
        "notify.on" => Rule::NeedsTrust(Hides),
        "notify.bell" => Rule::Allowed,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Risk, Rule, rule_of};
    use crate::settings::{SETTINGS, mode_keys};

    #[test]
    fn every_key_of_the_settings_has_a_rule() {
        let keys = SETTINGS
            .iter()
            .map(|setting| setting.key.to_owned())
            // They are looked at one by one.
            .filter(|key| !key.is_empty() && key != "modes")
            .chain(mode_keys().map(|key| format!("modes.*.{key}")));
        for key in keys {
            let rule = rule_of(&key);
            assert!(
                rule.is_some(),
                "say in trust/rule.rs what `{key}` may do without trust"
            );
            let is_unclassified = matches!(
                rule,
                Some(
                    Rule::NeedsTrust(Risk::Unclassified)
                        | Rule::Only(_, Risk::Unclassified)
                        | Rule::Except(_, Risk::Unclassified)
                )
            );
            assert!(!is_unclassified, "{key}");
        }
        assert_eq!(rule_of("hooks"), None);
    }
}
