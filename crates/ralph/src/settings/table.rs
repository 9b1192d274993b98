//! Every setting, once: its type, key, flag, variable, default and meaning. `SettingsLayer` is `ralph run`'s part of the
//! settings, `ViewArgs` the part that other commands share, `ModeLayer` what a mode can set.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use agent_api::MicroUsd;
use clap::Args;
use ralph_run::control::PermissionChoice;

use super::backend::{BackendName, backend_parser};
use super::choices::{
    AgentOutput, Auth, ColorChoice, Denials, Output, PromptMode, SessionPolicy, ThemeChoice, Transport,
};
use super::error::SettingsError;
use super::kind::{Program, Promise, Value, Variables};
use super::layer::{Layer, Origin, Setting, layer};
use super::mode::Modes;
use super::notify::{NotifyCommand, NotifyEvents, WebhookUrl};
use super::permission::permission_parser;
use super::values::{Names, parse_count, parse_duration, parse_money, parse_names, parse_tokens};
use super::watch::WatchRule;
use yaml_tree::{Node, Problem};

/// Every setting, in the order of the reference.
pub static SETTINGS: LazyLock<Vec<Setting>> = LazyLock::new(|| [RUN_SETTINGS, VIEW_SETTINGS].concat());

layer! {
    /// The settings of a run, as one of the layers gives them.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
    struct SettingsLayer, rows RUN_SETTINGS;

    /// Which agent [default: auto]
    #[arg(short, long, value_name = "NAME", value_parser = backend_parser(), help_heading = "Agent")]
    backend: BackendName {
        key: "cli.backend", short_key: "backend", flag: "--backend", variable: "RALPH_BACKEND", default: "auto"
    } "Which agent. `auto` picks the first installed one, in this order."

    #[arg(skip)]
    command: Program { key: "cli.command", variable: "RALPH_COMMAND" }
    "The agent's program. `custom` needs one; for other backends it replaces the one on `PATH`."

    #[arg(skip)]
    args: Vec<String> { key: "cli.args" }
    "Extra arguments for the agent's program. Arguments after `--` on the command line follow them."

    #[arg(skip)]
    env: Variables { key: "cli.env" }
    "Environment variables for the agent. A variable without a value is removed."

    #[arg(skip)]
    prompt_mode: PromptMode {
        key: "cli.prompt_mode", variable: "RALPH_PROMPT_MODE", default: "stdin", is_shown_if_set: true
    } "How a `custom` command gets its prompt. Every user of the machine can read an argument."

    #[arg(skip)]
    prompt_flag: String { key: "cli.prompt_flag", variable: "RALPH_PROMPT_FLAG", is_shown_if_set: true }
    "The option before the prompt if the prompt is an argument, such as `-p`."

    #[arg(skip)]
    output_format: AgentOutput {
        key: "cli.output_format", short_key: "output_format", variable: "RALPH_OUTPUT_FORMAT", default: "text",
        is_shown_if_set: true
    } "What a `custom` command writes: plain text, or one JSON event per line (`stream-json`)."

    #[arg(skip)]
    acp_command: Program { key: "acp.command", is_shown_if_set: true }
    "The program of the backend `acp`: any agent that speaks the Agent Client Protocol."

    #[arg(skip)]
    acp_args: Vec<String> { key: "acp.args", is_shown_if_set: true }
    "The arguments that start it as an ACP server."

    #[arg(skip)]
    acp_env: Variables { key: "acp.env", is_shown_if_set: true }
    "Environment variables for it. A variable without a value is removed."

    /// Model name, as the agent's CLI expects it
    #[arg(long, help_heading = "Agent")]
    model: String { key: "model", flag: "--model", variable: "RALPH_MODEL" }
    "Model name, as the agent's CLI expects it. The agent chooses by default."

    /// planner, coder, or a mode of ralph.yml
    #[arg(long, value_name = "NAME", help_heading = "Agent")]
    mode: String { key: "mode", flag: "--mode", variable: "RALPH_MODE" }
    "`planner`, `coder`, or one of `modes`."

    #[arg(skip)]
    modes: Modes { key: "modes", is_shown_if_set: true }
    "Your own modes, and changes to the built-in ones; see below."

    /// What the agent may do without asking [default: bypass; with --ask: ask]
    #[arg(long, value_name = "MODE", value_parser = permission_parser(), help_heading = "Agent")]
    permission_mode: PermissionChoice {
        key: "permission_mode", flag: "--permission-mode", variable: "RALPH_PERMISSION_MODE", default: "bypass"
    } "What the agent may do without asking. Defaults to `ask` when `ask: true`."

    /// Restrict the agent to these tools; Bash(git:*) allows only matching commands
    #[arg(long, value_name = "LIST", value_parser = parse_names, help_heading = "Agent")]
    tools: Names { key: "tools", flag: "--tools", variable: "RALPH_TOOLS" }
    "Restricts the agent to these tools, which then need no permission. A pattern such as `Bash(git:*)` allows only matching commands."

    /// Tools that need no permission
    #[arg(long, value_name = "LIST", value_parser = parse_names, help_heading = "Agent")]
    allowed_tools: Names { key: "allowed_tools", flag: "--allowed-tools", variable: "RALPH_ALLOWED_TOOLS" }
    "Tools that need no permission."

    /// Replace the agent's system prompt with this text
    #[arg(long, value_name = "TEXT", help_heading = "Agent", conflicts_with = "system_prompt_file")]
    system_prompt: String { key: "system_prompt", flag: "--system-prompt", variable: "RALPH_SYSTEM_PROMPT" }
    "Replaces the agent's system prompt with this text."

    /// Replace the agent's system prompt
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    system_prompt_file: PathBuf {
        key: "system_prompt_file", flag: "--system-prompt-file", variable: "RALPH_SYSTEM_PROMPT_FILE"
    } "Replaces the agent's system prompt."

    /// Add this text to the agent's system prompt
    #[arg(long, value_name = "TEXT", help_heading = "Agent", conflicts_with = "append_system_prompt_file")]
    append_system_prompt: String {
        key: "append_system_prompt", flag: "--append-system-prompt", variable: "RALPH_APPEND_SYSTEM_PROMPT"
    } "Text that is added to the agent's system prompt."

    /// Add to the agent's system prompt
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    append_system_prompt_file: PathBuf {
        key: "append_system_prompt_file", flag: "--append-system-prompt-file",
        variable: "RALPH_APPEND_SYSTEM_PROMPT_FILE"
    } "Added to the agent's system prompt."

    /// Which login the agent uses [default: inherit]
    #[arg(long, value_name = "KIND", value_enum, help_heading = "Agent")]
    auth: Auth { key: "auth", flag: "--auth", variable: "RALPH_AUTH", default: "inherit" }
    "Which login the agent uses: `inherit` whatever it finds, `login` its own login (API keys are removed from its environment), `api_key` an API key, which must be in the environment."

    /// How the agent's output reaches ralph [default: auto]
    #[arg(long, value_name = "KIND", value_enum, help_heading = "Agent")]
    transport: Transport { key: "transport", flag: "--transport", variable: "RALPH_TRANSPORT", default: "auto" }
    "How the agent's output reaches ralph. All give the same events."

    #[arg(skip)]
    pty_mode: bool { key: "pty_mode", variable: "RALPH_PTY_MODE", is_shown_if_set: true }
    "Same as `transport: pty`."

    #[arg(skip)]
    partials: bool { key: "partials", variable: "RALPH_PARTIALS", default: "true" }
    "Show text while it is written."

    /// Whether the agent takes messages while it works [default: if it can]
    #[arg(long, value_name = "BOOL", help_heading = "Agent")]
    accepts_input: bool { key: "accepts_input", flag: "--accepts-input", variable: "RALPH_ACCEPTS_INPUT" }
    "Whether the agent takes messages and asks for permission while it works. With `true`, an agent that cannot do so is refused; with `false`, it is told its prompt and nothing else. By default it does if it can."

    /// Let the agent ask for permission; answer by key or `ralph answer`
    #[arg(long, num_args = 0, default_missing_value = "true", help_heading = "Agent")]
    ask: bool { key: "ask", flag: "--ask", variable: "RALPH_ASK", default: "false" }
    "Let the agent ask for permission. Answer with keys in the terminal of the run, or with `ralph answer`."

    #[arg(skip)]
    ask_timeout: Duration { key: "ask_timeout", variable: "RALPH_ASK_TIMEOUT", default: "15m", is_limit: true }
    "How long to wait for an answer. After that the request is denied and the agent is told to decide for itself. A limit that is reached can be raised with `ralph top-up` for as long."

    #[arg(skip)]
    denials: Denials { key: "denials", variable: "RALPH_DENIALS", default: "fail" }
    "What a denied permission does to the run. A denial by a person never ends it."

    /// The prompt itself; `-` reads it from stdin
    #[arg(
        short, long, value_name = "TEXT", group = "prompt_source", help_heading = "Prompt",
        allow_hyphen_values = true
    )]
    prompt: String {
        key: "event_loop.prompt", flag: "--prompt", variable: "RALPH_PROMPT", is_shown_if_set: true
    } "The prompt itself. On the command line, `-` reads it from stdin."

    /// Read the prompt from a file [default: PROMPT.md]
    #[arg(short = 'P', long, value_name = "FILE", group = "prompt_source", help_heading = "Prompt")]
    prompt_file: PathBuf {
        key: "event_loop.prompt_file", flag: "--prompt-file", variable: "RALPH_PROMPT_FILE", default: "PROMPT.md",
        is_shown_if_set: true
    } "The file with the prompt. On the command line, `-` is stdin."

    /// Send a prompt to the agent even if it contains a secret
    #[arg(long, num_args = 0, default_missing_value = "true", help_heading = "Prompt")]
    allow_secrets: bool {
        key: "allow_secrets", flag: "--allow-secrets", variable: "RALPH_ALLOW_SECRETS", default: "false"
    } "Send a prompt to the agent even if it contains a secret, such as an API key."

    #[arg(skip)]
    completion_promise: Promise {
        key: "event_loop.completion_promise", variable: "RALPH_COMPLETION_PROMISE", default: "LOOP_COMPLETE"
    } "The last line of an answer that says that the work is complete."

    /// Command that must succeed before the work counts as done; repeatable
    #[arg(long, value_name = "COMMAND", help_heading = "Loop")]
    verify: Vec<String> { key: "verify", flag: "--verify" }
    "Commands that must succeed before the work counts as done. Flags replace the list."

    /// Time limit of a verify command [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    verify_timeout: Duration {
        key: "verify_timeout", flag: "--verify-timeout", variable: "RALPH_VERIFY_TIMEOUT", default: "10m",
        is_limit: true
    } "Stop a verify command that takes longer than this. It counts as failed."

    /// Iteration limit [default: 50]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Limits")]
    max_iterations: u32 {
        key: "event_loop.max_iterations", flag: "--max-iterations", variable: "RALPH_MAX_ITERATIONS", default: "50",
        is_limit: true
    } "Stop after this many iterations."

    /// Cost limit of the task [default: $10]
    #[arg(long, value_name = "USD", value_parser = parse_money, help_heading = "Limits")]
    max_cost: MicroUsd {
        key: "event_loop.max_cost_usd", flag: "--max-cost", variable: "RALPH_MAX_COST", default: "$10", is_limit: true
    } "Stop once the task has cost this much."

    /// Time limit of the run [default: 4h]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    max_runtime: Duration {
        key: "event_loop.max_runtime_seconds", flag: "--max-runtime", variable: "RALPH_MAX_RUNTIME", default: "4h",
        is_limit: true
    } "Stop after this time."

    /// Time limit of each iteration [default: none]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    iteration_timeout: Duration {
        key: "event_loop.iteration_timeout_seconds", flag: "--iteration-timeout", variable: "RALPH_ITERATION_TIMEOUT",
        default: "0", is_limit: true
    } "Interrupt an iteration that takes longer than this. It counts as failed, and the next one starts."

    /// Turn limit of each iteration [default: none]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Limits")]
    max_turns: u32 {
        key: "event_loop.max_turns", flag: "--max-turns", variable: "RALPH_MAX_TURNS", default: "0", is_limit: true
    } "Stop an iteration after this many turns of the model."

    /// Token limit of the run [default: none]
    #[arg(long, value_name = "N", value_parser = parse_tokens, help_heading = "Limits")]
    max_tokens: u64 {
        key: "event_loop.max_tokens", flag: "--max-tokens", variable: "RALPH_MAX_TOKENS", default: "0", is_limit: true
    } "Stop after this many tokens."

    #[arg(skip)]
    max_consecutive_failures: u32 {
        key: "event_loop.max_consecutive_failures", variable: "RALPH_MAX_CONSECUTIVE_FAILURES", default: "3",
        is_limit: true
    } "Stop after this many failed iterations in a row."

    /// Longest wait for a usage limit [default: 6h]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Limits")]
    max_wait: Duration {
        key: "max_wait", flag: "--max-wait", variable: "RALPH_MAX_WAIT", default: "6h", is_limit: true
    } "How long to wait for the agent's usage limit to reset. If it resets later, the run ends. The wait does not count as runtime."

    #[arg(skip)]
    cooldown: Duration { key: "event_loop.cooldown_delay_seconds", variable: "RALPH_COOLDOWN", default: "0" }
    "The pause between iterations."

    /// Idle limit of a conversation [default: 30m]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Session")]
    idle_timeout: Duration {
        key: "idle_timeout", flag: "--idle-timeout", variable: "RALPH_IDLE_TIMEOUT", default: "30m", is_limit: true
    } "How long a conversation (`--interactive`) waits for a message. Then it ends cleanly and can be resumed."

    #[arg(skip)]
    memory: bool { key: "memory", variable: "RALPH_MEMORY", default: "true" }
    "Let iterations share notes in `.ralph/scratchpad.md`. The prompt names the file and has its content."

    #[arg(skip)]
    worktree_base: String { key: "worktree.base", variable: "RALPH_WORKTREE_BASE" }
    "The branch, remote branch or commit that a new worktree is cut from. A remote branch such as `origin/main` is fetched first. By default what is checked out. See worktrees.md."

    #[arg(skip)]
    worktree_setup: Vec<String> { key: "worktree.setup" }
    "Commands that prepare a new worktree, such as `npm ci`. They also run before a merge is verified."

    #[arg(skip)]
    worktree_setup_timeout: Duration {
        key: "worktree.setup_timeout", variable: "RALPH_WORKTREE_SETUP_TIMEOUT", default: "10m", is_limit: true
    } "Stop a setup command that takes longer than this. It counts as failed."

    #[arg(skip)]
    worktree_copy: Vec<String> { key: "worktree.copy" }
    "Patterns of ignored files, such as `.env`, that are copied from the checkout into a new worktree, besides those of `.worktreeinclude`."

    #[arg(skip)]
    redact: Vec<String> { key: "redact" }
    "Regular expressions of further secrets. Matching text is not shown and not recorded; the raw log keeps it."

    #[arg(skip)]
    watch: bool { key: "watch", variable: "RALPH_WATCH", default: "true" }
    "Watch the run for signs that something is wrong. `watch: false` turns all rules off. See below for how to change a rule."

    #[arg(skip)]
    watch_scope: Vec<String> { key: "watch.scope" }
    "Patterns such as `src/**` of the files that the agent may change, relative to the workspace. Without it, all files in the workspace."

    #[arg(skip)]
    watch_silence: WatchRule { key: "watch.silence", default: "notify, after 6m, during_call 30m" }
    "The agent is silent in the middle of a turn: `after` this time, or `during_call` while a tool call is running."

    #[arg(skip)]
    watch_repeated_call: WatchRule { key: "watch.repeated_call", default: "notify, times 3" }
    "The agent makes the same tool call several times in a row, with the same result."

    #[arg(skip)]
    watch_repeated_failure: WatchRule { key: "watch.repeated_failure", default: "notify, times 3" }
    "The same command fails several times, and nothing changes in between."

    #[arg(skip)]
    watch_repeated_answer: WatchRule { key: "watch.repeated_answer", default: "notify, times 2" }
    "Several iterations in a row end with the same answer and change no file."

    #[arg(skip)]
    watch_flipped_file: WatchRule { key: "watch.flipped_file", default: "notify, times 2" }
    "A file is changed back and forth between two versions. The first time that a change is undone does not count."

    #[arg(skip)]
    watch_burn_rate: WatchRule { key: "watch.burn_rate", default: "notify, factor 3, at_least $1, window 5m" }
    "The cost per minute within the `window` is `factor` times the median of the run, and `at_least` this much in total."

    #[arg(skip)]
    watch_out_of_scope: WatchRule { key: "watch.out_of_scope", default: "notify" }
    "The agent changes a file outside the workspace or outside `watch.scope`. Temporary directories do not count."

    #[arg(skip)]
    watch_context: WatchRule { key: "watch.context", default: "notify, percent 90%" }
    "The model's context is nearly full."

    #[arg(skip)]
    watch_unknown_events: WatchRule { key: "watch.unknown_events", default: "notify" }
    "The agent writes events that this version of ralph does not know."

    #[arg(skip)]
    notify: bool { key: "notify", variable: "RALPH_NOTIFY", default: "true" }
    "Send the notifications that are configured below. `notify: false` sends none."

    #[arg(skip)]
    notify_on: NotifyEvents { key: "notify.on", variable: "RALPH_NOTIFY_ON", default: "waiting,warning,ended" }
    "When to notify: the run is waiting, warns, or has ended. See notifications.md."

    #[arg(skip)]
    notify_bell: bool { key: "notify.bell", variable: "RALPH_NOTIFY_BELL", default: "false" }
    "Ring the terminal bell."

    #[arg(skip)]
    notify_desktop: bool { key: "notify.desktop", variable: "RALPH_NOTIFY_DESKTOP", default: "false" }
    "Show a desktop notification, with `notify-send` on Linux and `osascript` on macOS."

    #[arg(skip)]
    notify_command: NotifyCommand { key: "notify.command", variable: "RALPH_NOTIFY_COMMAND" }
    "Run a command. It gets the notification as JSON on stdin. Text is a line for the shell; a list is a program with its arguments."

    #[arg(skip)]
    notify_webhook: WebhookUrl { key: "notify.webhook", variable: "RALPH_NOTIFY_WEBHOOK" }
    "Send the notification as JSON to this address, as a POST request."

    #[arg(skip)]
    notify_webhook_secret_env: String {
        key: "notify.webhook_secret_env", variable: "RALPH_NOTIFY_WEBHOOK_SECRET_ENV", is_shown_if_set: true
    } "The name of the environment variable with the key that signs webhook requests. The agent does not see this variable."
}

