//! Starting Claude Code.

use std::path::PathBuf;
use std::time::Duration;

use agent_process::{Limits, StdinMode, StdoutMode};
use claude_code::argv::AnyRequest;
use claude_code::input::{MessageContent, MessageId, UserMessage, composed_message};
use claude_code::{
    Capabilities, CostBasis, Dialect, Expansion, Fork, Options, PartialMessages, PermissionHost, Persistence,
    PrintRequest, SessionChoice as WireChoice, SessionId, SessionRequest, SystemPrompt,
};

use super::commands::wire_mode;
use super::mapper::{ClaudeMapper, MapperSetup};
use crate::backend::{
    Backend, BackendConfig, ExitTrust, Found, InterruptBy, Launch, LaunchInput, Profile, StderrClass,
};
use crate::capability;
use crate::error::Error;
use crate::event::{AgentKind, ErrorClass};
use crate::request::{Input, RunOptions, RunRequest, SessionChoice};

/// Anthropic's Claude Code.
#[derive(Debug)]
pub struct ClaudeCode {
    profile: Profile,
    config: BackendConfig,
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
        }
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
        kind: AgentKind::CLAUDE_CODE,
        display_name: "Claude",
        program: "claude",
        version_args: &["--version"],
        version_word: Some("Claude Code"),
        tested_versions: Some(("1.0.108", "2.1.325")),
        install_hint: "run `npm install -g @anthropic-ai/claude-code`",
        login_hint: "run `claude` and type `/login`, or set `ANTHROPIC_API_KEY`",
        capabilities: &[
            capability::RUN,
            capability::EVENTS,
            capability::EVENTS_LIVE,
            capability::CANCEL,
            capability::INTERRUPT,
            capability::SEND,
            capability::ANSWER,
            capability::SET,
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::SESSION_FORK,
            capability::SESSION_PRESET_ID,
            capability::SESSION_EPHEMERAL,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::CONFIG_PERMISSIONS,
            capability::CONFIG_TOOLS,
            capability::CONFIG_LIMITS,
            capability::CONFIG_SYSTEM_PROMPT,
            capability::NON_INTERACTIVE,
            capability::ADD_DIRS,
            capability::EXTERNAL_SANDBOX,
            capability::FINAL_TEXT,
            capability::USAGE,
            capability::COST,
        ],
        extension_keys: &[],
        // Versions that run on Node lose what is still in a pipe when they exit at once.
        transport: StdoutMode::Spool,
        interrupt_by: InterruptBy::Message,
        limits: Limits::default,
        exit_after_idle: Duration::from_secs(5),
        // Its own limit for a stalled stream is five minutes.
        inactivity_limit: Some(Duration::from_secs(6 * 60)),
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: &[
            StderrClass {
                word: "not logged in",
                class: ErrorClass::Auth,
                code: "not_logged_in",
            },
            StderrClass {
                word: "root/sudo",
                class: ErrorClass::Permission,
                code: "bypass_as_root",
            },
            StderrClass {
                word: "session id",
                class: ErrorClass::InvalidRequest,
                code: "bad_session",
            },
            StderrClass {
                word: "no conversation found",
                class: ErrorClass::InvalidRequest,
                code: "no_such_session",
            },
            StderrClass {
                word: "unknown option",
                class: ErrorClass::Config,
                code: "unknown_option",
            },
        ],
        environment: &[],
    }
}

impl Backend for ClaudeCode {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &Found) -> Result<Launch, Error> {
        launch(request, found, Dialect::CLAUDE_CODE)
    }
}

/// What to start for a program that takes Claude's flags.
pub(crate) fn launch(request: &RunRequest, found: &Found, dialect: Dialect) -> Result<Launch, Error> {
    let capabilities = found
        .version
        .map_or_else(Capabilities::current, Capabilities::for_version);
    let options = wire_options(&request.options)?;
    let expansion = options.expansion.unwrap_or_default();
    let mapper = ClaudeMapper::new(MapperSetup {
        dialect,
        cost_basis: request
            .options
            .cost_basis
            .unwrap_or_else(|| CostBasis::of(options.session.as_ref())),
        earlier_tokens: None,
        capabilities: Some(capabilities),
        expansion,
    });
    let print;
    let session;
    let wire: AnyRequest<'_> = match request.input {
        Input::PromptOnly => {
            print = PrintRequest {
                prompt: request.prompt.clone(),
                options,
            };
            (&print).into()
        }
        Input::Messages(_) => {
            let host = if request.options.asks == Some(true) {
                PermissionHost::Session
            } else {
                PermissionHost::Nobody
            };
            session = SessionRequest::new().permission_host(host).options(options);
            (&session).into()
        }
    };
    let mut prepared = claude_code::prepare(&found.program, wire, &capabilities)?;
    let input = match (request.input, std::mem::take(&mut prepared.spec.stdin)) {
        (Input::Messages(close), _) => {
            let message = UserMessage {
                id: Some(prompt_id(request)?),
                content: MessageContent::Text(request.prompt.clone()),
            };
            LaunchInput::Messages {
                first: vec![composed_message(message, expansion, &capabilities)],
                close,
            }
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

fn wire_options(options: &RunOptions) -> Result<Options, Error> {
    let mut wire = Options::new();
    wire.cwd.clone_from(&options.cwd);
    wire.environment = options.environment.for_claude();
    wire.model.clone_from(&options.model);
    wire.system_prompt = options.system_prompt.clone().map(SystemPrompt::Text);
    wire.append_system_prompt = options.append_system_prompt.clone().map(SystemPrompt::Text);
    wire.tools.clone_from(&options.tools);
    wire.allowed_tools.clone_from(&options.allowed_tools);
    wire.disallowed_tools.clone_from(&options.disallowed_tools);
    wire.permission_mode = options.permission_mode.map(wire_mode);
    wire.session = options.session.as_ref().map(wire_session).transpose()?;
    wire.partial_messages = options.partial_messages.map(|is_wanted| {
        if is_wanted {
            PartialMessages::WhereSupported
        } else {
            PartialMessages::Off
        }
    });
    wire.persistence = options.keeps_session.map(|is_kept| {
        if is_kept {
            Persistence::Kept
        } else {
            Persistence::Off
        }
    });
    wire.expansion = options.expands_prompt.map(|is_expanded| {
        if is_expanded {
            Expansion::Commands
        } else {
            Expansion::Literal
        }
    });
    wire.max_turns = options.max_turns;
    wire.max_budget = options.max_budget;
    wire.isolation = options.isolation;
    for directory in &options.additional_directories {
        let mut argument = std::ffi::OsString::from("--add-dir=");
        argument.push(directory);
        wire.extra_args.push(argument);
    }
    wire.extra_args.extend(options.extra_args.iter().cloned());
    Ok(wire)
}

fn wire_session(choice: &SessionChoice) -> Result<WireChoice, Error> {
    let id = |id: &str| {
        id.parse::<SessionId>()
            .map_err(|_| Error::invalid("a session id of Claude Code is a UUID; this is none"))
    };
    Ok(match choice {
        SessionChoice::New => WireChoice::New { id: None },
        SessionChoice::NewWithId(text) => WireChoice::New { id: Some(id(text)?) },
        SessionChoice::Resume(text) => WireChoice::Resume {
            id: id(text)?,
            fork: None,
        },
        SessionChoice::Fork(text) => WireChoice::Resume {
            id: id(text)?,
            fork: Some(Fork::default()),
        },
        SessionChoice::Last => WireChoice::ContinueLatest { fork: None },
        SessionChoice::ForkLast => WireChoice::ContinueLatest {
            fork: Some(Fork::default()),
        },
    })
}
