//! `prepare`: turns settings and a selected agent into a `RunSpec`, and takes the locks.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent_api::{
    AgentKind, AgentRegistry, Close, Input, InstalledAgent, Launch, MicroUsd, Profile, RunOptions,
    RunRequest, SessionChoice, capability,
};
use anyhow::Context as _;
use jiff::Timestamp;
use ralph_run::machine::{
    ConversationPlan, DenialPolicy, LimitPolicy, LoopPlan, Plan, RolePlan, RoleSession, WorkPlan,
};
use ralph_run::watchdog::WatchRules;
use ralph_run::{
    BudgetLimits, BudgetState, FORMAT_VERSION, Home, Lock, LockInfo, Redactor, RoleSpec, RunDirectory,
    RunFile, RunKind, RunSpec, RunStarted, RunStatus, Runner, Views, WorkspaceFiles, secrets_among,
};

use super::agent;
use super::hidden_env::hidden_variables;
use super::prompt;
use super::scope::unmatched_patterns;
use super::silence_limits::limit_silence;
use super::unsupported::{drop_unsupported, relies_on_cost_limit};
use super::verify_programs::missing_programs;
use super::worktree;
use crate::current_process;
use crate::failure::Failure;
use crate::notify::{self, ChannelContext, Notifier};
use crate::settings::{Denials, NotifySettings, RoleSettings, SessionPolicy, SessionStart, Settings};
use crate::version_cache::VersionCache;

/// How long an interrupted agent may take to end its turn.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);
/// Whether a request is valid does not depend on the prompt.
const ANY_PROMPT: &str = "x";
/// How much of a prompt a list of runs shows.
const PROMPT_CHARACTERS: usize = 200;

/// A run that is ready to be driven.
pub(super) struct Prepared {
    pub(super) spec: RunSpec,
    pub(super) run_file: RunFile,
    /// Held until the run has ended.
    pub(super) locks: Vec<Lock>,
    /// For the user, before the run starts.
    pub(super) warnings: Vec<String>,
    pub(super) notify: NotifySettings,
}

/// Adds the notifications to the views of the run.
pub(super) fn start_notifier(
    settings: &NotifySettings,
    spec: &RunSpec,
    views: &mut Views,
) -> Result<Option<Notifier>, Failure> {
    let context = ChannelContext {
        workspace: spec.workspace.clone(),
        marker: Some(spec.directory.marker()),
        withheld: spec.withheld.clone(),
    };
    Notifier::start(settings, &context, views).map_err(Failure::config)
}

/// What the first iteration starts from.
pub(super) struct FirstPrompt {
    /// A conversation may start without one.
    pub(super) prompt: Option<String>,
    /// The run whose session it continues.
    pub(super) resumed_from: Option<String>,
    /// Who starts it through a server.
    pub(super) by: Option<String>,
}

/// The agent of a run, chosen before anything is written.
pub(super) struct SelectedAgent {
    pub(super) registry: AgentRegistry,
    pub(super) kind: AgentKind,
    pub(super) found: InstalledAgent,
    /// How it is run, with the options that it supports.
    pub(super) own: RoleSpec,
    /// The same for each role.
    pub(super) roles: BTreeMap<String, RoleSpec>,
    redactor: Redactor,
    /// For the user, before the run starts.
    pub(super) warnings: Vec<String>,
}

/// Chooses the agent, and refuses settings that it does not support. With a home, versions are cached there.
pub(super) async fn choose(settings: &Settings, home: Option<&Home>) -> anyhow::Result<SelectedAgent> {
    let mut registry = agent::registry(settings)?;
    if let Some(home) = home {
        registry.remember_versions(Arc::new(VersionCache::new(home)));
    }
    let (kind, found) = agent::choose(settings, &registry, &agent::options(settings)?).await?;
    select(settings, registry, kind, found)
}