layer! {
    /// How a run is shown.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
    struct ViewArgs, rows VIEW_SETTINGS;

    /// Also show tool results, thinking, usage and summaries
    #[arg(
        short, long, num_args = 0, default_missing_value = "true", conflicts_with = "quiet", help_heading = "Output"
    )]
    verbose: bool { key: "verbose", flag: "--verbose", variable: "RALPH_VERBOSE", default: "false" }
    "Also show tool results, thinking, usage and summaries."

    /// Show nothing; the exit code is the result
    #[arg(short, long, num_args = 0, default_missing_value = "true", help_heading = "Output")]
    quiet: bool { key: "quiet", flag: "--quiet", variable: "RALPH_QUIET", default: "false" }
    "Show nothing. If both are set in the same place, `quiet` wins over `verbose`. The flags cannot be combined."

    /// Text for people, or one JSON record per line [default: text]
    #[arg(long, value_name = "FORMAT", value_enum, help_heading = "Output")]
    output: Output { flag: "--output", variable: "RALPH_OUTPUT", default: "text" }
    "Text for people, or one JSON record per line."

    /// When to use colors [default: auto]
    #[arg(long, value_name = "WHEN", value_enum, help_heading = "Output")]
    color: ColorChoice { flag: "--color", variable: "RALPH_COLOR", default: "auto" }
    "When to use colors. `auto` respects `NO_COLOR`."

    #[arg(skip)]
    tui: bool { key: "tui", variable: "RALPH_TUI", default: "false" }
    "Let `ralph run` and `ralph attach` open the terminal UI, as `--tui` does. The run continues in the background when you leave it."

    #[arg(skip)]
    theme: ThemeChoice { key: "theme", variable: "RALPH_THEME", default: "auto" }
    "The colors of the terminal UI. `auto` asks the terminal for its background and respects `NO_COLOR`."
}

