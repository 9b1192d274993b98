//! `AgentRegistry`: all backends by name. It detects, chooses and runs them, and refuses what a backend cannot do.

use std::sync::Arc;

use agent_client::{PermissionHost, PermissionMode, Persistence, SessionChoice, VersionMemory};
use futures_util::stream::{self, StreamExt as _};

use crate::backend::{Backend, InstalledAgent, Launch, launch};
use crate::capability;
use crate::detect::{Detected, DetectionReport, Detector};
use crate::error::Error;
use crate::event::AgentKind;
use crate::harness::{RunHandle, start};
use crate::request::{Attachment, Close, Input, RunOptions, RunRequest};

/// How many agents are asked for their version at the same time. Those on Node.js need a second of computing each.
const CONCURRENT_LOOK_UPS: usize = 4;

/// All backends, in order of preference.
///
/// Calls need a tokio runtime with I/O and time. Call [`agent_process::guard_main`] first in `main`, so that no agent
/// outlives your process.
#[derive(Default)]
pub struct AgentRegistry {
    backends: Vec<Arc<dyn Backend>>,
    detector: Detector,
}

impl AgentRegistry {
    /// A registry without backends.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a backend; those added first are preferred.
    ///
    /// # Errors
    /// When there is one of the same name.
    pub fn register(&mut self, backend: impl Backend + 'static) -> Result<(), Error> {
        self.register_shared(Arc::new(backend))
    }

    pub(crate) fn register_shared(&mut self, backend: Arc<dyn Backend>) -> Result<(), Error> {
        let profile = backend.profile();
        let taken = |known: &Arc<dyn Backend>| profile.names().any(|name| known.profile().is_named(name));
        if self.backends.iter().any(taken) {
            return Err(Error::DuplicateBackend {
                name: profile.kind.clone(),
            });
        }
        self.backends.push(backend);
        Ok(())
    }

    /// [`Self::register`], in one expression.
    ///
    /// # Errors
    /// When there is one of the same name.
    pub fn with(mut self, backend: impl Backend + 'static) -> Result<Self, Error> {
        self.register(backend)?;
        Ok(self)
    }

    /// Uses versions that earlier processes have looked up, and keeps new ones for later processes. Without this, every
    /// process starts each agent once to ask for its version.
    pub fn remember_versions(&mut self, memory: Arc<dyn VersionMemory>) {
        self.detector.remember_in(memory);
    }

    /// All backends, in order of preference.
    pub fn backends(&self) -> impl Iterator<Item = &Arc<dyn Backend>> {
        self.backends.iter()
    }

    /// The kinds of all backends, in order of preference.
    pub fn kinds(&self) -> impl Iterator<Item = &AgentKind> {
        self.backends.iter().map(|backend| &backend.profile().kind)
    }

    /// A backend by its kind, its short name or an alias.
    ///
    /// # Errors
    /// When there is none; the error lists all names and suggests the nearest one.
    pub fn backend(&self, name: &str) -> Result<&Arc<dyn Backend>, Error> {
        let mut backends = self.backends.iter();
        let found = backends.find(|backend| backend.profile().is_named(name));
        found.ok_or_else(|| {
            let known: Vec<String> = self
                .backends
                .iter()
                .map(|backend| backend.profile().name().to_owned())
                .collect();
            Error::UnknownBackend {
                name: name.to_owned(),
                nearest: nearest(name, &known),
                known,
            }
        })
    }

    /// The backend whose output a recording with these first lines is.
    #[must_use]
    pub fn recognise(&self, first_lines: &[&[u8]]) -> Option<&Arc<dyn Backend>> {
        self.backends
            .iter()
            .find(|backend| backend.recognises(first_lines))
    }

    /// Which backends are installed, and how to install the others.
    pub async fn detect(&self, options: &RunOptions) -> DetectionReport {
        // Collected first: with the closure inside, the future of this function would not be `Send`.
        let look_ups: Vec<_> = self
            .backends
            .iter()
            .map(|backend| self.look_up(backend.as_ref(), options))
            .collect();
        let entries = stream::iter(look_ups).buffered(CONCURRENT_LOOK_UPS).collect();
        DetectionReport {
            entries: entries.await,
        }
    }

    async fn look_up(&self, backend: &dyn Backend, options: &RunOptions) -> Detected {
        let options = options.clone().or(&backend.config().defaults);
        Detected {
            profile: backend.profile().clone(),
            found: self
                .detector
                .find(backend.profile(), backend.config(), &options)
                .await,
        }
    }

    /// Finds the program of one backend, as a run with these options would start it.
    ///
    /// # Errors
    /// When there is no such backend, or it is not installed.
    pub async fn find(&self, name: &str, options: &RunOptions) -> Result<InstalledAgent, Error> {
        let backend = self.backend(name)?;
        let options = options.clone().or(&backend.config().defaults);
        self.detector
            .find(backend.profile(), backend.config(), &options)
            .await
    }

    /// What [`run`](Self::run) would start, without starting it.
    ///
    /// # Errors
    /// When the request is invalid or asks for something that the backend cannot do.
    pub fn preview(&self, name: &str, request: RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        let backend = self.backend(name)?;
        let request = resolve(backend.as_ref(), request)?;
        launch(backend.as_ref(), &request, found)
    }

    /// The first installed backend, in order of preference. Skips backends that must be asked for by name, such as the
    /// demo.
    ///
    /// # Errors
    /// When none is installed; the error says how to install each.
    pub async fn choose(&self, options: &RunOptions) -> Result<AgentKind, Error> {
        for backend in &self.backends {
            let profile = backend.profile();
            if !profile.is_chosen_automatically {
                continue;
            }
            let options = options.clone().or(&backend.config().defaults);
            if self
                .detector
                .find(profile, backend.config(), &options)
                .await
                .is_ok()
            {
                return Ok(profile.kind.clone());
            }
        }
        Err(Error::NothingFound {
            needed: self.detect(options).await.needed(),
        })
    }

