//! Turns settings into a registry of agents and the options of a run.

use agent_api::backends::acp::Acp;
use agent_api::backends::custom::{Custom, PromptBy};
use agent_api::{
    AgentKind, AgentRegistry, BackendConfig, Environment, Error, Expansion, InstalledAgent, PartialMessages,
    PermissionHost, Persistence, Profile, RunOptions, SystemPrompt, capability,
};
use agent_process::StdoutMode;
use anyhow::Context as _;
use demo_agent::Demo;
use ralph_run::control::PermissionChoice;

use super::hidden_env::hidden_variables;
use crate::failure::Failure;
use crate::settings::{AgentOutput, Auth, PromptMode, Settings, Transport};

/// The size of the agent's terminal with `transport: pty`. Wide, so that nothing wraps.
const PTY: StdoutMode = StdoutMode::Pty {
    columns: 200,
    rows: 50,
};

/// All agents: the built-in ones, the demo, and the command of `ralph.yml` if the settings choose it.
pub(in crate::commands) fn registry(settings: &Settings) -> anyhow::Result<AgentRegistry> {
    let agent = &settings.agent;
    let mut registry = AgentRegistry::builtin_with(|name| BackendConfig {
        program: agent.program.clone().filter(|_| agent.backend.as_str() == name),
        defaults: RunOptions::new(),
    });
    registry.register(Demo::reexec())?;
    if agent.backend.is_custom() {
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
        registry.register(custom)?;
    }
    if let Some(acp) = &agent.acp {
        registry.register(Acp::custom(&acp.program, &acp.args))?;
    }
    Ok(registry)
}

/// Chooses the agent and finds its program.
pub(super) async fn choose(
    settings: &Settings,
    registry: &AgentRegistry,
    options: &RunOptions,
) -> anyhow::Result<(AgentKind, InstalledAgent)> {
    let kind = if settings.agent.backend.is_auto() {
        match registry.choose(options).await {
            Ok(kind) => kind,
            Err(_) => return Err(nothing_found(registry, options).await.into()),
        }
    } else {
        let backend = registry.backend(settings.agent.backend.as_str())?;
        backend.profile().kind.clone()
    };
    // Reports a missing program before anything is written.
    let found = registry.find(kind.as_str(), options).await?;
    Ok((kind, found))
}

/// Why `auto` found no agent: programs that are installed and do not work, else how to install the preferred one.
async fn nothing_found(registry: &AgentRegistry, options: &RunOptions) -> Failure {
    let report = registry.detect(options).await;
    let errors = || {
        report
            .entries
            .iter()
            .filter_map(|entry| entry.found.as_ref().err())
    };
    let is_broken = |error: &&Error| !matches!(error, Error::NotInstalled { .. });
    let broken: Vec<String> = errors().filter(is_broken).map(ToString::to_string).collect();
    let reason = if broken.is_empty() {
        let profiles = registry.backends().map(|backend| backend.profile());
        let profiles: Vec<&Profile> = profiles
            .filter(|profile| profile.is_chosen_automatically)
            .collect();
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
        let hint = profiles.first().map_or("", |profile| profile.install_hint);
        format!(
            "none of {} is installed; for the first one, {hint}",
            names.join(", ")
        )
    } else {
        broken.join("; ")
    };
    Failure::unavailable(format!(
        "no agent found: {reason}. `ralph doctor` says how to install each, `ralph demo` works without one"
    ))
}

