//! `Gemini`: the backend. It starts `gemini -o stream-json` with the prompt on standard input, or `gemini --acp` where
//! the run takes messages or answers.

use std::ffi::OsString;

use bytes::Bytes;

use super::mapper::GeminiMapper;
use super::profile::profile;
use crate::backend::{Backend, BackendConfig, InstalledAgent, Launch, LaunchInput, Mapper, Profile};
use crate::backends::acp::Acp;
use crate::backends::program::{constructors, session_argument, spawn_spec};
use crate::backends::recording::{objects, says};
use crate::capability;
use crate::error::Error;
use crate::request::{Input, RunOptions, RunRequest};
use agent_client::{PermissionMode, SessionChoice};

/// Google's Gemini CLI.
#[derive(Debug)]
pub struct Gemini {
    profile: Profile,
    config: BackendConfig,
}

constructors!(Gemini);

impl Backend for Gemini {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn lacks(&self, request: &RunRequest) -> &'static [&'static str] {
        match request.input {
            // Over ACP it chooses the id of a new session itself.
            Input::Messages(_) => &[capability::SESSION_PRESET_ID],
            Input::PromptOnly => &[],
        }
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        match request.input {
            // Only this form asks for permission and takes messages and attachments, but it does not report shell output.
            Input::Messages(_) => Acp::gemini().launch(request, found),
            Input::PromptOnly => stream_json(request, found),
        }
    }

    fn recognises(&self, first_lines: &[&[u8]]) -> bool {
        objects(first_lines).any(|object| says(&object, "type", "init") && object.get("session_id").is_some())
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        Some(Box::new(GeminiMapper::new()))
    }
}

/// One prompt, no questions: what is not allowed is refused.
fn stream_json(request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
    let mut spec = spawn_spec(request, found);
    spec.args = arguments(&request.options)?;
    Ok(Launch::new(
        spec,
        LaunchInput::Bytes(Bytes::from(request.prompt.clone())),
        Box::new(GeminiMapper::new()),
    ))
}

fn arguments(options: &RunOptions) -> Result<Vec<OsString>, Error> {
    // Gemini exits with 55 in a directory that it does not trust. The caller chose the directory.
    let mut args: Vec<OsString> = ["--output-format=stream-json", "--skip-trust"]
        .map(OsString::from)
        .into();
    if let Some(mode) = options.permission_mode {
        let mode = match mode {
            PermissionMode::Bypass => "yolo",
            PermissionMode::AcceptEdits => "auto_edit",
            PermissionMode::Plan => "plan",
            PermissionMode::Ask | PermissionMode::Auto | PermissionMode::Refuse => "default",
        };
        args.push(format!("--approval-mode={mode}").into());
    }
    if let Some(model) = &options.model {
        args.push(format!("--model={model}").into());
    }
    for directory in &options.additional_directories {
        let mut argument = OsString::from("--include-directories=");
        argument.push(directory);
        args.push(argument);
    }
    match &options.session {
        None | Some(SessionChoice::New) => {}
        Some(SessionChoice::NewWithId(id)) => {
            args.push(format!("--session-id={}", session_argument(id)?).into());
        }
        Some(SessionChoice::Resume(id)) => args.push(format!("--resume={}", session_argument(id)?).into()),
        Some(SessionChoice::Last) => args.push("--resume=latest".into()),
        Some(SessionChoice::Fork { .. } | SessionChoice::ForkLast { .. }) => {
            return Err(Error::invalid("Gemini cannot fork a session: resume it instead"));
        }
    }
    args.extend(options.extra_args.iter().cloned());
    Ok(args)
}
