//! `ralph run`.

use std::path::PathBuf;
use std::time::Duration;

use agent_api::MicroUsd;
use clap::Args;

use super::view::ViewArgs;
use crate::settings::values::{
    Dash, Names, parse_count, parse_dash, parse_duration, parse_money, parse_names, parse_tokens,
};
use crate::settings::{Backend, PermissionMode, Transport};

/// Run an agent until its work is done and verified, or a limit is reached
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph run                                        PROMPT.md, until the agent says LOOP_COMPLETE
  ralph run --verify \"cargo test\"                  ... and the tests pass
  ralph run -p \"Fix the failing test\" --once       one prompt, one answer
  ralph run --mode planner -p \"Plan the migration\"
  git diff | ralph run - --once -- --effort=high   prompt from stdin, one more argument for the agent
  ralph run --detach && ralph attach               in the background
  ralph run --interactive                          a conversation; `ralph send` says something
  ralph run --dry-run                              what would happen

Settings: flag, then RALPH_ variable, then ralph.yml, then default; all of them are in docs/config.md.
Durations: 90s, 15m, 4h, 1h30m, or seconds. 0 turns a limit off.")]
pub struct RunArgs {
    /// Where the agent works; the top of the git repository otherwise
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Read the prompt from a file [default: PROMPT.md]
    #[arg(
        short = 'P',
        long,
        value_name = "FILE",
        group = "prompt_source",
        help_heading = "Prompt"
    )]
    pub prompt_file: Option<PathBuf>,

    /// The prompt itself
    #[arg(
        short,
        long,
        value_name = "TEXT",
        group = "prompt_source",
        help_heading = "Prompt",
        allow_hyphen_values = true
    )]
    pub prompt: Option<String>,

    /// Read the prompt from stdin
    #[arg(value_name = "-", group = "prompt_source", value_parser = parse_dash)]
    pub stdin: Option<Dash>,

    /// Let the agent expand /commands and @files in the prompt
    #[arg(long, help_heading = "Prompt")]
    pub slash: bool,

    /// Which agent [default: auto]
    #[arg(short, long, value_name = "NAME", value_enum, help_heading = "Agent")]
    pub backend: Option<Backend>,

    /// The model, in the vendor's words
    #[arg(long, help_heading = "Agent")]
    pub model: Option<String>,

    /// planner, coder, or a mode of ralph.yml
    #[arg(long, value_name = "NAME", help_heading = "Agent")]
    pub mode: Option<String>,

    /// The only tools there are; a pattern such as Bash(git:*) allows a part of one
    #[arg(long, value_name = "LIST", value_parser = parse_names, help_heading = "Agent")]
    pub tools: Option<Names>,

    /// Tools that need no permission
    #[arg(long, value_name = "LIST", value_parser = parse_names, help_heading = "Agent")]
    pub allowed_tools: Option<Names>,

    /// Replace the agent's system prompt
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    pub system_prompt_file: Option<PathBuf>,

    /// Add to the agent's system prompt
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    pub append_system_prompt_file: Option<PathBuf>,

    /// What happens without asking [default: bypass; with --ask: ask]
    #[arg(long, value_name = "MODE", value_enum, help_heading = "Agent")]
    pub permission_mode: Option<PermissionMode>,

    /// Let the agent ask; `ralph answer` answers
    #[arg(long, help_heading = "Agent")]
    pub ask: bool,

    /// How the agent's output reaches ralph [default: auto]
    #[arg(long, value_name = "KIND", value_enum, help_heading = "Agent")]
    pub transport: Option<Transport>,

    /// Names the task: budgets and log files are kept by it
    #[arg(long, value_name = "ID", help_heading = "Loop")]
    pub task: Option<String>,

    /// One iteration, and the agent's own verdict counts
    #[arg(long, help_heading = "Loop")]
    pub once: bool,

    /// A conversation: wait for messages of `ralph send` instead of working through a prompt
    #[arg(short, long, help_heading = "Session")]
    pub interactive: bool,

    /// End a conversation in which nobody says anything for this long [default: 30m]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Session")]
    pub idle_timeout: Option<Duration>,

    /// The agent keeps nothing of the conversation: nobody can go on with it
    #[arg(long, help_heading = "Session")]
    pub ephemeral: bool,

    /// A command that must succeed before the work counts as done; can be repeated
    #[arg(long, value_name = "COMMAND", help_heading = "Loop")]
    pub verify: Vec<String>,

    /// Stop after so many iterations [default: 50]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Limits")]
    pub max_iterations: Option<u32>,

    /// Stop when the task has cost so much [default: $10]
    #[arg(long, value_name = "USD", value_parser = parse_money, help_heading = "Limits")]
    pub max_cost: Option<MicroUsd>,

    /// Stop after this time [default: 4h]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Limits")]
    pub max_runtime: Option<Duration>,

    /// Stop when one iteration takes longer [default: none]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "Limits")]
    pub iteration_timeout: Option<Duration>,

    /// Stop after so many turns of the model [default: none]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = "Limits")]
    pub max_turns: Option<u32>,

    /// Stop after so many tokens [default: none]
    #[arg(long, value_name = "N", value_parser = parse_tokens, help_heading = "Limits")]
    pub max_tokens: Option<u64>,

    /// Forget what the task has cost so far
    #[arg(long, help_heading = "Limits")]
    pub reset_budget: bool,

    /// Go on with the last session of this mode
    #[arg(long = "continue", group = "session_source", help_heading = "Session")]
    pub continue_last: bool,

    /// Go on with this session
    #[arg(long, value_name = "ID", group = "session_source", help_heading = "Session")]
    pub resume: Option<String>,

    /// Go on with a copy of the session
    #[arg(long, requires = "session_source", help_heading = "Session")]
    pub fork: bool,

    /// Run in the background; print the run's id
    #[arg(long, conflicts_with = "dry_run", help_heading = "Output")]
    pub detach: bool,

    /// Print the settings, the prompt and the command line, and run nothing
    #[arg(long, help_heading = "Output")]
    pub dry_run: bool,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,

    /// Further arguments for the agent's program
    #[arg(last = true, value_name = "EXTRA")]
    pub extra: Vec<String>,
}