/// Refuses settings that this agent does not support.
pub(super) fn select(
    settings: &Settings,
    registry: AgentRegistry,
    kind: AgentKind,
    found: InstalledAgent,
) -> anyhow::Result<SelectedAgent> {
    notify::check(&settings.notify).map_err(Failure::config)?;
    watch_rules(settings)?;
    let profile = registry.backend(kind.as_str())?.profile();
    let mut warnings = Vec::new();
    let own = role_spec(settings, profile, &mut warnings)?;
    let mut roles = BTreeMap::new();
    for role in &settings.roles {
        let spec = role_spec(&settings.for_role(role), profile, &mut warnings)?;
        roles.insert(role.name.clone(), spec);
    }
    warnings.extend(missing_programs(&settings.verify, &settings.workspace));
    let selected = SelectedAgent {
        redactor: redactor(settings, &own.options)?,
        registry,
        kind,
        found,
        own,
        roles,
        warnings,
    };
    let refused = |error: agent_api::Error| Failure::config(error.to_string());
    let session = match &settings.session {
        SessionStart::Fresh => SessionChoice::New,
        SessionStart::Resume { id, fork } => session(id.clone(), *fork),
        SessionStart::Continue { fork: true } => SessionChoice::fork_last(),
        SessionStart::Continue { fork: false } => SessionChoice::Last,
    };
    let preview = selected.preview(settings, ANY_PROMPT, session);
    preview.map_err(refused)?;
    for role in &settings.roles {
        let preview = selected.preview(&settings.for_role(role), ANY_PROMPT, SessionChoice::New);
        preview.map_err(refused)?;
    }
    Ok(selected)
}

/// How the agent is run with these settings. Says which of them it does not support.
fn role_spec(settings: &Settings, profile: &Profile, warnings: &mut Vec<String>) -> anyhow::Result<RoleSpec> {
    let mut options = agent::options(settings)?;
    agent::apply_auth(settings.agent.auth, profile, &mut options)?;
    let bypass = agent::check_bypass(settings, profile, &options, current_process::is_root())?;
    let unsupported = drop_unsupported(&mut options, settings, profile)?;
    limit_silence(&mut options, watch_rules(settings)?.silence, profile);
    for warning in bypass.into_iter().chain(unsupported) {
        // Roles have most of their settings in common.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    Ok(RoleSpec {
        options,
        instructions: prompt::read_mode_prompt(settings)?,
    })
}

impl SelectedAgent {
    /// The role that these settings are for, or the only one.
    pub(super) fn role(&self, settings: &Settings) -> &RoleSpec {
        let role = settings.mode.as_ref().and_then(|mode| self.roles.get(mode));
        role.unwrap_or(&self.own)
    }

    /// The command line of an iteration with these settings.
    pub(super) fn preview(
        &self,
        settings: &Settings,
        prompt: &str,
        session: SessionChoice,
    ) -> Result<Launch, agent_api::Error> {
        let backend = self.registry.backend(self.kind.as_str())?;
        let mut options = self.role(settings).options.clone();
        options.session = Some(session);
        let mut request = RunRequest::new(prompt).options(options);
        if takes_messages(settings, backend.profile()) {
            request = request.input(Input::Messages(Close::ByCaller));
        }
        self.registry.preview(self.kind.as_str(), request, &self.found)
    }

    pub(super) fn profile(&self) -> Result<&Profile, agent_api::Error> {
        Ok(self.registry.backend(self.kind.as_str())?.profile())
    }
}

/// Whether the agent is started in the form that takes messages while it works.
fn takes_messages(settings: &Settings, profile: &Profile) -> bool {
    let is_wanted = settings.ask || settings.kind == RunKind::Session;
    let is_accepted = settings
        .accepts_input
        .unwrap_or(is_wanted || !profile.messages_on_demand);
    profile.has(capability::SEND) && is_accepted
}

