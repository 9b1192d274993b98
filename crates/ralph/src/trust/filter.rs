//! `filter`: the settings of a `ralph.yml` that apply. The only place that decides.

use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::load::Decision;
use super::render::{show, show_variable};
use super::rule::{Risk, Rule, rule_of};
use crate::settings::{ConfigFile, FileEntry, SETTINGS, Setting, SettingsError};

/// A setting of a file that is not trusted, and what it would do. Both texts are safe for a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub key: String,
    pub value: String,
    pub why: Risk,
}

/// The part of a file that holds, and what was left out. A trusted file holds as a whole.
pub fn filter(file: &ConfigFile, decision: &Decision) -> Result<(ConfigFile, Vec<LeftOut>), SettingsError> {
    if *decision == Decision::Trusted {
        return Ok((file.clone(), Vec::new()));
    }
    let left_out = file.entries().into_iter().flat_map(|entry| match judge(&entry) {
        Verdict::Holds | Verdict::IsDefault => Vec::new(),
        Verdict::NeedsTrust(risk) => describe(&entry, risk),
    });
    let left_out = left_out.collect();
    let allowed = file.clone().retain(|entry| judge(entry) == Verdict::Holds)?;
    Ok((allowed, left_out))
}

/// What a key of a file could do, if it needs trust.
pub(super) fn risk(entry: &FileEntry) -> Option<Risk> {
    match judge(entry) {
        Verdict::Holds | Verdict::IsDefault => None,
        Verdict::NeedsTrust(risk) => Some(risk),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    /// It says what holds anyway. It is left out all the same, because the default can depend on other settings:
    /// `permission_mode: bypass` must not overrule `--ask`.
    IsDefault,
    NeedsTrust(Risk),
}

fn judge(entry: &FileEntry) -> Verdict {
    let values = || entry.values.iter().map(String::as_str);
    let needs = |risk| match is_default(entry) {
        true => Verdict::IsDefault,
        false => Verdict::NeedsTrust(risk),
    };
    match rule_of(&entry.setting) {
        Some(Rule::Allowed) => Verdict::Holds,
        Some(Rule::InWorkspace) if values().all(is_within) => Verdict::Holds,
        Some(Rule::InWorkspace) => Verdict::NeedsTrust(Risk::ReadsOutside),
        Some(Rule::Limit) if values().all(|value| is_within_default(&entry.setting, value)) => Verdict::Holds,
        Some(Rule::Limit) => Verdict::NeedsTrust(Risk::RaisesLimit),
        Some(Rule::Only(allowed, _)) if values().all(|value| allowed.contains(&value.trim())) => {
            Verdict::Holds
        }
        Some(Rule::Except(refused, _)) if !values().any(|value| has_word(value, refused)) => Verdict::Holds,
        Some(Rule::Only(_, risk) | Rule::Except(_, risk) | Rule::NeedsTrust(risk)) => needs(risk),
        None => needs(Risk::Unclassified),
    }
}

/// Whether a part of `notify, times 3` or `action off` is one of these words, with or without a name before it.
fn has_word(value: &str, words: &[&str]) -> bool {
    let mut parts = value.split(',').filter_map(|part| part.split_whitespace().last());
    parts.any(|word| words.contains(&word))
}

/// One item for each command of a list.
fn describe(entry: &FileEntry, why: Risk) -> Vec<LeftOut> {
    let item = |value: String| LeftOut {
        key: show(&entry.key),
        value,
        why,
    };
    if let Some(name) = variable_name(entry) {
        let value = entry.values.first().map(|value| show_variable(name, value));
        return vec![item(value.unwrap_or_else(|| "(removed)".to_owned()))];
    }
    if matches!(why, Risk::Executes | Risk::Hides) {
        return entry.values.iter().map(|line| item(show(line))).collect();
    }
    vec![item(show(&entry.values.join(", ")))]
}

fn variable_name(entry: &FileEntry) -> Option<&str> {
    let is_variable = entry.setting.ends_with(".env");
    let name = entry
        .key
        .strip_prefix(entry.setting.as_str())?
        .strip_prefix('.')?;
    is_variable.then_some(name)
}

/// Whether a path stays below the workspace. Links are not looked at: the agent can follow them anyway.
fn is_within(path: &str) -> bool {
    let parts = Path::new(path).components();
    let mut parts = parts.map(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    parts.all(|is_below| is_below)
}

fn is_within_default(key: &str, value: &str) -> bool {
    let Some(setting) = setting(key) else { return false };
    // No limit is the largest one.
    let limit =
        |text: &str| (setting.amount)(text).map(|amount| if amount == 0 { u128::MAX } else { amount });
    matches!((limit(value), limit(setting.default)), (Some(value), Some(default)) if value <= default)
}

fn is_default(entry: &FileEntry) -> bool {
    let Some(setting) = setting(&entry.setting) else {
        return false;
    };
    match entry.values.as_slice() {
        // An empty list sets nothing; a variable without a value is removed.
        [] => variable_name(entry).is_none(),
        [value] => {
            let normal = |text: &str| (setting.normal)(text).filter(|_| !text.is_empty());
            normal(value).is_some_and(|value| Some(value) == normal(setting.default))
        }
        _ => false,
    }
}

fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{LeftOut, filter};
    use crate::settings::{ConfigFile, SETTINGS, mode_keys};
    use crate::trust::{Decision, Reason, Risk, Rule, rule_of};

    fn file(text: &str) -> ConfigFile {
        ConfigFile::parse(Path::new("/repo/ralph.yml"), text).unwrap()
    }

    /// What is left out, as `key: value`.
    fn left_out(text: &str) -> Vec<String> {
        let (_, left_out) = filter(&file(text), &Decision::Untrusted(Reason::New)).unwrap();
        left_out
            .iter()
            .map(|LeftOut { key, value, .. }| format!("{key}: {value}"))
            .collect()
    }

    #[test]
    fn limits_prompt_and_promise_hold() {
        let text = "event_loop:\n  prompt: Do it.\n  completion_promise: DONE\n  max_iterations: 5\n  max_cost_usd: 2.50\n  \
                    max_runtime_seconds: 1h\n  iteration_timeout_seconds: 10m\n  max_turns: 7\n  max_tokens: 1000\n  \
                    cooldown_delay_seconds: 5\nask: true\nverbose: true\npermission_mode: plan\n";
        let (allowed, left_out) = filter(&file(text), &Decision::Untrusted(Reason::New)).unwrap();
        assert_eq!(left_out, []);
        assert_eq!(allowed, file(text));
        assert_eq!(self::left_out("event_loop: {prompt_file: tasks/a.md}"), [""; 0]);
    }

    #[test]
    fn a_limit_may_be_lowered_and_not_raised_or_removed() {
        for text in [
            "event_loop: {max_iterations: 51}",
            "event_loop: {max_iterations: 0}",
            "event_loop: {max_cost_usd: 10.01}",
            "event_loop: {max_cost_usd: 0}",
            "event_loop: {max_runtime_seconds: 0}",
            "event_loop: {max_consecutive_failures: 4}",
            "idle_timeout: 0",
            "ask_timeout: 16m",
            "ask_timeout: 0",
        ] {
            assert_eq!(left_out(text).len(), 1, "{text}");
        }
        for text in [
            "event_loop: {max_iterations: 50}",
            "event_loop: {max_cost_usd: $10}",
            "ask_timeout: 15m",
            "event_loop: {max_turns: 0, max_tokens: 0, iteration_timeout_seconds: 0}",
        ] {
            assert_eq!(left_out(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_executes_redirects_or_permits_is_left_out_and_shown() {
        let text = "backend: custom\ncli:\n  command: ./agent\n  args: [--fast, \"-x y\"]\n  env: {ANTHROPIC_BASE_URL: \
                    https://example.invalid, PATH: , GITHUB_TOKEN: 0123456789abc}\nverify: [make test, ./check.sh]\n\
                    permission_mode: accept-edits\ntools: [Read, Bash]\nmodes:\n  mine: {tools: [Bash], once: true}\n  \
                    brief: {once: true}\nevent_loop: {prompt_file: ../../secret}\n";
        let (allowed, left_out) = filter(&file(text), &Decision::Untrusted(Reason::New)).unwrap();
        let shown: Vec<String> = left_out
            .iter()
            .map(|LeftOut { key, value, why }| format!("{key}: {value} ({})", why.explain()))
            .collect();
        assert_eq!(
            shown,
            [
                "cli.backend: custom (changes what the agent connects to)",
                "cli.command: ./agent (runs a program)",
                "cli.args: --fast (runs a program)",
                "cli.args: -x y (runs a program)",
                "cli.env.ANTHROPIC_BASE_URL: https://example.invalid (changes what the agent connects to)",
                "cli.env.PATH: (removed) (changes what the agent connects to)",
                "cli.env.GITHUB_TOKEN: [a secret of 13 characters] (changes what the agent connects to)",
                "verify: make test (runs a program)",
                "verify: ./check.sh (runs a program)",
                "permission_mode: accept-edits (lets the agent do more without asking)",
                "tools: Read, Bash (lets the agent do more without asking)",
                "modes.mine.tools: Bash (lets the agent do more without asking)",
                "event_loop.prompt_file: ../../secret (reads a file outside of the workspace)",
            ]
        );
        // A mode that lost its tool list would have all tools: it is not there at all.
        let kept: Vec<String> = allowed.entries().into_iter().map(|entry| entry.key).collect();
        assert_eq!(kept, ["modes.brief.once"]);
    }

    #[test]
    fn a_trusted_file_holds_as_a_whole() {
        let text = "verify: make test\nevent_loop: {max_cost_usd: 0}\n";
        assert_eq!(
            filter(&file(text), &Decision::Trusted).unwrap(),
            (file(text), Vec::new())
        );
    }

    #[test]
    fn a_value_that_is_the_default_needs_no_trust_and_does_not_hold() {
        let text = "backend: auto\npermission_mode: bypass\ndenials: fail\nauth: inherit\ntransport: auto\nquiet: false\nverify: []\n";
        let (allowed, left_out) = filter(&file(text), &Decision::Untrusted(Reason::New)).unwrap();
        assert_eq!(left_out, []);
        assert!(allowed.entries().is_empty(), "{:?}", allowed.entries());
    }

    #[test]
    fn a_rule_of_the_watchdog_may_be_changed_and_not_turned_off() {
        for rule in [
            "off",
            "false",
            "\"off, times 2\"",
            "action off",
            "{action: off, times: 2}",
        ] {
            let text = format!("watch: {{repeated_call: {rule}}}");
            assert!(!left_out(&text).is_empty(), "{text}");
        }
        for rule in [
            "stop",
            "notify",
            "\"interrupt, times 9\"",
            "{action: stop, times: 2}",
            "{times: 4}",
        ] {
            let text = format!("watch: {{repeated_call: {rule}}}");
            assert_eq!(left_out(&text), [""; 0], "{text}");
        }
        assert_eq!(left_out("watch: {out_of_scope: stop}"), [""; 0]);
    }

    /// Sets each key to something that is not its default, and looks at what is left.
    #[test]
    fn of_every_key_that_needs_trust_nothing_is_left() {
        let sample = |key: &str| match key {
            "cli.env" | "acp.env" => "{A: b}",
            "cli.backend" => "codex",
            "cli.prompt_mode" => "arg",
            "cli.output_format" => "stream-json",
            "permission_mode" | "modes.*.permission_mode" => "accept-edits",
            "auth" => "login",
            "transport" => "pty",
            "denials" => "continue",
            "pty_mode" | "quiet" | "allow_secrets" | "accepts_input" => "true",
            "modes.*.session" => "keep",
            "watch" | "notify" => "false",
            "notify.on" => "[ended]",
            "notify.desktop" => "true",
            "notify.webhook" => "https://example.invalid",
            key if key.starts_with("watch.") => "off",
            _ => "something",
        };
        let keys = SETTINGS.iter().map(|setting| setting.key.to_owned());
        let keys = keys.filter(|key| !key.is_empty() && key != "modes");
        for key in keys.chain(mode_keys().map(|key| format!("modes.*.{key}"))) {
            let risk = match rule_of(&key) {
                Some(Rule::NeedsTrust(risk) | Rule::Only(_, risk) | Rule::Except(_, risk)) => risk,
                None => Risk::Unclassified,
                Some(Rule::Allowed | Rule::InWorkspace | Rule::Limit) => continue,
            };
            let parts: Vec<&str> = key
                .split('.')
                .map(|part| if part == "*" { "mine" } else { part })
                .collect();
            let text = format!(
                "{{{}: {}{}",
                parts.join(": {"),
                sample(&key),
                "}".repeat(parts.len())
            );
            let (allowed, left_out) = filter(&file(&text), &Decision::Untrusted(Reason::New)).unwrap();
            assert!(allowed.entries().is_empty(), "{text}: {:?}", allowed.entries());
            assert!(
                !left_out.is_empty() && left_out.iter().all(|it| it.why == risk),
                "{text}: {left_out:?}"
            );
        }
    }
}
