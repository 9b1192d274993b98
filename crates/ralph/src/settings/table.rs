//! Every setting, once: where it can be given, what it takes, what it is if nobody says.

use clap::ValueEnum;

use super::choices::{
    AgentOutput, Auth, Backend, ColorChoice, Denials, Output, PermissionMode, PromptMode, SessionPolicy,
    Transport,
};
use super::values::{
    choice_names, parse_choice, parse_count, parse_duration, parse_money, parse_switch, parse_text,
    parse_tokens,
};

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The key in `ralph.yml`; empty where it has none.
    pub key: &'static str,
    /// A second, shorter key; empty where it has none.
    pub short_key: &'static str,
    /// The flag of `ralph run`; empty where it has none.
    pub flag: &'static str,
    /// The environment variable; empty where it has none.
    pub variable: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What holds if nobody says, as one would write it; empty where that is nothing.
    pub default: &'static str,
    /// What it is about, for the reference.
    pub meaning: &'static str,
}

impl Setting {
    /// What it is called where it was not given: its key, else its flag.
    #[must_use]
    pub fn name(&self) -> &'static str {
        if self.key.is_empty() { self.flag } else { self.key }
    }
}

/// What a setting takes.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// True or false.
    Switch,
    /// A whole number.
    Count,
    /// A large whole number.
    Tokens,
    /// Dollars.
    Money,
    /// A time.
    Duration,
    /// Some text.
    Text,
    /// A path.
    Path,
    /// One of a few words.
    Choice {
        /// The words.
        names: fn() -> Vec<String>,
        /// Whether it is one of them.
        check: fn(&str) -> Result<(), String>,
    },
    /// Names, as a list or with commas between them.
    Names,
    /// A list of lines, or one line.
    Lines,
    /// Text by name.
    Variables,
    /// Modes by name.
    Modes,
}

impl Kind {
    const fn choice<T: ValueEnum>() -> Self {
        Self::Choice {
            names: choice_names::<T>,
            check: |text| parse_choice::<T>(text).map(drop),
        }
    }

    /// Whether a single value is one of these. Lists and mappings are not single values.
    pub(super) fn check(&self, text: &str) -> Result<(), String> {
        match self {
            Self::Switch => parse_switch(text).map(drop),
            Self::Count => parse_count(text).map(drop),
            Self::Tokens => parse_tokens(text).map(drop),
            Self::Money => parse_money(text).map(drop),
            Self::Duration => parse_duration(text).map(drop),
            Self::Text | Self::Path | Self::Lines => parse_text(text).map(drop),
            Self::Names => super::values::parse_names(text).map(drop),
            Self::Choice { check, .. } => check(text),
            Self::Variables | Self::Modes => Err("must be a mapping".to_owned()),
        }
    }

    /// For the reference.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Count | Self::Tokens => "number".to_owned(),
            Self::Money => "dollars".to_owned(),
            Self::Duration => "duration".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Path => "path".to_owned(),
            Self::Choice { names, .. } => format!("`{}`", names().join("`, `")),
            Self::Names => "list of names".to_owned(),
            Self::Lines => "list".to_owned(),
            Self::Variables => "mapping of text".to_owned(),
            Self::Modes => "mapping of modes".to_owned(),
        }
    }
}

/// One row per setting: key, short key, flag, variable, kind, default, meaning.
macro_rules! settings {
    ($($name:ident: $key:literal $short:literal $flag:literal $variable:literal $kind:expr; $default:literal $meaning:literal)*) => {
        $(pub(super) const $name: Setting = Setting {
            key: $key, short_key: $short, flag: $flag, variable: $variable, kind: $kind, default: $default, meaning: $meaning,
        };)*
        /// Every setting, in the order of the reference.
        pub const SETTINGS: &[Setting] = &[$($name),*];
    };
}

