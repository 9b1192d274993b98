//! `Acp`: starts an agent that speaks the Agent Client Protocol.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agent_client::CostBasis;
use agent_process::SpawnSpec;

use super::agents::{self, AgentEntry};
use super::mapper::{AcpMapper, Setup};
use super::native::NativeOutput;
use super::permissions::{PermissionPolicy, Workspace};
use super::recording::{is_output_of, recognises, replay_mapper};
use crate::backend::{Backend, BackendConfig, InstalledAgent, Launch, LaunchInput, Mapper, Profile};
use crate::backends::recording::{ByFirstObject, objects};
use crate::error::Error;
use crate::event::AgentKind;
use crate::request::{Close, Input, RunOptions, RunRequest};
use agent_client::PermissionMode;

/// How long an agent may take to answer `initialize`. The slowest measured needs 13 s on a busy machine.
const INITIALIZE_LIMIT: Duration = Duration::from_secs(30);

/// An agent that speaks the Agent Client Protocol, version 1.
#[derive(Debug)]
pub struct Acp {
    entry: AgentEntry,
    args: Vec<OsString>,
    config: BackendConfig,
    initialize_limit: Duration,
}

impl Acp {
    /// opencode.
    #[must_use]
    pub fn opencode() -> Self {
        Self::of(agents::opencode())
    }

    /// GitHub's Copilot CLI.
    #[must_use]
    pub fn copilot() -> Self {
        Self::of(agents::copilot())
    }

    /// goose.
    #[must_use]
    pub fn goose() -> Self {
        Self::of(agents::goose())
    }

    /// The Kiro CLI.
    #[must_use]
    pub fn kiro() -> Self {
        Self::of(agents::kiro())
    }

    /// Claude Code behind `claude-agent-acp`.
    #[must_use]
    pub fn claude_acp() -> Self {
        Self::of(agents::claude_acp())
    }

    /// Gemini CLI over ACP: it asks for permission, which its stream-json form cannot.
    #[must_use]
    pub fn gemini() -> Self {
        Self::of(agents::gemini())
    }

    /// Qwen Code over ACP.
    #[must_use]
    pub fn qwen() -> Self {
        Self::of(agents::qwen())
    }

    /// Any other agent: the command that starts its ACP server, for example `my-agent` with the argument `acp`.
    #[must_use]
    pub fn custom(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let mut backend = Self::of(agents::custom());
        backend.config.program = Some(program.into());
        backend.args = args.into_iter().map(Into::into).collect();
        backend
    }

    fn of(entry: AgentEntry) -> Self {
        Self {
            args: entry.args.iter().map(OsString::from).collect(),
            entry,
            config: BackendConfig::default(),
            initialize_limit: INITIALIZE_LIMIT,
        }
    }

    /// Sets the name, so that several custom agents fit into one [`AgentRegistry`](crate::AgentRegistry).
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.entry.profile.kind = AgentKind::new(name);
        self
    }

    /// Sets program and defaults. A custom agent keeps its program unless the configuration has one.
    #[must_use]
    pub fn configured(mut self, config: BackendConfig) -> Self {
        let program = self.config.program.take();
        self.config = config;
        self.config.program = self.config.program.or(program);
        self
    }

    /// Sets how long the agent may take to answer `initialize`: 30 s by default.
    #[must_use]
    pub fn initialize_limit(mut self, limit: Duration) -> Self {
        self.initialize_limit = limit;
        self
    }

    fn command(&self, request: &RunRequest, found: &InstalledAgent) -> SpawnSpec {
        let options = &request.options;
        let mut spec = SpawnSpec::new(&found.program);
        spec.args.clone_from(&self.args);
        if options.permission_mode == Some(PermissionMode::Bypass) {
            spec.args
                .extend(self.entry.bypass_args.iter().map(OsString::from));
        }
        if let (Some(option), Some(model)) = (self.entry.model_option, &options.model) {
            spec.args.extend([OsString::from(option), OsString::from(model)]);
        }
        for directory in &options.additional_directories {
            let mut argument = OsString::from(self.entry.directory_option.unwrap_or_default());
            argument.push(directory);
            spec.args.push(argument);
        }
        spec.args.extend(options.extra_args.iter().cloned());
        spec.cwd.clone_from(&options.cwd);
        let mut environment = options.environment.clone();
        if asks(options.permission_mode) {
            for (name, value) in self.entry.ask_environment {
                let changes = &mut environment.changes;
                changes.entry(name.into()).or_insert_with(|| Some(value.into()));
            }
        }
        spec.env = environment.policy();
        spec
    }

    fn setup(&self, request: &RunRequest) -> Result<Setup, Error> {
        let options = &request.options;
        let session = options.session.clone().unwrap_or_default();
        let model = options.model.clone();
        let cwd = working_directory(options)?;
        Ok(Setup {
            workspace: Workspace::new(&cwd),
            cwd,
            prompt: request.prompt.clone(),
            prompt_id: request.prompt_id.clone(),
            attachments: request.attachments.clone(),
            model: model.filter(|_| self.entry.model_option.is_none()),
            policy: PermissionPolicy {
                mode: options.permission_mode,
                can_ask: options.permission_host == Some(agent_client::PermissionHost::Caller),
            },
            cost_basis: options
                .cost_basis
                .unwrap_or_else(|| CostBasis::of(options.session.as_ref())),
            session,
            login_hint: self.entry.profile.login_hint,
            initialize_limit: self.initialize_limit,
        })
    }
}

/// Whether the agent has to ask before it acts.
fn asks(mode: Option<PermissionMode>) -> bool {
    match mode {
        Some(
            PermissionMode::Ask | PermissionMode::AcceptEdits | PermissionMode::Auto | PermissionMode::Refuse,
        ) => true,
        Some(PermissionMode::Plan | PermissionMode::Bypass) | None => false,
    }
}

/// The protocol wants an absolute path.
fn working_directory(options: &RunOptions) -> Result<String, Error> {
    let directory = options.cwd.clone().unwrap_or_else(|| PathBuf::from("."));
    let directory = std::path::absolute(directory)
        .map_err(|_| Error::invalid("the working directory cannot be determined: set it"))?;
    match directory.into_os_string().into_string() {
        Ok(directory) => Ok(directory),
        Err(_) => Err(Error::invalid(
            "the path of the working directory is not valid UTF-8",
        )),
    }
}

impl Backend for Acp {
    fn profile(&self) -> &Profile {
        &self.entry.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        let mut mapper = AcpMapper::new(self.setup(request)?);
        let first = vec![mapper.initialize()];
        let close = match request.input {
            Input::PromptOnly => Close::WhenIdle,
            Input::Messages(close) => close,
        };
        let input = LaunchInput::Messages { first, close };
        Ok(Launch::new(self.command(request, found), input, Box::new(mapper)))
    }

    fn recognises(&self, first_lines: &[&[u8]]) -> bool {
        let is_native =
            |native: NativeOutput| objects(first_lines).any(|object| (native.recognises)(&object));
        match self.entry.agent_name {
            "" => recognises(first_lines),
            name => is_output_of(name, first_lines) || self.entry.native.is_some_and(is_native),
        }
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        let Some(native) = self.entry.native else {
            return Some(replay_mapper());
        };
        Some(Box::new(ByFirstObject::new(move |object| {
            match object.get("jsonrpc") {
                Some(_) => replay_mapper(),
                None => (native.mapper)(),
            }
        })))
    }
}