/// Takes the locks before it writes anything in the workspace.
pub(super) fn prepare(
    home: &Home,
    directory: RunDirectory,
    settings: &Settings,
    first_prompt: FirstPrompt,
    selected: SelectedAgent,
) -> anyhow::Result<Prepared> {
    let SelectedAgent {
        registry,
        kind,
        found: _,
        own,
        roles,
        redactor,
        mut warnings,
    } = selected;
    let FirstPrompt {
        prompt,
        resumed_from,
        by,
    } = first_prompt;
    let now = Timestamp::now();
    let info = LockInfo {
        run_id: directory.id().to_owned(),
        pid: std::process::id(),
        since: now,
    };
    let mut locks = vec![Lock::workspace(home, &settings.workspace, &info)?];
    // A run for a folder of its worktree has all of it to itself: merges and other runs lock the top.
    let worktree = settings.own_worktree.as_ref();
    if let Some(worktree) = worktree.filter(|worktree| worktree.path != settings.workspace) {
        locks.push(Lock::workspace(home, &worktree.path, &info)?);
    }
    let files = match WorkspaceFiles::prepare(home, &settings.workspace) {
        Ok(files) => Some(files),
        Err(error) => {
            warnings.push(format!("cannot keep files in the workspace: {error}"));
            None
        }
    };
    let watch = watch_rules(settings)?;
    for pattern in unmatched_patterns(&settings.workspace, &settings.watch.scope) {
        warnings.push(format!("`watch.scope`: no file matches `{pattern}`"));
    }
    let profile = registry.backend(kind.as_str())?.profile().clone();
    let (first_session, notice) = first_session(settings, files.as_ref(), &profile, now)?;
    warnings.extend(notice);
    if let SessionChoice::Resume(id) = &first_session {
        locks.push(Lock::session(home, id, &info)?);
    }
    let takes_messages = takes_messages(settings, &profile);
    let (spent_before, iterations_before) = spent(settings, files.as_ref(), now, &mut warnings);
    let redactor = Arc::new(redactor);
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
        spent_before: Some(spent_before).filter(|spent| *spent > MicroUsd::ZERO),
        verify: settings.verify.clone(),
        kind: settings.kind.into(),
        by,
        resumed_from,
        is_ephemeral: settings.ephemeral,
        start_commit: None,
    };
    let has_prompt = prompt.is_some();
    let task = prompt::task(settings, prompt.unwrap_or_default());
    let run_file = run_file(&started, &redactor.redact(task.text()), now);
    let work = match settings.kind {
        RunKind::Session => WorkPlan::Conversation(ConversationPlan {
            has_prompt,
            idle_timeout: settings.idle_timeout,
            can_resume: !settings.ephemeral && profile.has(capability::SESSION_RESUME),
        }),
        RunKind::Loop => WorkPlan::Loop(loop_plan(settings, &profile)),
    };
    let spec = RunSpec {
        home: home.clone(),
        directory,
        registry: Arc::new(registry),
        task,
        own,
        roles,
        plan: Plan {
            work,
            limits: BudgetLimits {
                cost: settings.limits.cost,
                tokens: settings.limits.tokens,
                iterations: settings.limits.iterations,
                runtime: settings.limits.runtime,
            },
            is_cost_limit_chosen: relies_on_cost_limit(settings, &profile),
            limit_policy: match settings.asks_about_limits {
                true => LimitPolicy::Ask,
                false => LimitPolicy::End,
            },
            max_wait: settings.limits.wait,
            spent_before,
            model: settings.agent.model.clone(),
            takes_messages,
            ask_timeout: settings.ask_timeout,
            interrupt_grace: INTERRUPT_GRACE,
            first_session,
        },
        watch,
        iterations_before,
        workspace: settings.workspace.clone(),
        files,
        redactor,
        environment: worktree::variables(settings),
        closer: None,
        withheld: hidden_variables(&settings.notify),
        login_hint: profile.login_hint.to_owned(),
        backend_name: profile.name().to_owned(),
        started,
        warnings: Vec::new(),
    };
    Ok(Prepared {
        spec,
        run_file,
        locks,
        warnings,
        notify: settings.notify.clone(),
    })
}

fn watch_rules(settings: &Settings) -> Result<WatchRules, Failure> {
    let rules = settings.watch.rules();
    rules.map_err(|error| Failure::config(format!("`watch.scope` in ralph.yml: {error}")))
}

