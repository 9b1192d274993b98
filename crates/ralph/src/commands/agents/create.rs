//! `ralph agents create`: adds an agent.

use std::io::Write;
use std::path::{Path, PathBuf};

use agent_api::MicroUsd;
use anyhow::Context as _;
use clap::Args;
use jiff::Timestamp;
use ralph_agents::{Agent, AgentName, AgentRole, AgentStore, DailyLimits, Desired};
use ralph_run::Home;
use ralph_run::control::{PermissionChoice, command_id};

use super::warn_without_reconciler;
use crate::commands::find_secret;
use crate::console::{render_json_pretty, write_text};
use crate::failure::Failure;
use crate::settings::values::{Names, parse_count, parse_money, parse_names};
use crate::settings::{BackendName, backend_parser, find_workspace, permission_parser};

/// Create an agent
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph agents create docs -p \"Bring docs/ up to date\"
  ralph agents create fixer --workspace ~/shop --backend demo -P TASK.md
  ralph agents create night --max-cost-per-day 5 --stopped -p \"Fix flaky tests\"
  ralph agents create helper --accepts-input -p \"Wait for my messages\"

It starts as soon as `ralph agents up` or the service runs. What is not given
here comes from ralph.yml of its workspace, which must be trusted.")]
pub struct AgentCreateArgs {
    /// Name: a-z, 0-9, `-` and `_`
    pub name: AgentName,

    /// Where it works [default: the top of the git repository]
    #[arg(short = 'C', long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Backend [default: from the workspace's settings]
    #[arg(short, long, value_name = "NAME", value_parser = backend_parser())]
    pub backend: Option<BackendName>,

    /// Its work
    #[arg(
        short,
        long,
        value_name = "TEXT",
        conflicts_with = "prompt_file",
        allow_hyphen_values = true
    )]
    pub prompt: Option<String>,

    /// Read the prompt from a file, now
    #[arg(short = 'P', long, value_name = "FILE")]
    pub prompt_file: Option<PathBuf>,

    /// Model name, as the agent's CLI expects it
    #[arg(long)]
    pub model: Option<String>,

    /// planner, coder, or a mode of ralph.yml
    #[arg(long, value_name = "NAME")]
    pub mode: Option<String>,

    /// What it may do without asking
    #[arg(long, value_name = "MODE", value_parser = permission_parser())]
    pub permission_mode: Option<PermissionChoice>,

    /// Add to the agent's system prompt
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub system_prompt: Option<String>,

    /// Tools that need no permission
    #[arg(long, value_name = "LIST", value_parser = parse_names)]
    pub allowed_tools: Option<Names>,

    /// Its runs are conversations that wait for messages until `idle_timeout`
    #[arg(long)]
    pub accepts_input: bool,

    /// worker, planner, reviewer, supervisor, or a word of your own
    #[arg(long, value_name = "KIND", default_value = "worker")]
    pub kind: AgentRole,

    /// Account of the backend, if your agents use several; agents with the same
    /// account share its usage limit
    #[arg(long, value_name = "NAME")]
    pub account: Option<String>,

    /// Cost limit for a day (UTC) [default: none]
    #[arg(long, value_name = "USD", value_parser = parse_money)]
    pub max_cost_per_day: Option<MicroUsd>,

    /// Run limit for a day (UTC) [default: none]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub max_runs_per_day: Option<u32>,

    /// Do not start it before `ralph agents start`
    #[arg(long)]
    pub stopped: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn execute(
    args: AgentCreateArgs,
    home: &Home,
    cwd: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    let is_json = args.json;
    let agent = define(args, cwd)?;
    home.prepare()?;
    AgentStore::new(home.clone()).create(&agent)?;
    if is_json {
        write_text(out, &render_json_pretty(&agent)?);
        return Ok(0);
    }
    write_text(out, &format!("created agent {}\n", agent.name));
    if agent.desired == Desired::Active {
        warn_without_reconciler(home);
    }
    Ok(0)
}

fn define(args: AgentCreateArgs, cwd: &Path) -> anyhow::Result<Agent> {
    let workspace = find_workspace(args.workspace.as_deref(), cwd)?;
    let workspace = workspace
        .canonicalize()
        .with_context(|| format!("cannot use the workspace `{}`", workspace.display()))?;
    let prompt = match (args.prompt, &args.prompt_file) {
        (Some(text), _) => text,
        (None, Some(file)) => {
            let path = cwd.join(file);
            let text = std::fs::read_to_string(&path);
            text.with_context(|| format!("cannot read the prompt from `{}`", path.display()))?
        }
        (None, None) => {
            return Err(Failure::usage("an agent needs a prompt: add `--prompt` or `--prompt-file`").into());
        }
    };
    check_prompt(&prompt)?;
    if let Some(text) = &args.system_prompt {
        check_secrets(text, "system prompt")?;
    }
    let mut agent = Agent::new(args.name, command_id(), workspace, Timestamp::now());
    agent.role = args.kind;
    // `auto` leaves the choice to the settings.
    agent.backend = args
        .backend
        .filter(|backend| !backend.is_auto())
        .map(|backend| backend.as_str().to_owned());
    agent.account = args.account;
    agent.model = args.model;
    agent.mode = args.mode;
    agent.permission_mode = args.permission_mode;
    agent.system_prompt = args.system_prompt;
    agent.allowed_tools = args.allowed_tools.map(|names| names.0).unwrap_or_default();
    agent.accepts_input = args.accepts_input;
    agent.prompt = Some(prompt);
    agent.limits_per_day = DailyLimits {
        cost: args.max_cost_per_day,
        runs: args.max_runs_per_day,
    };
    if args.stopped {
        agent.desired = Desired::Stopped;
        // `start` asks for the work for the first time.
        agent.start_number = 0;
    }
    Ok(agent)
}

/// # Errors
/// If the prompt is empty or contains a secret: it would be stored.
pub(super) fn check_prompt(prompt: &str) -> Result<(), Failure> {
    if prompt.trim().is_empty() {
        return Err(Failure::usage("the prompt is empty"));
    }
    check_secrets(prompt, "prompt")
}

fn check_secrets(text: &str, what: &str) -> Result<(), Failure> {
    match find_secret(text, std::iter::empty(), &[]) {
        None => Ok(()),
        Some(found) => Err(Failure::config(format!(
            "the {what} contains {found}: remove it, because the {what} of an agent is stored"
        ))),
    }
}
