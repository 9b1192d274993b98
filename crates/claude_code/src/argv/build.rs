//! `build`: turns a request into the command line for one version of the CLI.

use std::ffi::{OsStr, OsString};

use agent_client::{
    Expansion, JsonSource, PartialMessages, PermissionHost, Persistence, RunOptions, SessionChoice,
    SystemPrompt,
};
use bytes::Bytes;

use super::line::{Argument, Argv, Input, Note};
use crate::capabilities::{Capabilities, Feature};
use crate::error::RequestError;
use crate::event::PermissionMode;
use crate::input::{self, UserMessage};
use crate::request::{PrintRequest, Replay, SessionRequest};

/// The longest prompt the CLI takes by stdin.
pub const MAX_PROMPT_BYTES: usize = 10 * 1024 * 1024;
/// The longest argument Linux takes; one byte more is refused when the process is started.
pub const MAX_ARGUMENT_BYTES: usize = 128 * 1024 - 1;

/// Options that decide how this library talks to the CLI and in which session.
const RESERVED: [&str; 9] = [
    "--",
    "--print",
    "--output-format",
    "--input-format",
    "--permission-prompt-tool",
    "--resume",
    "--continue",
    "--session-id",
    "--fork-session",
];
/// Short names of some of them. The value may follow without a space.
const RESERVED_SHORT: [(u8, &str); 3] = [(b'p', "-p"), (b'r', "-r"), (b'c', "-c")];

/// A request of either kind.
#[derive(Debug, Clone, Copy)]
pub enum AnyRequest<'a> {
    /// One prompt.
    Print(&'a PrintRequest),
    /// A conversation.
    Session(&'a SessionRequest),
}

impl<'a> From<&'a PrintRequest> for AnyRequest<'a> {
    fn from(request: &'a PrintRequest) -> Self {
        Self::Print(request)
    }
}

impl<'a> From<&'a SessionRequest> for AnyRequest<'a> {
    fn from(request: &'a SessionRequest) -> Self {
        Self::Session(request)
    }
}

impl AnyRequest<'_> {
    pub(crate) fn options(&self) -> &RunOptions {
        match self {
            Self::Print(request) => &request.options,
            Self::Session(request) => &request.options,
        }
    }
}

/// The command line for a request. Prompts are never part of it.
///
/// # Errors
/// When the CLI would refuse the request, or could not take it.
pub fn build<'a>(
    request: impl Into<AnyRequest<'a>>,
    capabilities: &Capabilities,
) -> Result<Argv, RequestError> {
    let request = request.into();
    let options = request.options();
    let mut builder = Builder {
        capabilities,
        arguments: Vec::new(),
        notes: Vec::new(),
    };
    #[cfg(feature = "process")]
    if options.transport == Some(agent_process::StdoutMode::Spool) && options.raw_log.is_none() {
        return Err(RequestError::SpoolWithoutLog);
    }
    if let Some(key) = options.extensions.keys().next() {
        return Err(RequestError::UnknownExtension { key: key.clone() });
    }
    for flag in ["-p", "--output-format=stream-json", "--verbose"] {
        builder.flag(flag);
    }
    let input = match request {
        AnyRequest::Print(print) => builder.prompt(&print.prompt, options.expansion.unwrap_or_default())?,
        AnyRequest::Session(session) => builder.conversation(session)?,
    };
    builder.output(options)?;
    builder.session(options.session.as_ref())?;
    builder.model_and_prompts(options)?;
    builder.configuration(options)?;
    builder.permissions(options)?;
    builder.limits(options)?;
    for directory in &options.additional_directories {
        builder.value("--add-dir", directory)?;
    }
    builder.extra(&options.extra_args)?;
    Ok(Argv {
        arguments: builder.arguments,
        input,
        notes: builder.notes,
    })
}

struct Builder<'a> {
    capabilities: &'a Capabilities,
    arguments: Vec<Argument>,
    notes: Vec<Note>,
}

