//! `RunOptions`: how to run an agent. One table generates the struct, its setters, `or` and `Debug`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "process")]
use agent_process::{Isolation, Limits, Marker, StdoutMode};
use serde_json::Value;

use super::choices::{
    Expansion, JsonSource, PartialMessages, PermissionHost, PermissionMode, Persistence, SessionChoice,
    SystemPrompt, VendorEvents,
};
use super::environment::Environment;

use crate::money::{CostBasis, MicroUsd};

/// Each row: documentation, name, type, what the setter takes, and how the value becomes the field's.
macro_rules! run_options {
    (
        options { $( $(#[doc = $doc:literal])* $(#[cfg($cfg:meta)])? $name:ident: $type:ty, $argument:ty => $value:expr; )+ }
        lists { $( $(#[doc = $list_doc:literal])* $list:ident: $item:ty, $show:ident; )+ }
    ) => {
        /// How to run an agent. Everything is optional: a client's or backend's own options fill the gaps.
        ///
        /// ```
        /// use std::time::Duration;
        /// use agent_client::{PermissionMode, RunOptions};
        ///
        /// let options = RunOptions::new()
        ///     .cwd("/path/to/project")
        ///     .model("sonnet")
        ///     .permission_mode(PermissionMode::AcceptEdits)
        ///     .timeout(Duration::from_secs(600));
        /// # assert_eq!(options.model.as_deref(), Some("sonnet"));
        /// ```
        #[derive(Clone, Default)]
        #[non_exhaustive]
        pub struct RunOptions {
            $( $(#[doc = $doc])* $(#[cfg($cfg)])? pub $name: Option<$type>, )+
            $( $(#[doc = $list_doc])* pub $list: Vec<$item>, )+
            /// The agent's environment variables.
            pub environment: Environment,
            /// Settings of one backend, by name. Unknown names are refused before anything starts.
            pub extensions: BTreeMap<String, Value>,
        }

        impl RunOptions {
            $(
                $(#[doc = $doc])*
                $(#[cfg($cfg)])?
                #[must_use]
                pub fn $name(mut self, $name: $argument) -> Self {
                    self.$name = Some($value);
                    self
                }
            )+

            $(
                $(#[doc = $list_doc])*
                #[must_use]
                pub fn $list(mut self, $list: impl IntoIterator<Item = impl Into<$item>>) -> Self {
                    self.$list = $list.into_iter().map(Into::into).collect();
                    self
                }
            )+

            /// Fills the gaps with `defaults`. Variables and extensions are merged by name, lists are taken whole.
            #[must_use]
            pub fn or(mut self, defaults: &Self) -> Self {
                $(
                    $(#[cfg($cfg)])?
                    if self.$name.is_none() {
                        self.$name.clone_from(&defaults.$name);
                    }
                )+
                $(
                    if self.$list.is_empty() {
                        self.$list.clone_from(&defaults.$list);
                    }
                )+
                self.environment = self.environment.or(&defaults.environment);
                for (key, value) in &defaults.extensions {
                    self.extensions.entry(key.clone()).or_insert_with(|| value.clone());
                }
                self
            }
        }

        impl fmt::Debug for RunOptions {
            /// Leaves out what may be secret: values of variables and extensions, arguments, system prompts, JSON.
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut shown = formatter.debug_struct("RunOptions");
                $(
                    $(#[cfg($cfg)])?
                    if let Some(value) = &self.$name {
                        let is_secret = SECRET_OPTIONS.contains(&stringify!($name));
                        shown.field(stringify!($name), if is_secret { &"…" } else { value });
                    }
                )+
                $( shown.field(stringify!($list), run_options!(@$show self.$list)); )+
                shown
                    .field("environment", &self.environment)
                    .field("extensions", &self.extensions.keys())
                    .finish()
            }
        }
    };
    (@values $list:expr) => { &$list };
    (@count $list:expr) => { &$list.len() };
}

/// Options whose values are JSON of the caller's, which may hold secrets.
const SECRET_OPTIONS: [&str; 2] = ["agents", "output_schema"];

run_options! {
    options {
        /// The working directory; this process's own by default.
        cwd: PathBuf, impl Into<PathBuf> => cwd.into();
        /// Stops the agent this long after its start. No limit by default.
        timeout: Duration, Duration => timeout;
        /// Stops the agent if it writes nothing for this long during a turn. Zero means no limit; the profile's limit
        /// by default.
        inactivity_limit: Duration, Duration => inactivity_limit;
        /// The inactivity limit while a tool call is open. Zero means no limit; the profile's limit by default.
        tool_inactivity_limit: Duration, Duration => tool_inactivity_limit;
        /// How long background tasks may be silent after the last turn before the agent's input is closed and the tasks
        /// are stopped; 30 seconds by default. Tasks that keep writing get at most 20 times as long. Does not apply to a run whose input the caller closes.
        background_grace: Duration, Duration => background_grace;
        /// How long the process may take to exit once everything is done and its input is closed, before it is
        /// stopped. The profile's grace by default.
        exit_grace: Duration, Duration => exit_grace;
        /// The model, in the vendor's words.
        model: String, impl Into<String> => model.into();
        /// The model to use while the first choice is overloaded.
        fallback_model: String, impl Into<String> => fallback_model.into();
        /// How hard the model thinks, in the vendor's words: `low`, `medium`, `high`, …
        effort: String, impl Into<String> => effort.into();
        /// Limits the tokens that the model spends on thinking before an answer; zero turns thinking off.
        max_thinking_tokens: u32, u32 => max_thinking_tokens;
        /// Replaces the agent's system prompt.
        system_prompt: SystemPrompt, impl Into<SystemPrompt> => system_prompt.into();
        /// Text added to the agent's system prompt.
        append_system_prompt: SystemPrompt, impl Into<SystemPrompt> => append_system_prompt.into();
        /// The only tools that exist; an empty list means no tools.
        tools: Vec<String>, impl IntoIterator<Item = impl Into<String>> => strings(tools);
        /// Tools, or patterns such as `Bash(git:*)`, that run without asking.
        allowed_tools: Vec<String>, impl IntoIterator<Item = impl Into<String>> => strings(allowed_tools);
        /// Tools, or patterns, that never run.
        disallowed_tools: Vec<String>, impl IntoIterator<Item = impl Into<String>> => strings(disallowed_tools);
        /// MCP servers, in the agent's own format. Reaches the agent by a private file: it may hold keys.
        mcp_config: JsonSource, impl Into<JsonSource> => mcp_config.into();
        /// Further settings, in the agent's own format. Reaches the agent by a private file.
        settings: JsonSource, impl Into<JsonSource> => settings.into();
        /// Subagents that the agent can use, in its own format.
        agents: Value, Value => agents;
        /// The JSON Schema that the final answer must match.
        output_schema: Value, Value => output_schema;
        /// What the agent may do without asking.
        permission_mode: PermissionMode, PermissionMode => permission_mode;
        /// Who answers when a tool needs permission. [`PermissionHost::Caller`] needs a run that takes messages.
        permission_host: PermissionHost, PermissionHost => permission_host;
        /// Which conversation to continue; a new one by default.
        session: SessionChoice, SessionChoice => session;
        /// What a resumed session had cost before, so that this run's own cost can be computed.
        cost_basis: CostBasis, CostBasis => cost_basis;
        /// Whether text is delivered while the model writes it.
        partial_messages: PartialMessages, PartialMessages => partial_messages;
        /// Whether events carry the agent's own words beside the common ones.
        vendor_events: VendorEvents, VendorEvents => vendor_events;
        /// Whether the agent stores the conversation.
        persistence: Persistence, Persistence => persistence;
        /// Whether the agent interprets `/command` and `@file` in a prompt.
        expansion: Expansion, Expansion => expansion;
        /// Ends the run after this many turns of the model.
        max_turns: u32, u32 => max_turns;
        /// Ends the run at this cost. The agent checks after each model call, so the run may cost more.
        max_budget: MicroUsd, MicroUsd => max_budget;
        /// Writes the agent's output to this file, byte for byte. The file must not exist yet; its mode is 0600.
        raw_log: PathBuf, impl Into<PathBuf> => raw_log.into();
        /// Writes the agent's stderr to this file, likewise.
        stderr_log: PathBuf, impl Into<PathBuf> => stderr_log.into();
        /// Identifies the run's processes to `agent_process::sweep`.
        #[cfg(feature = "process")]
        marker: Marker, Marker => marker;
        /// Where the agent writes its output: a pipe, a file or a terminal. The profile's choice by default.
        #[cfg(feature = "process")]
        transport: StdoutMode, StdoutMode => transport;
        /// Whether the agent gets its own process namespace.
        #[cfg(feature = "process")]
        isolation: Isolation, Isolation => isolation;
        /// Deadlines and sizes of the process. Its `timeout` is ignored in favour of [`RunOptions::timeout`].
        #[cfg(feature = "process")]
        limits: Limits, Limits => limits;
    }
    lists {
        /// Further directories that the agent may access.
        additional_directories: PathBuf, values;
        /// Further arguments for the agent's program, each with its value after `=`.
        extra_args: OsString, count;
    }
}

impl RunOptions {
    /// Options with nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the agent's environment variables.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Adds a setting of the backend.
    #[must_use]
    pub fn extension(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extensions.insert(key.into(), value.into());
        self
    }
}

fn strings(values: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    values.into_iter().map(Into::into).collect()
}

#[cfg(test)]
mod tests {
    use super::RunOptions;
    use crate::{Environment, PermissionMode, Persistence};

    #[test]
    fn defaults_fill_only_the_gaps() {
        let defaults = RunOptions::new()
            .model("default")
            .max_turns(3)
            .extra_args(["--a"])
            .environment(Environment::clear().set("A", "default").set("B", "default"))
            .extension("x", 1)
            .extension("y", 1);
        let options = RunOptions::new()
            .model("own")
            .extra_args(["--b"])
            .environment(Environment::default().set("A", "own"))
            .extension("x", 2)
            .or(&defaults);
        assert_eq!(options.model.as_deref(), Some("own"));
        assert_eq!(options.max_turns, Some(3));
        assert_eq!(options.extra_args, ["--b"]);
        assert_eq!(options.environment.get("A").unwrap(), "own");
        assert_eq!(options.environment.get("B").unwrap(), "default");
        assert_eq!(
            (&options.extensions["x"], &options.extensions["y"]),
            (&2.into(), &1.into())
        );
    }

    #[test]
    fn debug_shows_choices_but_no_secrets() {
        let options = RunOptions::new()
            .model("sonnet")
            .system_prompt("SECRET")
            .extra_args(["--key=SECRET"])
            .environment(Environment::clear().set("KEY", "SECRET"))
            .extension("key", "SECRET")
            .agents(serde_json::json!({"reviewer": {"prompt": "SECRET"}}))
            .output_schema(serde_json::json!({"const": "SECRET"}))
            .permission_mode(PermissionMode::Plan)
            .persistence(Persistence::Off);
        let text = format!("{options:?}");
        assert!(!text.contains("SECRET"), "{text}");
        for shown in ["sonnet", "<6 bytes>", "KEY", "Plan", "Off", "\"key\""] {
            assert!(text.contains(shown), "{shown} is missing in {text}");
        }
    }
}