settings! {
    BACKEND: "cli.backend" "backend" "--backend" "RALPH_BACKEND" Kind::choice::<Backend>(); "auto"
        "Which agent. `auto` takes the first one that is installed."
    COMMAND: "cli.command" "" "" "RALPH_COMMAND" Kind::Path; ""
        "The agent's program. `custom` needs one; for other backends it replaces the one on `PATH`."
    ARGS: "cli.args" "" "" "" Kind::Lines; ""
        "Further arguments for the agent's program. Those after `--` on the command line come behind them."
    ENV: "cli.env" "" "" "" Kind::Variables; ""
        "Environment variables for the agent; one without a value is taken away."
    PROMPT_MODE: "cli.prompt_mode" "" "" "RALPH_PROMPT_MODE" Kind::choice::<PromptMode>(); "stdin"
        "How a `custom` command gets its prompt. An argument can be read by everybody on the machine."
    PROMPT_FLAG: "cli.prompt_flag" "" "" "RALPH_PROMPT_FLAG" Kind::Text; ""
        "The option before the prompt where it is an argument, such as `-p`."
    AGENT_OUTPUT: "cli.output_format" "output_format" "" "RALPH_OUTPUT_FORMAT" Kind::choice::<AgentOutput>(); "text"
        "What a `custom` command writes; `stream-json` is Claude's dialect."
    MODEL: "model" "" "--model" "RALPH_MODEL" Kind::Text; ""
        "The model, in the vendor's words; the agent's own choice otherwise."
    MODE: "mode" "" "--mode" "RALPH_MODE" Kind::Text; ""
        "`planner`, `coder`, or one of `modes`."
    MODES: "modes" "" "" "" Kind::Modes; ""
        "Modes of your own, and changes to the built-in ones; see below."
    PERMISSION_MODE: "permission_mode" "" "--permission-mode" "RALPH_PERMISSION_MODE" Kind::choice::<PermissionMode>(); "bypass"
        "What happens without asking. With `ask` it is `ask` if nobody says otherwise."
    TOOLS: "tools" "" "--tools" "RALPH_TOOLS" Kind::Names; ""
        "The only tools there are; they need no permission then. A pattern such as `Bash(git:*)` permits a part of one."
    ALLOWED_TOOLS: "allowed_tools" "" "--allowed-tools" "RALPH_ALLOWED_TOOLS" Kind::Names; ""
        "Tools that need no permission."
    SYSTEM_PROMPT_FILE: "system_prompt_file" "" "--system-prompt-file" "RALPH_SYSTEM_PROMPT_FILE" Kind::Path; ""
        "Replaces the agent's system prompt."
    APPEND_SYSTEM_PROMPT_FILE: "append_system_prompt_file" "" "--append-system-prompt-file" "RALPH_APPEND_SYSTEM_PROMPT_FILE" Kind::Path; ""
        "Added to the agent's system prompt."
    AUTH: "auth" "" "" "RALPH_AUTH" Kind::choice::<Auth>(); "inherit"
        "Which login the agent uses: whatever it finds, its own login (it starts without the key in the environment), or the key in the environment."
    TRANSPORT: "transport" "" "--transport" "RALPH_TRANSPORT" Kind::choice::<Transport>(); "auto"
        "How the agent's output reaches ralph. All give the same events."
    PTY_MODE: "pty_mode" "" "" "RALPH_PTY_MODE" Kind::Switch; "false"
        "The same as `transport: pty`."
    PARTIALS: "partials" "" "" "RALPH_PARTIALS" Kind::Switch; "true"
        "Whether text is shown while it is written."
    ASK: "ask" "" "--ask" "RALPH_ASK" Kind::Switch; "false"
        "Whether the agent may ask; `ralph answer` answers."
    ASK_TIMEOUT: "ask_timeout" "" "" "RALPH_ASK_TIMEOUT" Kind::Duration; "15m"
        "How long a person is awaited who answers. Then the agent is told to decide by itself."
    IDLE_TIMEOUT: "idle_timeout" "" "--idle-timeout" "RALPH_IDLE_TIMEOUT" Kind::Duration; "30m"
        "How long a conversation (`--interactive`) waits for a message. Then it ends in order, and can be resumed."
    DENIALS: "denials" "" "" "RALPH_DENIALS" Kind::choice::<Denials>(); "fail"
        "What a denied permission does to the run. A person's answer never ends it."
    PROMPT: "event_loop.prompt" "" "--prompt" "RALPH_PROMPT" Kind::Text; ""
        "The prompt itself."
    PROMPT_FILE: "event_loop.prompt_file" "" "--prompt-file" "RALPH_PROMPT_FILE" Kind::Path; "PROMPT.md"
        "The file with the prompt; `-` is stdin on the command line."
    COMPLETION_PROMISE: "event_loop.completion_promise" "" "" "RALPH_COMPLETION_PROMISE" Kind::Text; "LOOP_COMPLETE"
        "The last line of an answer that says that all is done."
    VERIFY: "verify" "" "--verify" "" Kind::Lines; ""
        "Commands that must succeed before the work counts as done. Flags replace the list."
    MAX_ITERATIONS: "event_loop.max_iterations" "" "--max-iterations" "RALPH_MAX_ITERATIONS" Kind::Count; "50"
        "Limit of iterations."
    MAX_COST: "event_loop.max_cost_usd" "" "--max-cost" "RALPH_MAX_COST" Kind::Money; "$10"
        "Limit of what the task may cost."
    MAX_RUNTIME: "event_loop.max_runtime_seconds" "" "--max-runtime" "RALPH_MAX_RUNTIME" Kind::Duration; "4h"
        "Limit of the run's time."
    ITERATION_TIMEOUT: "event_loop.iteration_timeout_seconds" "" "--iteration-timeout" "RALPH_ITERATION_TIMEOUT" Kind::Duration; "0"
        "Limit of one iteration's time."
    MAX_TURNS: "event_loop.max_turns" "" "--max-turns" "RALPH_MAX_TURNS" Kind::Count; "0"
        "Limit of the model's turns."
    MAX_TOKENS: "event_loop.max_tokens" "" "--max-tokens" "RALPH_MAX_TOKENS" Kind::Tokens; "0"
        "Limit of tokens."
    MAX_CONSECUTIVE_FAILURES: "event_loop.max_consecutive_failures" "" "" "RALPH_MAX_CONSECUTIVE_FAILURES" Kind::Count; "3"
        "So many failed iterations in a row end the run."
    COOLDOWN: "event_loop.cooldown_delay_seconds" "" "" "RALPH_COOLDOWN" Kind::Duration; "0"
        "The pause between iterations."
    REDACT: "redact" "" "" "" Kind::Lines; ""
        "Regular expressions of further secrets. What matches is not shown and not recorded; the raw log keeps it."
    VERBOSE: "verbose" "" "--verbose" "RALPH_VERBOSE" Kind::Switch; "false"
        "Also show tool results, thinking, usage and summaries."
    QUIET: "quiet" "" "--quiet" "RALPH_QUIET" Kind::Switch; "false"
        "Show nothing. In one place, `quiet` counts more than `verbose`; the flags exclude each other."
    OUTPUT: "" "" "--output" "RALPH_OUTPUT" Kind::choice::<Output>(); "text"
        "For people, or one JSON record per line."
    COLOR: "" "" "--color" "RALPH_COLOR" Kind::choice::<ColorChoice>(); "auto"
        "When to use colours. `auto` respects `NO_COLOR`."
}

/// A key of a mode, what it takes and what it is about.
pub(super) const MODE_KEYS: &[(&str, Kind, &str)] = &[
    ("tools", Kind::Names, "As `tools` above."),
    ("allowed_tools", Kind::Names, "As `allowed_tools` above."),
    ("system_prompt_file", Kind::Path, "As `system_prompt_file` above."),
    (
        "append_system_prompt_file",
        Kind::Path,
        "As `append_system_prompt_file` above.",
    ),
    ("model", Kind::Text, "As `model` above."),
    (
        "permission_mode",
        Kind::choice::<PermissionMode>(),
        "As `permission_mode` above.",
    ),
    (
        "session",
        Kind::choice::<SessionPolicy>(),
        "Whether each iteration starts a new session (the default) or goes on with the mode's last one.",
    ),
    (
        "once",
        Kind::Switch,
        "Whether one iteration is all, as with `--once`.",
    ),
];