    /// Starts a run.
    ///
    /// # Errors
    /// When the request is invalid or asks for something that the backend cannot do, before anything is started; when
    /// the agent is not installed or could not be started.
    pub async fn run(&self, name: &str, request: RunRequest) -> Result<RunHandle, Error> {
        let backend = self.backend(name)?;
        let request = resolve(backend.as_ref(), request)?;
        let found = self
            .detector
            .find(backend.profile(), backend.config(), &request.options)
            .await?;
        start(backend.as_ref(), &request, &found).await
    }
}

/// The known name that is most like an unknown one, if they are similar.
fn nearest(unknown: &str, known: &[String]) -> Option<String> {
    let unknown = unknown.to_ascii_lowercase();
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&unknown, name), name))
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.clone())
}

/// Merges the backend's configuration into the request, and refuses what the backend cannot do.
fn resolve(backend: &dyn Backend, mut request: RunRequest) -> Result<RunRequest, Error> {
    let profile = backend.profile();
    let needs_messages = request.permission.is_some() || !request.attachments.is_empty();
    if needs_messages && request.input == Input::PromptOnly {
        request.input = Input::Messages(Close::WhenIdle);
    }
    let lacking = backend.lacks(&request);
    let mut options = request.options.or(&backend.config().defaults);
    if request.permission.is_some() {
        options.permission_host = Some(PermissionHost::Caller);
    }
    let mut keys = options.extensions.keys();
    if let Some(key) = keys.find(|key| !profile.extension_keys.contains(&key.as_str())) {
        return Err(Error::UnsupportedCapability {
            agent_kind: profile.kind.clone(),
            capability: key.clone(),
        });
    }
    backend.check_extensions(&options)?;
    for (name, value) in profile.environment {
        let changes = &mut options.environment.changes;
        changes.entry(name.into()).or_insert_with(|| Some(value.into()));
    }
    if request.prompt.trim().is_empty() {
        return Err(Error::invalid("the prompt is empty: say what to do"));
    }
    let session = match &options.session {
        None | Some(SessionChoice::New) => None,
        Some(SessionChoice::NewWithId(_)) => Some(capability::SESSION_PRESET_ID),
        Some(SessionChoice::Resume(_) | SessionChoice::Last) => Some(capability::SESSION_RESUME),
        Some(SessionChoice::Fork { .. } | SessionChoice::ForkLast { .. }) => Some(capability::SESSION_FORK),
    };
    let names_fork = matches!(
        options.session,
        Some(SessionChoice::Fork { new_id: Some(_), .. } | SessionChoice::ForkLast { new_id: Some(_) })
    );
    let asks_caller = options.permission_host == Some(PermissionHost::Caller);
    let takes_messages = matches!(request.input, Input::Messages(_));
    // An agent that never asks needs no permission mode.
    let needs_permissions = options
        .permission_mode
        .is_some_and(|mode| mode != PermissionMode::Bypass);
    let chooses_tools =
        options.tools.is_some() || options.allowed_tools.is_some() || options.disallowed_tools.is_some();
    let has_limits = options.max_turns.is_some() || options.max_budget.is_some();
    let has_system_prompt = options.system_prompt.is_some() || options.append_system_prompt.is_some();
    let wanted = [
        session,
        names_fork.then_some(capability::SESSION_FORK_ID),
        (options.persistence == Some(Persistence::Off)).then_some(capability::SESSION_EPHEMERAL),
        options.model.is_some().then_some(capability::CONFIG_MODEL),
        needs_permissions.then_some(capability::CONFIG_PERMISSIONS),
        (options.permission_mode == Some(PermissionMode::Auto))
            .then_some(capability::CONFIG_AUTO_PERMISSIONS),
        chooses_tools.then_some(capability::CONFIG_TOOLS),
        has_limits.then_some(capability::CONFIG_LIMITS),
        has_system_prompt.then_some(capability::CONFIG_SYSTEM_PROMPT),
        options.mcp_config.is_some().then_some(capability::CONFIG_MCP),
        (options.settings.is_some() || options.agents.is_some()).then_some(capability::CONFIG_SETTINGS),
        options.effort.is_some().then_some(capability::CONFIG_EFFORT),
        options
            .max_thinking_tokens
            .is_some()
            .then_some(capability::CONFIG_THINKING),
        options
            .fallback_model
            .is_some()
            .then_some(capability::CONFIG_FALLBACK_MODEL),
        options
            .output_schema
            .is_some()
            .then_some(capability::STRUCTURED_OUTPUT),
        (!options.additional_directories.is_empty()).then_some(capability::ADD_DIRS),
        asks_caller.then_some(capability::ANSWER),
        takes_messages.then_some(capability::SEND),
    ];
    let attached = request.attachments.iter().map(Attachment::capability);
    let mut wanted = attached.chain(wanted.into_iter().flatten());
    if let Some(missing) = wanted.find(|wanted| !profile.has(wanted) || lacking.contains(wanted)) {
        return Err(Error::UnsupportedCapability {
            agent_kind: profile.kind.clone(),
            capability: missing.to_owned(),
        });
    }
    if asks_caller && !takes_messages {
        return Err(Error::invalid(
            "`PermissionHost::Caller` needs a run that takes answers: use `Input::Messages`",
        ));
    }
    Ok(RunRequest { options, ..request })
}