layer! {
    /// What a mode sets. It wins over the rest of `ralph.yml`, and loses to variables and flags.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    struct ModeLayer, rows MODE_SETTINGS;

    tools: Names { key: "tools" } "As `tools` above."
    allowed_tools: Names { key: "allowed_tools" } "As `allowed_tools` above."
    system_prompt_file: PathBuf { key: "system_prompt_file" } "As `system_prompt_file` above."
    append_system_prompt_file: PathBuf { key: "append_system_prompt_file" } "As `append_system_prompt_file` above."
    model: String { key: "model" } "As `model` above."
    permission_mode: PermissionChoice { key: "permission_mode" } "As `permission_mode` above."
    prompt: String { key: "prompt" } "Placed before the prompt of the run."
    prompt_file: PathBuf { key: "prompt_file" } "The same from a file. It is read when the run starts."
    session: SessionPolicy { key: "session" }
    "`fresh` (the default) starts each run with a new session. `keep` continues the last session of this mode; `--fresh` starts a new one. In a loop of roles, `keep` continues the role's own session of this run."
    next: String { key: "next" } "The mode of the next iteration, which makes a loop of roles; see below."
    once: bool { key: "once" } "Run one iteration and accept the agent's own result, as with `--once`. Without effect in a loop of roles."
}

/// The keys of a mode.
pub fn mode_keys() -> impl Iterator<Item = &'static str> {
    MODE_SETTINGS.iter().map(|setting| setting.key)
}
