//! From settings to a run that is ready to be driven.

use std::sync::Arc;
use std::time::Duration;

use agent_api::{
    AgentKind, Close, Found, Gateway, Input, Launch, MicroUsd, RunOptions, RunRequest, SessionChoice,
    capability,
};
use anyhow::Context as _;
use jiff::Timestamp;
use ralph_run::machine::{DenialPolicy, Plan, SessionPlan};
use ralph_run::{
    BudgetLimits, FORMAT_VERSION, Home, Lock, LockInfo, Redactor, RunDirectory, RunFile, RunKind, RunSpec,
    RunStarted, RunStatus, Runner, WorkspaceFiles, name_in_files, secrets_among,
};

use super::agent;
use super::fit::fit;
use super::withheld::withheld;
use crate::failure::Failure;
use crate::settings::{Denials, SessionStart, Settings};
use crate::versions::{VersionCheck, VersionFile};

/// How long an interrupted agent may take to end its turn.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);
/// Whether a request makes sense does not depend on what is asked.
const ANY_PROMPT: &str = "x";
/// How much of a prompt a list of runs shows.
const PROMPT_CHARACTERS: usize = 200;

/// A run that is ready.
pub(super) struct Prepared {
    pub(super) spec: RunSpec,
    pub(super) run_file: RunFile,
    /// Held until the run is over.
    pub(super) locks: Vec<Lock>,
    /// What the user should know before it begins.
    pub(super) warnings: Vec<String>,
}

/// What a run begins with.
pub(super) struct Beginning {
    /// What the agent is told; a conversation may begin without.
    pub(super) prompt: Option<String>,
    /// The run whose conversation it goes on with.
    pub(super) resumed_from: Option<String>,
}

impl Beginning {
    pub(super) fn of(prompt: Option<String>) -> Self {
        Self {
            prompt,
            resumed_from: None,
        }
    }
}

/// Who runs it: decided before anything is written.
pub(super) struct Chosen {
    pub(super) gateway: Gateway,
    pub(super) kind: AgentKind,
    pub(super) found: Found,
    /// What this agent knows of what the settings say.
    pub(super) options: RunOptions,
    /// What the user should know before it begins.
    pub(super) warnings: Vec<String>,
}

/// Chooses the agent, and refuses what it cannot do.
pub(super) async fn choose(settings: &Settings, versions: Option<&VersionFile>) -> anyhow::Result<Chosen> {
    let mut gateway = agent::gateway(settings)?;
    if let Some(versions) = versions {
        gateway.remember_versions(Arc::new(versions.clone()));
    }
    let mut options = agent::options(settings)?;
    let (kind, found) = agent::choose(settings, &gateway, &options).await?;
    let bypass = agent::check_bypass(settings, &kind, &options, is_root())?;
    let mut warnings: Vec<String> = bypass.into_iter().collect();
    warnings.extend(fit(
        &mut options,
        settings,
        gateway.backend(kind.as_str())?.profile(),
    )?);
    let chosen = Chosen {
        gateway,
        kind,
        found,
        options,
        warnings,
    };
    let refused = |error: agent_api::Error| Failure::config(error.to_string());
    chosen.preview(settings, ANY_PROMPT).map_err(refused)?;
    Ok(chosen)
}

impl Chosen {
    /// Keeps what is known of the agent's version true.
    pub(super) fn version_check(&self, versions: Option<VersionFile>) -> Option<VersionCheck> {
        Some(VersionCheck {
            file: versions?,
            program: self.found.program.clone(),
            version: self.found.version?,
        })
    }

    /// What the first iteration would start.
    pub(super) fn preview(&self, settings: &Settings, prompt: &str) -> Result<Launch, agent_api::Error> {
        let backend = self.gateway.backend(self.kind.as_str())?;
        let mut options = self.options.clone();
        options.session = match &settings.session {
            SessionStart::Fresh => None,
            SessionStart::Resume { id, fork } => Some(session(id.clone(), *fork)),
            SessionStart::Continue { fork: true } => Some(SessionChoice::ForkLast),
            SessionStart::Continue { fork: false } => Some(SessionChoice::Last),
        };
        let mut request = RunRequest::new(prompt).options(options);
        if backend.profile().has(capability::SEND) {
            request = request.input(Input::Messages(Close::ByCaller));
        }
        self.gateway.preview(self.kind.as_str(), request, &self.found)
    }
}

