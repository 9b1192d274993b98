//! `WatchRule`: the value of a setting under `watch`, and `WatchSettings`, the resolved ones. `ralph run` gives them to the
//! run as `WatchRules`.

use std::time::Duration;

use agent_api::MicroUsd;
use ralph_run::watchdog::{
    BurnRule, ContextRule, PlainRule, RepeatRule, Scope, ScopeError, ScopeRule, SilenceRule, WatchAction,
    WatchRules,
};
use serde::{Deserialize, Serialize};

use super::kind::{Value, show_duration, wrong_kind};
use super::layer::Layer as _;
use super::table::SettingsLayer;
use super::values::{excerpt, parse_count, parse_duration, parse_money};
use crate::settings::SettingsError;
use yaml_tree::{Entry, Node, Problem, Value as Yaml};

/// An action and thresholds. What is absent has its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchRule {
    pub action: Option<WatchAction>,
    pub after: Option<Duration>,
    pub during_call: Option<Duration>,
    pub times: Option<u32>,
    pub factor: Option<u32>,
    pub at_least: Option<MicroUsd>,
    pub window: Option<Duration>,
    pub percent: Option<u32>,
}

const ACTIONS: [(&str, WatchAction); 4] = [
    ("notify", WatchAction::Notify),
    ("interrupt", WatchAction::Interrupt),
    ("stop", WatchAction::Stop),
    ("off", WatchAction::Off),
];

/// The thresholds of each rule.
fn thresholds(key: &str) -> &'static [&'static str] {
    match key {
        "watch.silence" => &["after", "during_call"],
        "watch.repeated_call" | "watch.repeated_failure" | "watch.repeated_answer" | "watch.flipped_file" => {
            &["times"]
        }
        "watch.burn_rate" => &["factor", "at_least", "window"],
        "watch.context" => &["percent"],
        _ => &[],
    }
}

impl WatchRule {
    fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        match name {
            "action" => self.action = Some(parse_action(text)?),
            "after" => self.after = Some(parse_duration(text)?),
            "during_call" => self.during_call = Some(parse_duration(text)?),
            "times" => self.times = Some(at_least(2, parse_count(text)?)?),
            "factor" => self.factor = Some(at_least(2, parse_count(text)?)?),
            "at_least" => self.at_least = Some(parse_money(text)?),
            "window" => {
                let window = parse_duration(text)?;
                if window < Duration::from_secs(1) {
                    return Err("must be at least 1s".to_owned());
                }
                self.window = Some(window);
            }
            "percent" => {
                let percent = parse_count(text.trim_end_matches('%').trim_end())?;
                if percent > 100 {
                    return Err("must be at most 100%".to_owned());
                }
                self.percent = Some(at_least(1, percent)?);
            }
            _ => return Err(format!("has no `{}`", excerpt(name))),
        }
        Ok(())
    }

    /// The names of what is set, apart from the action.
    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let names = [
            ("after", self.after.is_some()),
            ("during_call", self.during_call.is_some()),
            ("times", self.times.is_some()),
            ("factor", self.factor.is_some()),
            ("at_least", self.at_least.is_some()),
            ("window", self.window.is_some()),
            ("percent", self.percent.is_some()),
        ];
        names
            .into_iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(name, _)| name)
    }

    fn or(self, other: Self) -> Self {
        Self {
            action: self.action.or(other.action),
            after: self.after.or(other.after),
            during_call: self.during_call.or(other.during_call),
            times: self.times.or(other.times),
            factor: self.factor.or(other.factor),
            at_least: self.at_least.or(other.at_least),
            window: self.window.or(other.window),
            percent: self.percent.or(other.percent),
        }
    }

    fn action(&self) -> WatchAction {
        self.action.unwrap_or_default()
    }

    fn repeat<const TIMES: u32>(&self) -> RepeatRule<TIMES> {
        RepeatRule {
            times: self.times.unwrap_or(TIMES),
            action: self.action(),
        }
    }
}

fn at_least(least: u32, number: u32) -> Result<u32, String> {
    match number >= least {
        true => Ok(number),
        false => Err(format!("must be at least {least}")),
    }
}

fn parse_action(text: &str) -> Result<WatchAction, String> {
    let text = text.trim();
    let named = ACTIONS.iter().find(|(name, _)| *name == text);
    match (named, text) {
        (Some((_, action)), _) => Ok(*action),
        (None, "false") => Ok(WatchAction::Off),
        (None, "true" | "on") => Ok(WatchAction::Notify),
        (None, _) => Err(format!(
            "must be one of notify, interrupt, stop, off, not `{}`",
            excerpt(text)
        )),
    }
}

impl Value for WatchRule {
    fn describe() -> String {
        "`notify`, `interrupt`, `stop`, `off`, or a mapping".to_owned()
    }

    fn expected() -> String {
        "an action or a mapping".to_owned()
    }

    /// As `show` writes it: `stop, after 10m`.
    fn parse(text: &str) -> Result<Self, String> {
        let mut rule = Self::default();
        for part in text.split(',').map(str::trim) {
            match part.split_once(char::is_whitespace) {
                Some((name, value)) => rule.set(name, value.trim())?,
                None => rule.action = Some(parse_action(part)?),
            }
        }
        Ok(rule)
    }

