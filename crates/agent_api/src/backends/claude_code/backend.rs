//! `ClaudeCode`: the profile of Claude Code, and how it is started.

use std::path::PathBuf;
use std::time::Duration;

use agent_process::{StdinMode, StdoutMode};
use claude_code::argv::AnyRequest;
use claude_code::host::Host;
use claude_code::input::{MessageId, UserMessage, composed_message, host_request};
use claude_code::{
    Capabilities, CostBasis, Dialect, Error as ClaudeError, PrintRequest, RequestError, SessionRequest,
};
use json_lines::Value;

use super::commands::{INITIALIZE, message_content};
use super::dialect_extras::DialectExtras;
use super::mapper::{ClaudeMapper, MapperSetup};
use crate::backend::{
    Backend, BackendConfig, ExitTrust, InstalledAgent, InterruptBy, Launch, LaunchInput, LoginCheck,
    LoginFile, Mapper, Profile, RootRefusal, StderrClass, ToolNames,
};
use crate::backends::recording::{objects, says};
use crate::capability;
use crate::error::Error;
use crate::event::{AgentKind, ErrorClass};
use crate::request::{Close, Input, RunRequest};

/// Anthropic's Claude Code.
#[derive(Debug)]
pub struct ClaudeCode {
    profile: Profile,
    config: BackendConfig,
    host: Host,
}

impl ClaudeCode {
    /// The program `claude`, as it is found in the agent's `PATH`.
    #[must_use]
    pub fn new() -> Self {
        Self::configured(BackendConfig::default())
    }

    /// With another program, or other defaults.
    #[must_use]
    pub fn configured(config: BackendConfig) -> Self {
        Self {
            profile: profile(),
            config,
            host: Host::new(),
        }
    }

    /// With hooks and tools that are closures of this process. Permissions are decided by
    /// [`RunRequest::on_permission`](crate::RunRequest::on_permission), as for every agent.
    ///
    /// ```
    /// use agent_api::AgentRegistry;
    /// use agent_api::backends::claude_code::{ClaudeCode, host::{Hook, HookEvent, HookOutput, Host}};
    ///
    /// let no_shell = Hook::new(HookEvent::PreToolUse, |_| async { HookOutput::deny("no shell here") });
    /// let agent = ClaudeCode::new().host(Host::new().hook(no_shell.matcher("Bash")));
    /// let registry = AgentRegistry::new().with(agent)?;
    /// # Ok::<(), agent_api::Error>(())
    /// ```
    #[must_use]
    pub fn host(mut self, host: Host) -> Self {
        self.host = host;
        self
    }

    /// With this program.
    #[must_use]
    pub fn program(program: impl Into<PathBuf>) -> Self {
        Self::configured(BackendConfig {
            program: Some(program.into()),
            ..BackendConfig::default()
        })
    }
}

impl Default for ClaudeCode {
    fn default() -> Self {
        Self::new()
    }
}

/// What is known about Claude Code.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        display_name: "Claude",
        version_args: &["--version"],
        version_word: Some("Claude Code"),
        tested_versions: Some(("1.0.108", "2.1.325")),
        install_hint: "run `npm install -g @anthropic-ai/claude-code`",
        login_hint: "run `claude` and type `/login`, or set `ANTHROPIC_API_KEY`",
        capabilities: &[
            capability::EVENTS_LIVE,
            capability::INTERRUPT,
            capability::SEND,
            capability::IMAGES,
            capability::DOCUMENTS,
            capability::ANSWER,
            capability::SET,
            capability::REQUEST,
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::SESSION_FORK,
            capability::SESSION_FORK_ID,
            capability::SESSION_PRESET_ID,
            capability::SESSION_EPHEMERAL,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::CONFIG_PERMISSIONS,
            capability::CONFIG_AUTO_PERMISSIONS,
            capability::CONFIG_TOOLS,
            capability::CONFIG_LIMITS,
            capability::CONFIG_SYSTEM_PROMPT,
            capability::CONFIG_MCP,
            capability::CONFIG_SETTINGS,
            capability::CONFIG_EFFORT,
            capability::CONFIG_THINKING,
            capability::CONFIG_FALLBACK_MODEL,
            capability::STRUCTURED_OUTPUT,
            capability::ADD_DIRS,
            capability::USAGE,
            capability::COST,
        ],
        // Versions that run on Node lose what is still in a pipe when they exit at once.
        transport: StdoutMode::Spool,
        interrupt_by: InterruptBy::Message,
        // Its own limit for a stalled stream is five minutes.
        inactivity_limit: Some(Duration::from_secs(6 * 60)),
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: const {
            &[
                StderrClass::new("not logged in", ErrorClass::Auth, "not_logged_in"),
                StderrClass::new("root/sudo", ErrorClass::Permission, "bypass_as_root"),
                StderrClass::new("session id", ErrorClass::InvalidRequest, "bad_session"),
                StderrClass::new(
                    "no conversation found",
                    ErrorClass::InvalidRequest,
                    "no_such_session",
                ),
                StderrClass::new("unknown option", ErrorClass::Config, "unknown_option"),
            ]
        },
        short_name: Some("claude"),
        aliases: &["claude-code"],
        driven_by: "stream-json in both directions",
        auth_variables: &["ANTHROPIC_API_KEY"],
        login_check: LoginCheck {
            uses_macos_keychain: true,
            ..LoginCheck::new(
                &[
                    "ANTHROPIC_AUTH_TOKEN",
                    "CLAUDE_CODE_OAUTH_TOKEN",
                    "CLAUDE_CODE_USE_BEDROCK",
                    "CLAUDE_CODE_USE_VERTEX",
                ],
                const {
                    &[LoginFile::new(
                        Some("CLAUDE_CONFIG_DIR"),
                        ".claude",
                        ".credentials.json",
                    )]
                },
            )
        },
        tools: ToolNames {
            planner: &["Read", "Bash"],
            coder: &["Read", "Edit", "Write", "Bash", "Glob", "Grep"],
            search: Some("WebSearch"),
        },
        root_refusal: Some(RootRefusal {
            sandbox_variable: Some("IS_SANDBOX"),
            message: "Claude Code refuses to skip permission checks as root: use `--permission-mode accept-edits`, run \
                      as another user, or set IS_SANDBOX=1 if this machine is a sandbox",
        }),
        ..Profile::new(AgentKind::CLAUDE_CODE, "claude")
    }
}