/// Takes the locks, and writes nothing that another run could miss.
pub(super) fn prepare(
    home: &Home,
    directory: RunDirectory,
    settings: &Settings,
    beginning: Beginning,
    chosen: Chosen,
) -> anyhow::Result<Prepared> {
    let Chosen {
        gateway,
        kind,
        found: _,
        options,
        mut warnings,
    } = chosen;
    let Beginning { prompt, resumed_from } = beginning;
    let now = Timestamp::now();
    let info = LockInfo {
        run_id: directory.id().to_owned(),
        pid: std::process::id(),
        since: now,
    };
    let mut locks = vec![Lock::workspace(home, &settings.workspace, &info)?];
    let files = match WorkspaceFiles::prepare(home, &settings.workspace) {
        Ok(files) => Some(files),
        Err(error) => {
            warnings.push(format!("nothing is kept in the workspace: {error}"));
            None
        }
    };
    let profile = gateway.backend(kind.as_str())?.profile().clone();
    let first_session = first_session(settings, files.as_ref(), &kind, now)?;
    if let SessionChoice::Resume(id) = &first_session {
        locks.push(Lock::session(home, id, &info)?);
    }
    let takes_messages = profile.has(capability::SEND);
    let (spent_before, iterations_before) = spent(settings, files.as_ref(), now, &mut warnings);
    let redactor = Arc::new(redactor(settings, &options)?);
    let started = RunStarted {
        format_version: FORMAT_VERSION,
        run_id: directory.id().to_owned(),
        ralph_version: env!("CARGO_PKG_VERSION").to_owned(),
        workspace: settings.workspace.display().to_string(),
        backend: kind.clone(),
        display_name: profile.display_name.to_owned(),
        model: settings.agent.model.clone(),
        mode: settings.mode.clone(),
        task: settings.task.clone(),
        permission_mode: Some(mode_name(settings)),
        max_iterations: if settings.once || settings.kind == RunKind::Session {
            1
        } else {
            settings.limits.iterations.unwrap_or(0)
        },
        max_cost: settings.limits.cost,
        verify: settings.verify.clone(),
        kind: settings.kind,
        resumed_from,
        is_ephemeral: settings.ephemeral,
    };
    let has_prompt = prompt.is_some();
    let task = prompt.unwrap_or_default();
    let run_file = run_file(&started, &redactor.redact(&task), now);
    let session = (settings.kind == RunKind::Session).then(|| SessionPlan {
        has_prompt,
        idle_timeout: settings.idle_timeout,
        can_resume: !settings.ephemeral && profile.has(capability::SESSION_RESUME),
    });
    let spec = RunSpec {
        home: home.clone(),
        directory,
        gateway: Arc::new(gateway),
        task,
        options,
        takes_messages,
        plan: Plan {
            session,
            ..plan(settings, first_session)
        },
        limits: BudgetLimits {
            cost: settings.limits.cost,
            tokens: settings.limits.tokens,
            turns: None,
        },
        spent_before,
        iterations_before,
        workspace: settings.workspace.clone(),
        files,
        redactor,
        withheld: withheld(),
        login_hint: profile.login_hint.to_owned(),
        started,
        warnings: Vec::new(),
    };
    Ok(Prepared {
        spec,
        run_file,
        locks,
        warnings,
    })
}

fn plan(settings: &Settings, first_session: SessionChoice) -> Plan {
    Plan {
        is_once: settings.once,
        promise: settings.completion_promise.clone(),
        verify: settings.verify.clone(),
        max_iterations: settings.limits.iterations.unwrap_or(0),
        max_runtime: settings.limits.runtime,
        iteration_timeout: settings.limits.iteration_timeout,
        max_consecutive_failures: settings.limits.consecutive_failures.unwrap_or(0),
        cooldown: settings.cooldown,
        denials: match settings.denials {
            Denials::Fail => DenialPolicy::Fail,
            Denials::Continue => DenialPolicy::Continue,
        },
        ask_timeout: settings.ask_timeout,
        interrupt_grace: INTERRUPT_GRACE,
        first_session,
        session: None,
    }
}

