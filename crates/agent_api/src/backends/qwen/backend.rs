//! `Qwen`: the backend. It starts `qwen -o stream-json`, with the prompt or a stream of messages on standard input.

use std::borrow::Cow;
use std::ffi::OsString;

use bytes::Bytes;
use claude_code::input::{
    HostRequest, MessageContent, MessageId, UserMessage, composed_message, host_request,
};
use claude_code::{Capabilities, CostBasis};
use serde_json::Map;
use uuid::Uuid;

use super::dialect::{DIALECT, EXTRAS};
use super::profile::profile;
use crate::backend::{Backend, BackendConfig, InstalledAgent, Launch, LaunchInput, Mapper, Profile};
use crate::backends::claude_code::{ClaudeMapper, MapperSetup};
use crate::backends::program::{constructors, session_argument, spawn_spec};
use crate::backends::recording::objects;
use crate::error::Error;
use crate::request::{Input, RunOptions, RunRequest};
use agent_client::{PartialMessages, PermissionMode, SessionChoice, SystemPrompt};

/// Names the first control request, which announces that permission requests are answered.
const INITIALIZE_ID: &str = "initialize";

/// Linux takes arguments of up to 131,071 bytes, the option's name included.
const SYSTEM_PROMPT_BYTES: usize = 128_000;

/// Qwen Code.
#[derive(Debug)]
pub struct Qwen {
    profile: Profile,
    config: BackendConfig,
}

constructors!(Qwen);

impl Backend for Qwen {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        let options = &request.options;
        let mut spec = spawn_spec(request, found);
        spec.args = arguments(options)?;
        let capabilities = Capabilities::current();
        let expansion = options.expansion.unwrap_or_default();
        let input = match request.input {
            Input::PromptOnly => LaunchInput::Bytes(Bytes::from(request.prompt.clone())),
            Input::Messages(close) => {
                spec.args.push("--input-format=stream-json".into());
                let id = match &request.prompt_id {
                    Some(id) => MessageId::parse(id)
                        .ok_or_else(|| Error::invalid("the id of a prompt must be a UUID"))?,
                    None => MessageId::random(),
                };
                let message = UserMessage {
                    id: Some(id),
                    content: MessageContent::Text(request.prompt.clone()),
                };
                LaunchInput::Messages {
                    // Without the first line, Qwen waits for an answer to a permission request that it never sends.
                    first: vec![
                        host_request(INITIALIZE_ID, &HostRequest::Initialize(Map::new())),
                        composed_message(message, expansion, &capabilities),
                    ],
                    close,
                }
            }
        };
        let is_new = matches!(
            options.session,
            None | Some(SessionChoice::New | SessionChoice::NewWithId(_))
        );
        let mapper = ClaudeMapper::new(MapperSetup {
            dialect: DIALECT,
            extras: EXTRAS,
            // Qwen counts for the whole session. What earlier runs of it used is not known here.
            cost_basis: match is_new {
                true => CostBasis::NewSession,
                false => CostBasis::ResumedUnknown,
            },
            capabilities: Some(capabilities),
            expansion,
            denies_requests: options.permission_host != Some(agent_client::PermissionHost::Caller),
            ..MapperSetup::default()
        });
        Ok(Launch::new(spec, input, Box::new(mapper)))
    }

    fn recognises(&self, first_lines: &[&[u8]]) -> bool {
        objects(first_lines).any(|object| object.get("qwen_code_version").is_some())
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        Some(Box::new(ClaudeMapper::new(MapperSetup {
            dialect: DIALECT,
            extras: EXTRAS,
            ..MapperSetup::default()
        })))
    }
}

fn arguments(options: &RunOptions) -> Result<Vec<OsString>, Error> {
    let mut args: Vec<OsString> = vec!["--output-format=stream-json".into()];
    let mut option = |name: &str, value: &str| args.push(format!("--{name}={value}").into());
    if let Some(mode) = options.permission_mode {
        option("approval-mode", approval_mode(mode));
    }
    if let Some(model) = &options.model {
        option("model", model);
    }
    if let Some(prompt) = &options.system_prompt {
        option("system-prompt", &prompt_text(prompt, options)?);
    }
    if let Some(prompt) = &options.append_system_prompt {
        option("append-system-prompt", &prompt_text(prompt, options)?);
    }
    for (name, tools) in [
        ("core-tools", &options.tools),
        ("allowed-tools", &options.allowed_tools),
        ("exclude-tools", &options.disallowed_tools),
    ] {
        for tool in tools.iter().flatten() {
            option(name, tool);
        }
    }
    if let Some(turns) = options.max_turns {
        option("max-session-turns", &turns.to_string());
    }
    if options.max_budget.is_some() {
        return Err(Error::invalid(
            "Qwen does not report costs, so it cannot limit them",
        ));
    }
    if options.persistence == Some(agent_client::Persistence::Off) {
        option("chat-recording", "false");
    }
    match &options.session {
        None | Some(SessionChoice::New) => {}
        Some(SessionChoice::NewWithId(id)) => option("session-id", new_session_argument(id)?),
        Some(SessionChoice::Resume(id) | SessionChoice::Fork { id, .. }) => {
            option("resume", session_argument(id)?)
        }
        Some(SessionChoice::Last | SessionChoice::ForkLast { .. }) => args.push("--continue".into()),
    }
    if matches!(
        options.session,
        Some(SessionChoice::Fork { .. } | SessionChoice::ForkLast { .. })
    ) {
        args.push("--fork-session".into());
    }
    if options.partial_messages.unwrap_or_default() == PartialMessages::WhereSupported {
        args.push("--include-partial-messages".into());
    }
    for directory in &options.additional_directories {
        let mut argument = OsString::from("--add-dir=");
        argument.push(directory);
        args.push(argument);
    }
    args.extend(options.extra_args.iter().cloned());
    Ok(args)
}

/// Qwen Code takes a UUID of version 1 to 5.
fn new_session_argument(id: &str) -> Result<&str, Error> {
    let version = Uuid::parse_str(id).map(|id| id.get_version_num());
    match version {
        Ok(1..=5) => Ok(id),
        _ => Err(Error::invalid(
            "Qwen takes only UUIDs of version 1 to 5 as ids of new sessions, such as those of `new_session_id`",
        )),
    }
}

/// Qwen Code has no option for a file, so the text is an argument, which other users of the machine can read.
fn prompt_text<'a>(prompt: &'a SystemPrompt, options: &RunOptions) -> Result<Cow<'a, str>, Error> {
    let text = prompt
        .text(options.cwd.as_deref())
        .map_err(|error| Error::invalid(format!("cannot read the system prompt file: {error}")))?;
    if text.len() > SYSTEM_PROMPT_BYTES {
        return Err(Error::invalid(format!(
            "Qwen takes a system prompt as an argument, so it can have at most {SYSTEM_PROMPT_BYTES} bytes: put the \
             rest into `QWEN.md`",
        )));
    }
    Ok(text)
}

fn approval_mode(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Bypass => "yolo",
        PermissionMode::AcceptEdits => "auto-edit",
        PermissionMode::Plan => "plan",
        PermissionMode::Ask | PermissionMode::Auto | PermissionMode::Refuse => "default",
    }
}