/// The options of every iteration, before the agent is known; [`drop_unsupported`](super::unsupported) adapts them to it.
pub(in crate::commands) fn options(settings: &Settings) -> anyhow::Result<RunOptions> {
    let agent = &settings.agent;
    let mut options = RunOptions::new();
    options.cwd = Some(settings.workspace.clone());
    options.environment = environment(settings);
    options.model.clone_from(&agent.model);
    options.tools.clone_from(&agent.tools);
    options.allowed_tools.clone_from(&agent.allowed_tools);
    let text = |text: &Option<String>| text.clone().map(SystemPrompt::Text);
    let (replaced, appended) = (&agent.system_prompt_file, &agent.append_system_prompt_file);
    options.system_prompt = text(&agent.system_prompt).or(read(replaced.as_deref())?);
    options.append_system_prompt = text(&agent.append_system_prompt).or(read(appended.as_deref())?);
    options.permission_mode = Some(agent.permission_mode.into());
    options.permission_host = settings.ask.then_some(PermissionHost::Caller);
    options.persistence = settings.ephemeral.then_some(Persistence::Off);
    options.partial_messages = (!agent.partials).then_some(PartialMessages::Off);
    options.expansion = agent.slash.then_some(Expansion::Commands);
    options.max_turns = settings.limits.turns;
    options.transport = match agent.transport {
        Transport::Auto => None,
        Transport::Spool => Some(StdoutMode::Spool),
        Transport::Pipe => Some(StdoutMode::Pipe),
        Transport::Pty => Some(PTY),
    };
    if !agent.backend.is_custom() {
        options.extra_args = agent.args.iter().map(Into::into).collect();
    }
    Ok(options)
}

fn environment(settings: &Settings) -> Environment {
    let mut environment = Environment::inherit();
    for name in hidden_variables(&settings.notify) {
        environment = environment.remove(name);
    }
    let acp = settings
        .agent
        .acp
        .iter()
        .filter(|_| settings.agent.backend.is_acp());
    let own = settings.own_worktree.iter().flat_map(|own| &own.variables);
    for (name, value) in own {
        environment = environment.set(name, value);
    }
    for (name, value) in settings.agent.env.iter().chain(acp.flat_map(|acp| &acp.env)) {
        environment = match value {
            Some(value) => environment.set(name, value),
            None => environment.remove(name),
        };
    }
    environment
}

/// Applies `auth`: `login` removes the agent's API keys from its environment, `api_key` needs one of them.
pub(in crate::commands) fn apply_auth(
    auth: Auth,
    profile: &Profile,
    options: &mut RunOptions,
) -> Result<(), Failure> {
    let variables = profile.auth_variables;
    match auth {
        Auth::Inherit => {}
        Auth::Login => {
            for name in variables {
                options.environment = std::mem::take(&mut options.environment).remove(name);
            }
        }
        Auth::ApiKey => {
            let is_set = |name: &&str| {
                let value = options.environment.get(name);
                value.is_some_and(|value| !value.is_empty())
            };
            if !variables.is_empty() && !variables.iter().any(is_set) {
                let failure = Failure::config(format!(
                    "`auth: api_key` needs {} in the environment of the backend `{}`",
                    variables.join(" or "),
                    profile.name()
                ));
                return Err(failure.about("--auth"));
            }
        }
    }
    Ok(())
}

fn read(path: Option<&std::path::Path>) -> anyhow::Result<Option<SystemPrompt>> {
    path.map(|path| {
        std::fs::read_to_string(path)
            .map(SystemPrompt::Text)
            .with_context(|| format!("cannot read the system prompt `{}`", path.display()))
    })
    .transpose()
    .map_err(|error| Failure::config(format!("{error:#}")).into())
}

/// Checks permission mode `bypass`: gives a warning, or an error if the agent refuses it for root.
pub(in crate::commands) fn check_bypass(
    settings: &Settings,
    profile: &Profile,
    options: &RunOptions,
    is_root: bool,
) -> anyhow::Result<Option<String>> {
    let asks_otherwise = profile.has(capability::CONFIG_PERMISSIONS) && !settings.agent.backend.is_demo();
    if settings.agent.permission_mode != PermissionChoice::Bypass || !asks_otherwise {
        return Ok(None);
    }
    if let Some(refusal) = profile.root_refusal.filter(|_| is_root) {
        let sandbox = refusal
            .sandbox_variable
            .and_then(|name| options.environment.get(name));
        if !sandbox.is_some_and(|value| !value.is_empty() && value != "0") {
            return Err(Failure::config(refusal.message).into());
        }
    }
    let advice = if profile.has(capability::ANSWER) {
        "Use --ask to approve each action."
    } else {
        "Use --permission-mode to restrict it."
    };
    Ok(Some(format!(
        "permission checks are off; the agent can do anything you can. {advice}"
    )))
}