/// The conversation of the first iteration.
fn first_session(
    settings: &Settings,
    files: Option<&WorkspaceFiles>,
    kind: &AgentKind,
    now: Timestamp,
) -> anyhow::Result<SessionChoice> {
    Ok(match &settings.session {
        SessionStart::Fresh => SessionChoice::New,
        SessionStart::Resume { id, fork } => session(id.clone(), *fork),
        SessionStart::Continue { fork } => {
            let backend = name_in_files(kind);
            let state = files.map(|files| files.session_state(backend, now)).transpose()?;
            let known =
                state.and_then(|kept| kept.value.session_id(settings.mode.as_deref()).map(str::to_owned));
            match known {
                Some(id) => session(id, *fork),
                None if *fork => SessionChoice::ForkLast,
                None => SessionChoice::Last,
            }
        }
    })
}

fn session(id: String, is_fork: bool) -> SessionChoice {
    if is_fork {
        SessionChoice::Fork(id)
    } else {
        SessionChoice::Resume(id)
    }
}

/// What the task has cost so far. A run without a task starts at nothing.
fn spent(
    settings: &Settings,
    files: Option<&WorkspaceFiles>,
    now: Timestamp,
    warnings: &mut Vec<String>,
) -> (MicroUsd, u32) {
    let (Some(files), Some(task), false) = (files, settings.task.as_deref(), settings.reset_budget) else {
        return (MicroUsd::ZERO, 0);
    };
    match files.budget(Some(task), now) {
        Ok(kept) => {
            warnings.extend(kept.warning);
            (kept.value.total_cost, kept.value.iterations)
        }
        Err(error) => {
            warnings.push(format!("what the task has cost so far is not known: {error}"));
            (MicroUsd::ZERO, 0)
        }
    }
}

fn redactor(settings: &Settings, options: &RunOptions) -> anyhow::Result<Redactor> {
    let own = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let given =
        options.environment.changes.iter().filter_map(|(name, value)| {
            Some((name.to_str()?.to_owned(), value.as_ref()?.to_str()?.to_owned()))
        });
    let variables: Vec<(String, String)> = own.chain(given).collect();
    let pairs = variables
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    Redactor::new(secrets_among(pairs), &settings.redact)
        .map_err(|error| Failure::config(format!("`redact` in ralph.yml: {error}")).into())
}

fn run_file(started: &RunStarted, prompt: &str, now: Timestamp) -> RunFile {
    RunFile {
        version: RunFile::VERSION,
        run_id: started.run_id.clone(),
        workspace: started.workspace.clone(),
        backend: started.backend.clone(),
        display_name: started.display_name.clone(),
        model: started.model.clone(),
        agent_version: None,
        permission_mode: started.permission_mode.clone(),
        cwd: None,
        tools: Vec::new(),
        mcp_servers: Vec::new(),
        session_ids: Vec::new(),
        mode: started.mode.clone(),
        task: started.task.clone(),
        kind: started.kind,
        resumed_from: started.resumed_from.clone(),
        is_ephemeral: started.is_ephemeral,
        prompt: prompt.chars().take(PROMPT_CHARACTERS).collect(),
        started_at: now,
        ended_at: None,
        status: RunStatus::default(),
        reason: None,
        exit_code: None,
        runner: Runner::current(),
        ralph_version: started.ralph_version.clone(),
        other: serde_json::Map::new(),
    }
}

fn mode_name(settings: &Settings) -> String {
    let name = serde_json::to_value(settings.agent.permission_mode).ok();
    name.as_ref()
        .and_then(|name| name.as_str())
        .unwrap_or_default()
        .to_owned()
}

fn is_root() -> bool {
    agent_process::is_root()
}

/// A directory for a new run.
pub(super) fn new_directory(home: &Home) -> anyhow::Result<RunDirectory> {
    home.create_run(Timestamp::now()).context("cannot keep the run")
}