impl Builder<'_> {
    fn flag(&mut self, flag: &str) {
        self.arguments.push(Argument::Plain(flag.into()));
    }

    /// `option=value`: whatever the value begins with, it is not taken for an option, and it swallows nothing.
    fn value(&mut self, option: &'static str, value: impl AsRef<OsStr>) -> Result<(), RequestError> {
        let value = value.as_ref();
        refuse_nul(value, option)?;
        let mut argument = OsString::from(option);
        argument.push("=");
        argument.push(value);
        if argument.len() > MAX_ARGUMENT_BYTES {
            let bytes = argument.len();
            return Err(RequestError::ArgumentTooLong {
                option,
                bytes,
                limit: MAX_ARGUMENT_BYTES,
            });
        }
        self.arguments.push(Argument::Plain(argument));
        Ok(())
    }

    fn text(&mut self, option: &'static str, text: &str) -> Result<(), RequestError> {
        if text.trim().is_empty() {
            return Err(RequestError::BlankValue { option });
        }
        self.value(option, text)
    }

    fn list(&mut self, option: &'static str, words: &[String]) -> Result<(), RequestError> {
        if words.iter().any(|word| word.trim().is_empty()) {
            return Err(RequestError::BlankValue { option });
        }
        self.value(option, words.join(","))
    }

    fn require(&self, feature: Feature) -> Result<(), RequestError> {
        if self.capabilities.has(feature) {
            return Ok(());
        }
        Err(RequestError::Unsupported {
            feature,
            version: self.capabilities.version(),
        })
    }

    fn prompt(&mut self, prompt: &str, expansion: Expansion) -> Result<Input, RequestError> {
        let bytes = prompt.len();
        if prompt.trim().is_empty() {
            return Err(RequestError::EmptyPrompt);
        }
        if bytes > MAX_PROMPT_BYTES {
            return Err(RequestError::PromptTooLong {
                bytes,
                limit: MAX_PROMPT_BYTES,
            });
        }
        let (command, mention) = (prompt.starts_with('/'), prompt.contains('@'));
        let plain = Input::Prompt(Bytes::copy_from_slice(prompt.as_bytes()));
        if expansion == Expansion::Commands || !(command || mention) {
            return Ok(plain);
        }
        if self.capabilities.has(Feature::ClientComposed) {
            self.flag("--input-format=stream-json");
            let message = UserMessage::anonymous(prompt);
            return Ok(Input::Prompt(input::user_message(&message, Expansion::Literal)));
        }
        if mention {
            self.notes.push(Note::MentionsExpanded);
        }
        if command && bytes < MAX_PROMPT_BYTES {
            self.notes.push(Note::SpaceBeforeSlash);
            return Ok(Input::Prompt(Bytes::from(format!(" {prompt}"))));
        }
        Ok(plain)
    }

    fn conversation(&mut self, request: &SessionRequest) -> Result<Input, RequestError> {
        self.require(Feature::StreamInput)?;
        self.flag("--input-format=stream-json");
        if request.options.permission_host == Some(PermissionHost::Caller) {
            self.require(Feature::PermissionHost)?;
            self.flag("--permission-prompt-tool=stdio");
        }
        if request.replay == Replay::WhereSupported && self.capabilities.has(Feature::ReplayUserMessages) {
            self.flag("--replay-user-messages");
        }
        Ok(Input::Messages)
    }

    fn output(&mut self, options: &RunOptions) -> Result<(), RequestError> {
        match options.partial_messages.unwrap_or_default() {
            PartialMessages::Off => {}
            PartialMessages::WhereSupported if self.capabilities.has(Feature::PartialMessages) => {
                self.flag("--include-partial-messages");
            }
            PartialMessages::WhereSupported => self.notes.push(Note::NoPartialMessages),
        }
        if options.persistence == Some(Persistence::Off) {
            self.require(Feature::NoSessionPersistence)?;
            self.flag("--no-session-persistence");
        }
        Ok(())
    }

    fn session(&mut self, choice: Option<&SessionChoice>) -> Result<(), RequestError> {
        let fork = match choice {
            None | Some(SessionChoice::New) => return Ok(()),
            Some(SessionChoice::NewWithId(id)) => {
                self.require(Feature::SessionId)?;
                return self.session_id("--session-id", id);
            }
            Some(SessionChoice::Last) => {
                self.flag("--continue");
                None
            }
            Some(SessionChoice::Resume(id)) => {
                self.session_id("--resume", id)?;
                None
            }
            Some(SessionChoice::ForkLast { new_id }) => {
                self.flag("--continue");
                Some(new_id)
            }
            Some(SessionChoice::Fork { id, new_id }) => {
                self.session_id("--resume", id)?;
                Some(new_id)
            }
        };
        if let Some(new_id) = fork {
            self.require(Feature::ForkSession)?;
            self.flag("--fork-session");
            if let Some(new_id) = new_id {
                self.require(Feature::ForkWithSessionId)?;
                self.session_id("--session-id", new_id)?;
            }
        } else if !self.capabilities.has(Feature::StableSessionId) {
            self.notes.push(Note::NewSessionId);
        }
        Ok(())
    }

    fn session_id(&mut self, option: &'static str, id: &str) -> Result<(), RequestError> {
        // The library also reads braces, URNs and missing hyphens; the CLI does not.
        const HYPHENATED_LENGTH: usize = 36;
        if id.len() != HYPHENATED_LENGTH || uuid::Uuid::try_parse(id).is_err() {
            return Err(RequestError::InvalidSessionId);
        }
        self.value(option, id)
    }

    fn model_and_prompts(&mut self, options: &RunOptions) -> Result<(), RequestError> {
        if let Some(model) = &options.model {
            self.text("--model", model)?;
        }
        self.system_prompt(
            options.system_prompt.as_ref(),
            "--system-prompt",
            "--system-prompt-file",
            Feature::SystemPromptFile,
        )?;
        self.system_prompt(
            options.append_system_prompt.as_ref(),
            "--append-system-prompt",
            "--append-system-prompt-file",
            Feature::AppendSystemPromptFile,
        )
    }

    fn system_prompt(
        &mut self,
        prompt: Option<&SystemPrompt>,
        by_text: &'static str,
        by_file: &'static str,
        feature: Feature,
    ) -> Result<(), RequestError> {
        let files = self.capabilities.has(feature);
        match prompt {
            None => Ok(()),
            Some(SystemPrompt::Text(text)) if text.trim().is_empty() => {
                Err(RequestError::BlankValue { option: by_text })
            }
            Some(SystemPrompt::Text(text)) if files => {
                self.arguments.push(Argument::TextByFile {
                    option: by_file,
                    text: text.clone(),
                });
                Ok(())
            }
            Some(SystemPrompt::Text(text)) => {
                self.notes.push(Note::SystemPromptInArguments);
                self.value(by_text, text)
            }
            Some(SystemPrompt::File(path)) if files => self.value(by_file, path),
            Some(SystemPrompt::File(path)) => {
                refuse_nul(path.as_os_str(), by_file)?;
                self.notes.push(Note::SystemPromptInArguments);
                self.arguments.push(Argument::FileByText {
                    option: by_text,
                    path: path.clone(),
                });
                Ok(())
            }
        }
    }

    /// MCP servers and settings may hold keys, so they are passed by file and never on the command line.
    fn configuration(&mut self, options: &RunOptions) -> Result<(), RequestError> {
        for (option, source) in [
            ("--mcp-config", &options.mcp_config),
            ("--settings", &options.settings),
        ] {
            match source {
                None => {}
                Some(JsonSource::File(path)) => self.value(option, path)?,
                Some(JsonSource::Value(value)) => self.arguments.push(Argument::TextByFile {
                    option,
                    text: value.to_string(),
                }),
            }
        }
        if let Some(model) = &options.fallback_model {
            self.text("--fallback-model", model)?;
        }
        if let Some(effort) = &options.effort {
            self.require(Feature::Effort)?;
            self.text("--effort", effort)?;
        }
        if let Some(tokens) = options.max_thinking_tokens {
            self.require(Feature::MaxThinkingTokens)?;
            self.text("--max-thinking-tokens", &tokens.to_string())?;
        }
        for (option, value, feature) in [
            ("--agents", &options.agents, Feature::Agents),
            ("--json-schema", &options.output_schema, Feature::JsonSchema),
        ] {
            if let Some(value) = value {
                self.require(feature)?;
                self.value(option, value.to_string())?;
            }
        }
        Ok(())
    }

    fn permissions(&mut self, options: &RunOptions) -> Result<(), RequestError> {
        if let Some(tools) = &options.tools {
            self.require(Feature::Tools)?;
            self.list("--tools", tools)?;
        }
        for (option, tools) in [
            ("--allowedTools", &options.allowed_tools),
            ("--disallowedTools", &options.disallowed_tools),
        ] {
            if let Some(tools) = tools.as_ref().filter(|tools| !tools.is_empty()) {
                self.list(option, tools)?;
            }
        }
        if let Some(mode) = options.permission_mode.map(PermissionMode::from) {
            match mode {
                PermissionMode::DontAsk => self.require(Feature::DontAskMode)?,
                PermissionMode::Auto => self.require(Feature::AutoMode)?,
                PermissionMode::Default
                | PermissionMode::AcceptEdits
                | PermissionMode::Plan
                | PermissionMode::BypassPermissions
                | PermissionMode::Other(_) => {}
            }
            self.text("--permission-mode", mode.as_str())?;
        }
        Ok(())
    }

    fn limits(&mut self, options: &RunOptions) -> Result<(), RequestError> {
        if let Some(turns) = options.max_turns {
            self.value("--max-turns", turns.to_string())?;
        }
        if let Some(budget) = options.max_budget {
            self.require(Feature::MaxBudget)?;
            self.value("--max-budget-usd", budget.to_string().trim_start_matches('$'))?;
        }
        Ok(())
    }

    fn extra(&mut self, arguments: &[OsString]) -> Result<(), RequestError> {
        for (index, argument) in arguments.iter().enumerate() {
            refuse_nul(argument, "an extra argument")?;
            let bytes = argument.as_encoded_bytes();
            if let Some(argument) = reserved(bytes) {
                return Err(RequestError::ReservedArgument { argument });
            }
            // Whether it is the value of an option before or a second prompt depends on the CLI's version.
            if !bytes.starts_with(b"-") || bytes == b"-" {
                return Err(RequestError::BareArgument { position: index + 1 });
            }
            if bytes.len() > MAX_ARGUMENT_BYTES {
                let limit = MAX_ARGUMENT_BYTES;
                return Err(RequestError::ArgumentTooLong {
                    option: "an extra argument",
                    bytes: bytes.len(),
                    limit,
                });
            }
            self.arguments.push(Argument::Plain(argument.clone()));
        }
        Ok(())
    }
}

/// The name of the reserved option that an argument is.
fn reserved(argument: &[u8]) -> Option<&'static str> {
    if let [b'-', letter, ..] = argument
        && let Some((_, name)) = RESERVED_SHORT.iter().find(|(short, _)| short == letter)
    {
        return Some(name);
    }
    let name = argument.split(|byte| *byte == b'=').next().unwrap_or_default();
    RESERVED.into_iter().find(|reserved| reserved.as_bytes() == name)
}

fn refuse_nul(value: &OsStr, what: &'static str) -> Result<(), RequestError> {
    if value.as_encoded_bytes().contains(&0) {
        Err(RequestError::NulByte { what })
    } else {
        Ok(())
    }
}