pub(super) fn loop_plan(settings: &Settings, profile: &Profile) -> LoopPlan {
    let can_resume = !settings.ephemeral && profile.has(capability::SESSION_RESUME);
    let role = |role: &RoleSettings| RolePlan {
        name: role.name.clone(),
        next: role.next,
        session: match role.session_policy {
            SessionPolicy::Keep if can_resume => RoleSession::Keep,
            SessionPolicy::Keep | SessionPolicy::Fresh => RoleSession::Fresh,
        },
        model: role.agent.model.clone(),
    };
    LoopPlan {
        has_memory: settings.memory,
        roles: settings.roles.iter().map(role).collect(),
        is_once: settings.once,
        promise: settings.completion_promise.clone(),
        verify: settings.verify.clone(),
        verify_timeout: settings.verify_timeout,
        iteration_timeout: settings.limits.iteration_timeout,
        max_consecutive_failures: settings.limits.consecutive_failures.unwrap_or(0),
        cooldown: settings.cooldown,
        denials: match settings.denials {
            Denials::Fail => DenialPolicy::Fail,
            Denials::Continue => DenialPolicy::Continue,
        },
    }
}

/// The session of the first iteration, and a line about it if it was not asked for.
pub(super) fn first_session(
    settings: &Settings,
    files: Option<&WorkspaceFiles>,
    profile: &Profile,
    now: Timestamp,
) -> anyhow::Result<(SessionChoice, Option<String>)> {
    let mode = settings.mode.as_deref();
    let last = || -> anyhow::Result<Option<String>> {
        let state = files
            .map(|files| files.session_state(profile.name(), now))
            .transpose()?;
        Ok(state.and_then(|state| state.value.session_id(mode).map(str::to_owned)))
    };
    let of_mode = || mode.map_or_else(String::new, |mode| format!(" of mode `{mode}`"));
    match &settings.session {
        SessionStart::Fresh => {
            let keeps = settings.session_policy == SessionPolicy::Keep
                && !settings.ephemeral
                && profile.has(capability::SESSION_RESUME);
            let Some(id) = last().map(|id| id.filter(|_| keeps))? else {
                return Ok((SessionChoice::New, None));
            };
            let notice = format!("continuing session {id}{}; use `--fresh` to start a new one", of_mode());
            Ok((SessionChoice::Resume(id), Some(notice)))
        }
        SessionStart::Resume { id, fork } => Ok((session(id.clone(), *fork), None)),
        SessionStart::Continue { fork } => match last()? {
            Some(id) => Ok((session(id, *fork), None)),
            None => Err(Failure::usage(format!(
                "there is no session{} to continue in this workspace: remove `--continue`, or name one with `--resume`",
                of_mode()
            ))
            .into()),
        },
    }
}

fn session(id: String, is_fork: bool) -> SessionChoice {
    if is_fork {
        SessionChoice::fork(id)
    } else {
        SessionChoice::Resume(id)
    }
}

/// What the task has cost so far, after `--reset-budget` nothing. A run without a task starts at 0.
fn spent(
    settings: &Settings,
    files: Option<&WorkspaceFiles>,
    now: Timestamp,
    warnings: &mut Vec<String>,
) -> (MicroUsd, u32) {
    let (Some(files), Some(task)) = (files, settings.task.as_deref()) else {
        return (MicroUsd::ZERO, 0);
    };
    let loaded = match settings.reset_budget {
        true => files.update_budget(Some(task), now, BudgetState::reset),
        false => files.budget(Some(task), now),
    };
    match loaded {
        Ok(loaded) => {
            warnings.extend(loaded.warning);
            (loaded.value.total_cost, loaded.value.iterations)
        }
        Err(error) => {
            warnings.push(format!("cannot read what the task has cost so far: {error}"));
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
        kind: started.kind.clone(),
        by: started.by.clone(),
        resumed_from: started.resumed_from.clone(),
        is_ephemeral: started.is_ephemeral,
        prompt: prompt.chars().take(PROMPT_CHARACTERS).collect(),
        started_at: now,
        ended_at: None,
        status: RunStatus {
            spent_before: started.spent_before,
            ..RunStatus::default()
        },
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

pub(super) fn new_directory(home: &Home) -> anyhow::Result<RunDirectory> {
    home.create_run(Timestamp::now())
        .context("cannot create the run directory")
}
