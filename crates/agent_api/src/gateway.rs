//! Choosing a backend and running it.

use std::sync::Arc;

use crate::backend::{Backend, Found, Launch};
use crate::capability;
use crate::detect::{Detector, Report, ReportEntry, VersionMemory};
use crate::error::Error;
use crate::event::AgentKind;
use crate::harness::{RunHandle, start};
use crate::request::{Input, PermissionMode, RunOptions, RunRequest, SessionChoice, apply_extensions};

/// The backends there are, in order of preference.
///
/// Calls need a tokio runtime with I/O and time. Call [`agent_process::guard_main`] first in `main`, so that no agent
/// outlives your process.
#[derive(Default)]
pub struct Gateway {
    backends: Vec<Arc<dyn Backend>>,
    detector: Detector,
}

impl Gateway {
    /// Without any backend.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a backend; those added first are preferred.
    ///
    /// # Errors
    /// When there is one of the same name.
    pub fn register(&mut self, backend: impl Backend + 'static) -> Result<(), Error> {
        let name = backend.profile().kind.clone();
        if self.backends.iter().any(|known| known.profile().kind == name) {
            return Err(Error::DuplicateBackend { name });
        }
        self.backends.push(Arc::new(backend));
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

    /// From now on, the versions that earlier processes were told count too, and those that this one is told are kept
    /// for later ones. Without that, every process asks again.
    pub fn remember_versions(&mut self, memory: Arc<dyn VersionMemory>) {
        self.detector.remember_in(memory);
    }

    /// The names of the backends, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &AgentKind> {
        self.backends.iter().map(|backend| &backend.profile().kind)
    }

    /// A backend by its name.
    ///
    /// # Errors
    /// When there is none; the error lists those there are.
    pub fn backend(&self, name: &str) -> Result<&Arc<dyn Backend>, Error> {
        let mut backends = self.backends.iter();
        let found = backends.find(|backend| backend.profile().kind.as_str() == name);
        found.ok_or_else(|| Error::UnknownBackend {
            name: name.to_owned(),
            known: self.kinds().map(ToString::to_string).collect(),
        })
    }

    /// Which of the backends are installed, and what the others would need.
    pub async fn detect(&self, options: &RunOptions) -> Report {
        let mut entries = Vec::new();
        for backend in &self.backends {
            let profile = backend.profile();
            let options = options.clone().or(&backend.config().defaults);
            entries.push(ReportEntry {
                kind: profile.kind.clone(),
                display_name: profile.display_name,
                found: self.detector.find(profile, backend.config(), &options).await,
                tested_versions: profile.tested_versions,
                login_hint: profile.login_hint,
            });
        }
        Report { entries }
    }

    /// The program of one backend, as a run with these options would start it.
    ///
    /// # Errors
    /// When there is no such backend, or it is not installed.
    pub async fn find(&self, name: &str, options: &RunOptions) -> Result<Found, Error> {
        let backend = self.backend(name)?;
        let options = options.clone().or(&backend.config().defaults);
        self.detector
            .find(backend.profile(), backend.config(), &options)
            .await
    }

    /// What [`run`](Self::run) would start, without starting it.
    ///
    /// # Errors
    /// When the request asks for something that the backend cannot do or that makes no sense.
    pub fn preview(&self, name: &str, request: RunRequest, found: &Found) -> Result<Launch, Error> {
        let backend = self.backend(name)?;
        let request = resolve(backend.as_ref(), request)?;
        backend.launch(&request, found)
    }

    /// The first of the backends that is installed.
    ///
    /// # Errors
    /// When none is; the error says what each would need.
    pub async fn choose(&self, options: &RunOptions) -> Result<AgentKind, Error> {
        for backend in &self.backends {
            let profile = backend.profile();
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
    /// When the request asks for something that the backend cannot do or that makes no sense, before anything is
    /// started; when the agent is not installed, or could not be started.
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

/// Works configuration and extensions in, and refuses what the backend cannot do.
fn resolve(backend: &dyn Backend, request: RunRequest) -> Result<RunRequest, Error> {
    let profile = backend.profile();
    let mut options = request.options;
    let mut defaults = backend.config().defaults.clone();
    // Key by key, so that a `false` of the request takes back a `true` of the configuration.
    defaults
        .extensions
        .retain(|key, _| !options.extensions.contains_key(key));
    // Then each by itself: an extension of the request overrides an option of the configuration, and the other way
    // round.
    apply_extensions(&mut options, profile)?;
    apply_extensions(&mut defaults, profile)?;
    let mut options = options.or(&defaults);
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
        Some(SessionChoice::Fork(_) | SessionChoice::ForkLast) => Some(capability::SESSION_FORK),
    };
    let takes_messages = matches!(request.input, Input::Messages(_));
    // An agent that never asks has nothing to be told about that.
    let needs_permissions = options
        .permission_mode
        .is_some_and(|mode| mode != PermissionMode::Bypass);
    let chooses_tools =
        options.tools.is_some() || options.allowed_tools.is_some() || options.disallowed_tools.is_some();
    let has_limits = options.max_turns.is_some() || options.max_budget.is_some();
    let has_system_prompt = options.system_prompt.is_some() || options.append_system_prompt.is_some();
    let wanted = [
        session,
        (options.keeps_session == Some(false)).then_some(capability::SESSION_EPHEMERAL),
        options.model.is_some().then_some(capability::CONFIG_MODEL),
        needs_permissions.then_some(capability::CONFIG_PERMISSIONS),
        chooses_tools.then_some(capability::CONFIG_TOOLS),
        has_limits.then_some(capability::CONFIG_LIMITS),
        has_system_prompt.then_some(capability::CONFIG_SYSTEM_PROMPT),
        (!options.additional_directories.is_empty()).then_some(capability::ADD_DIRS),
        (options.asks == Some(true)).then_some(capability::ANSWER),
        takes_messages.then_some(capability::SEND),
    ];
    if let Some(missing) = wanted.into_iter().flatten().find(|wanted| !profile.has(wanted)) {
        return Err(Error::UnsupportedCapability {
            agent_kind: profile.kind.clone(),
            capability: missing.to_owned(),
        });
    }
    if options.asks == Some(true) && !takes_messages {
        return Err(Error::invalid(
            "an agent that asks must be able to get an answer: use `Input::Messages`",
        ));
    }
    Ok(RunRequest { options, ..request })
}