    fn read(node: &Node, key: &str) -> Result<Self, Problem> {
        let allowed = thresholds(key);
        let unknown = |at, name: &str| {
            let names = [&["action"], allowed].concat().join(", ");
            (at, format!("`{key}` has no `{}`; it has {names}", excerpt(name)))
        };
        match &node.value {
            Yaml::Scalar(text) => {
                let rule = Self::parse(text).map_err(|message| (node.at, format!("`{key}` {message}")))?;
                match rule.names().find(|name| !allowed.contains(name)) {
                    Some(name) => Err(unknown(node.at, name)),
                    None => Ok(rule),
                }
            }
            Yaml::Map(entries) => {
                let mut rule = Self::default();
                for Entry { at, key: name, value } in entries {
                    if name != "action" && !allowed.contains(&name.as_str()) {
                        return Err(unknown(*at, name));
                    }
                    let inner = format!("{key}.{name}");
                    match &value.value {
                        Yaml::Null => {}
                        Yaml::Scalar(text) => rule
                            .set(name, text)
                            .map_err(|message| (value.at, format!("`{inner}` {message}")))?,
                        Yaml::List(_) | Yaml::Map(_) => return Err(wrong_kind(value, &inner, "a value")),
                    }
                }
                Ok(rule)
            }
            Yaml::Null | Yaml::List(_) => Err(wrong_kind(node, key, &Self::expected())),
        }
    }

    fn show(&self) -> String {
        let action = ACTIONS.iter().find(|(_, action)| Some(*action) == self.action);
        let thresholds = [
            self.after.map(|it| format!("after {}", show_duration(&it))),
            self.during_call
                .map(|it| format!("during_call {}", show_duration(&it))),
            self.times.map(|it| format!("times {it}")),
            self.factor.map(|it| format!("factor {it}")),
            self.at_least.map(|it| format!("at_least {it}")),
            self.window.map(|it| format!("window {}", show_duration(&it))),
            self.percent.map(|it| format!("percent {it}%")),
        ];
        let parts = action.map(|(name, _)| (*name).to_owned()).into_iter();
        parts
            .chain(thresholds.into_iter().flatten())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The rules of the watchdog, with every default applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchSettings {
    pub is_on: bool,
    /// Where the agent may change files; empty for the whole workspace.
    pub scope: Vec<String>,
    pub silence: WatchRule,
    pub repeated_call: WatchRule,
    pub repeated_failure: WatchRule,
    pub repeated_answer: WatchRule,
    pub flipped_file: WatchRule,
    pub burn_rate: WatchRule,
    pub out_of_scope: WatchRule,
    pub context: WatchRule,
    pub unknown_events: WatchRule,
}

impl WatchSettings {
    /// Fills in what the rules leave out, also for `--dry-run`.
    pub(super) fn resolve(effective: &mut SettingsLayer) -> Result<Self, SettingsError> {
        let defaults = SettingsLayer::defaults()?;
        let fill_in = |rule: &mut Option<WatchRule>, default: Option<WatchRule>| {
            let filled = rule.take().unwrap_or_default().or(default.unwrap_or_default());
            rule.insert(filled).clone()
        };
        Ok(Self {
            is_on: effective.watch.unwrap_or(true),
            scope: effective.watch_scope.clone().unwrap_or_default(),
            silence: fill_in(&mut effective.watch_silence, defaults.watch_silence),
            repeated_call: fill_in(&mut effective.watch_repeated_call, defaults.watch_repeated_call),
            repeated_failure: fill_in(
                &mut effective.watch_repeated_failure,
                defaults.watch_repeated_failure,
            ),
            repeated_answer: fill_in(
                &mut effective.watch_repeated_answer,
                defaults.watch_repeated_answer,
            ),
            flipped_file: fill_in(&mut effective.watch_flipped_file, defaults.watch_flipped_file),
            burn_rate: fill_in(&mut effective.watch_burn_rate, defaults.watch_burn_rate),
            out_of_scope: fill_in(&mut effective.watch_out_of_scope, defaults.watch_out_of_scope),
            context: fill_in(&mut effective.watch_context, defaults.watch_context),
            unknown_events: fill_in(&mut effective.watch_unknown_events, defaults.watch_unknown_events),
        })
    }

    /// The rules for the run.
    ///
    /// # Errors
    /// If the scope has an invalid pattern.
    pub fn rules(&self) -> Result<WatchRules, ScopeError> {
        if !self.is_on {
            return Ok(WatchRules::off());
        }
        let (silence, burn_rate, context) = (
            SilenceRule::default(),
            BurnRule::default(),
            ContextRule::default(),
        );
        let scope = match self.scope.is_empty() {
            true => None,
            false => Some(Scope::new(&self.scope)?),
        };
        Ok(WatchRules {
            silence: SilenceRule {
                after: self.silence.after.unwrap_or(silence.after),
                during_call: self.silence.during_call.unwrap_or(silence.during_call),
                action: self.silence.action(),
            },
            repeated_call: self.repeated_call.repeat(),
            repeated_failure: self.repeated_failure.repeat(),
            repeated_answer: self.repeated_answer.repeat(),
            flipped_file: self.flipped_file.repeat(),
            burn_rate: BurnRule {
                factor: self.burn_rate.factor.unwrap_or(burn_rate.factor),
                at_least: self.burn_rate.at_least.unwrap_or(burn_rate.at_least),
                window: self.burn_rate.window.unwrap_or(burn_rate.window),
                action: self.burn_rate.action(),
            },
            out_of_scope: ScopeRule {
                scope,
                action: self.out_of_scope.action(),
            },
            context: ContextRule {
                percent: self.context.percent.unwrap_or(context.percent),
                action: self.context.action(),
            },
            unknown_events: PlainRule {
                action: self.unknown_events.action(),
            },
        })
    }
}
