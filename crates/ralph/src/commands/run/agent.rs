//! From settings to an agent.

use agent_api::backends::claude_code::ClaudeCode;
use agent_api::backends::custom::{Custom, PromptBy};
use agent_api::backends::demo::Demo;
use agent_api::{AgentKind, BackendConfig, Environment, Found, Gateway, RunOptions};
use agent_process::StdoutMode;
use anyhow::Context as _;

use super::withheld::withheld;
use crate::failure::Failure;
use crate::settings::{AgentOutput, Auth, Backend, PermissionMode, PromptMode, Settings, Transport};

/// The agent's terminal where one is asked for. Nothing wraps in it.
const PTY: StdoutMode = StdoutMode::Pty {
    columns: 200,
    rows: 50,
};

/// Everybody who can run agents here.
pub(in crate::commands) fn gateway(settings: &Settings) -> anyhow::Result<Gateway> {
    let agent = &settings.agent;
    let mut gateway = Gateway::new();
    let own_program = agent.program.clone().filter(|_| agent.backend != Backend::Custom);
    gateway.register(ClaudeCode::configured(BackendConfig {
        program: own_program,
        defaults: RunOptions::new(),
    }))?;
    gateway.register(Demo::reexec())?;
    if agent.backend == Backend::Custom {
        let program = agent
            .program
            .clone()
            .ok_or_else(|| Failure::config("the backend `custom` needs `cli.command` in ralph.yml"))?;
        let mut custom = Custom::new(program, agent.args.iter()).prompt_by(match agent.prompt_mode {
            PromptMode::Stdin => PromptBy::Stdin,
            PromptMode::Arg => PromptBy::Argument {
                option: agent.prompt_flag.clone().map(Into::into),
            },
        });
        if agent.output_format == AgentOutput::StreamJson {
            custom = custom.stream_json();
        }
        gateway.register(custom)?;
    }
    Ok(gateway)
}

/// Which agent it will be, and where it is.
pub(super) async fn choose(
    settings: &Settings,
    gateway: &Gateway,
    options: &RunOptions,
) -> anyhow::Result<(AgentKind, Found)> {
    let kind = match settings.agent.backend {
        Backend::Claude => AgentKind::CLAUDE_CODE,
        Backend::Custom => AgentKind::CUSTOM,
        Backend::Demo => AgentKind::DEMO,
        Backend::Auto => {
            let report = gateway.detect(options).await;
            let needed = report.needed();
            let usable = report
                .entries
                .into_iter()
                .filter(|entry| entry.kind != AgentKind::DEMO)
                .find_map(|entry| Some((entry.kind, entry.found.ok()?)));
            return usable.ok_or_else(|| {
                Failure::unavailable(format!(
                    "no agent found: {needed}; or try `ralph demo`, which needs none"
                ))
                .into()
            });
        }
    };
    // What is missing is told before anything is kept.
    let found = gateway.find(kind.as_str(), options).await?;
    Ok((kind, found))
}

/// How the agent is run in every iteration.
pub(in crate::commands) fn options(settings: &Settings) -> anyhow::Result<RunOptions> {
    let agent = &settings.agent;
    let mut options = RunOptions::new();
    options.cwd = Some(settings.workspace.clone());
    options.environment = environment(settings);
    options.model.clone_from(&agent.model);
    options.tools.clone_from(&agent.tools);
    options.allowed_tools.clone_from(&agent.allowed_tools);
    options.system_prompt = read(agent.system_prompt_file.as_deref())?;
    options.append_system_prompt = read(agent.append_system_prompt_file.as_deref())?;
    options.permission_mode = Some(agent.permission_mode.into());
    options.asks = Some(settings.ask);
    options.keeps_session = settings.ephemeral.then_some(false);
    options.partial_messages = Some(agent.partials);
    options.expands_prompt = Some(agent.slash);
    options.max_turns = settings.limits.turns;
    options.transport = match agent.transport {
        Transport::Auto => None,
        Transport::Spool => Some(StdoutMode::Spool),
        Transport::Pipe => Some(StdoutMode::Pipe),
        Transport::Pty => Some(PTY),
    };
    if agent.backend != Backend::Custom {
        options.extra_args = agent.args.iter().map(Into::into).collect();
    }
    Ok(options)
}

fn environment(settings: &Settings) -> Environment {
    let mut environment = Environment::inherit();
    for name in withheld() {
        environment = environment.remove(name);
    }
    for (name, value) in &settings.agent.env {
        environment = match value {
            Some(value) => environment.set(name, value),
            None => environment.remove(name),
        };
    }
    match settings.agent.auth {
        Auth::Inherit | Auth::ApiKey => environment,
        Auth::Login => environment.remove("ANTHROPIC_API_KEY"),
    }
}

fn read(path: Option<&std::path::Path>) -> anyhow::Result<Option<String>> {
    path.map(|path| {
        std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the system prompt `{}`", path.display()))
    })
    .transpose()
    .map_err(|error| Failure::config(format!("{error:#}")).into())
}

/// What must be known before everything is allowed: a warning, or why it cannot be.
pub(in crate::commands) fn check_bypass(
    settings: &Settings,
    kind: &AgentKind,
    options: &RunOptions,
    is_root: bool,
) -> anyhow::Result<Option<String>> {
    if settings.agent.permission_mode != PermissionMode::Bypass || *kind != AgentKind::CLAUDE_CODE {
        return Ok(None);
    }
    let sandbox = options.environment.get("IS_SANDBOX");
    let says_sandbox = sandbox.is_some_and(|value| !value.is_empty() && value != "0");
    if is_root && !says_sandbox {
        return Err(Failure::config(
            "Claude Code refuses to work without permissions as root: choose `--permission-mode accept-edits`, use \
             another user, or set IS_SANDBOX=1 yourself if this machine is a sandbox",
        )
        .into());
    }
    Ok(Some(
        "the agent may do everything this user can (permission mode `bypass`): `--permission-mode ask --ask` asks first"
            .to_owned(),
    ))
}