impl Backend for ClaudeCode {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        launch(request, found, Dialect::CLAUDE_CODE, &self.host)
    }

    fn recognises(&self, first_lines: &[&[u8]]) -> bool {
        is_claude(first_lines)
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        Some(Box::new(ClaudeMapper::new(MapperSetup::default())))
    }
}

/// Whether these are Claude Code's lines and not those of another agent that writes its dialect: the `init` line of
/// each agent has members of its own. A recording without it is recognised by the types that Claude gives its lines.
fn is_claude(first_lines: &[&[u8]]) -> bool {
    const TYPES: [&str; 5] = ["system", "stream_event", "assistant", "user", "result"];
    let objects: Vec<Value> = objects(first_lines).collect();
    let is_init = |object: &&Value| says(object, "type", "system") && says(object, "subtype", "init");
    match objects.iter().find(is_init) {
        Some(init) => init.get("apiKeySource").is_some() || init.get("permissionMode").is_some(),
        None => objects.iter().any(|object| {
            object.get("session_id").is_some() && TYPES.iter().any(|name| says(object, "type", name))
        }),
    }
}

/// What to start for a program that takes Claude's flags.
pub(crate) fn launch(
    request: &RunRequest,
    found: &InstalledAgent,
    dialect: Dialect,
    host: &Host,
) -> Result<Launch, Error> {
    if host.answers_permissions() {
        return Err(Error::invalid(
            "permissions are decided by `RunRequest::on_permission`: leave them out of the backend's host",
        ));
    }
    // Hooks and tools need a stream in both directions.
    let request_input = match request.input {
        Input::PromptOnly if !host.is_empty() => Input::Messages(Close::WhenIdle),
        input => input,
    };
    let capabilities = found
        .version
        .map_or_else(Capabilities::current, Capabilities::for_version);
    let mut options = request.options.clone();
    // The loop applies the transport; a preview of a run has no raw log yet, which the spool would need.
    options.transport = None;
    let expansion = options.expansion.unwrap_or_default();
    let mut mapper = ClaudeMapper::new(MapperSetup {
        dialect,
        extras: DialectExtras::default(),
        cost_basis: request
            .options
            .cost_basis
            .unwrap_or_else(|| CostBasis::of(options.session.as_ref())),
        earlier_tokens: None,
        capabilities: Some(capabilities),
        expansion,
        denies_requests: false,
    });
    let print;
    let session;
    let wire: AnyRequest<'_> = match request_input {
        Input::PromptOnly => {
            print = PrintRequest::new(request.prompt.clone()).options(options);
            (&print).into()
        }
        Input::Messages(_) => {
            session = SessionRequest::new().options(options);
            (&session).into()
        }
    };
    let mut prepared = claude_code::prepare(&found.program, wire, &capabilities).map_err(refused)?;
    let input = match (request_input, std::mem::take(&mut prepared.spec.stdin)) {
        (Input::Messages(close), _) => {
            let message = UserMessage {
                id: Some(prompt_id(request)?),
                content: message_content(&request.prompt, &request.attachments),
            };
            let prompt = composed_message(message, expansion, &capabilities);
            let first = match host.initialize() {
                Some(announcement) => {
                    mapper = mapper.with_host(host, prompt);
                    vec![host_request(INITIALIZE, &announcement)]
                }
                None => vec![prompt],
            };
            LaunchInput::Messages { first, close }
        }
        (Input::PromptOnly, StdinMode::Bytes(prompt)) => LaunchInput::Bytes(prompt),
        (Input::PromptOnly, StdinMode::Null | StdinMode::Piped) => LaunchInput::Nothing,
    };
    let notes = prepared
        .notes
        .iter()
        .map(|note| (note.code().to_owned(), note.to_string()));
    Ok(Launch {
        input,
        mapper: Box::new(mapper),
        keep_alive: Some(Box::new(prepared.files)),
        notes: notes.collect(),
        spec: prepared.spec,
    })
}

/// The prompt's own id, or a new one.
fn prompt_id(request: &RunRequest) -> Result<MessageId, Error> {
    match &request.prompt_id {
        Some(id) => MessageId::parse(id)
            .ok_or_else(|| Error::invalid("the id of a prompt must be a UUID; this is none")),
        None => Ok(MessageId::random()),
    }
}

fn refused(error: ClaudeError) -> Error {
    match error {
        ClaudeError::Spawn(error) => Error::Spawn(error),
        ClaudeError::Request(error @ RequestError::InvalidSessionId) => Error::invalid(error.to_string()),
        other => Error::launch(other),
    }
}
