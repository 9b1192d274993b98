//! `Pi`: the backend. It starts `pi --mode json` with the prompt on standard input.

use std::ffi::OsString;
use std::time::Duration;

use agent_process::StdoutMode;
use bytes::Bytes;

use super::mapper::PiMapper;
use crate::backend::{
    Backend, BackendConfig, ExitTrust, InstalledAgent, Launch, LaunchInput, Mapper, Profile, StderrClass,
};
use crate::backends::program::{constructors, session_argument, spawn_spec};
use crate::backends::recording::{objects, says};
use crate::capability;
use crate::error::Error;
use crate::event::{AgentKind, ErrorClass};
use crate::request::{RunOptions, RunRequest};
use agent_client::SessionChoice;

/// The coding agent pi.
#[derive(Debug)]
pub struct Pi {
    profile: Profile,
    config: BackendConfig,
}

constructors!(Pi);

/// The profile of pi. It has no permission system: everything is allowed.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        display_name: "pi",
        version_args: &["--version"],
        tested_versions: Some(("0.87.1", "0.87.1")),
        install_hint: "run `npm install -g @earendil-works/pi-coding-agent`",
        login_hint: "run `pi` once and type `/login`, or set the API key of your provider",
        driven_by: "`--mode json`",
        capabilities: &[
            capability::EVENTS_LIVE,
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::SESSION_FORK,
            capability::SESSION_PRESET_ID,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::USAGE,
            capability::COST,
        ],
        // Skills and prompt templates.
        runs_commands: true,
        // A Node program: what is still in a pipe is lost when it exits.
        transport: StdoutMode::Spool,
        // It writes nothing while a command is silent.
        inactivity_limit: Some(Duration::from_secs(30 * 60)),
        // It exits with 0 after an API error.
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: const {
            &[
                StderrClass::new("no session found", ErrorClass::InvalidRequest, "unknown_session"),
                StderrClass::new("no api key", ErrorClass::Auth, "not_logged_in"),
            ]
        },
        environment: &[("NO_COLOR", "1")],
        auth_variables: &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
        ..Profile::new(AgentKind::PI, "pi")
    }
}

impl Backend for Pi {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        let mut spec = spawn_spec(request, found);
        spec.args = arguments(&request.options)?;
        let input = LaunchInput::Bytes(Bytes::from(request.prompt.clone()));
        Ok(Launch::new(spec, input, Box::new(PiMapper::default())))
    }

    fn recognises(&self, first_lines: &[&[u8]]) -> bool {
        objects(first_lines).any(|object| says(&object, "type", "session") && object.get("version").is_some())
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        Some(Box::new(PiMapper::default()))
    }
}

fn arguments(options: &RunOptions) -> Result<Vec<OsString>, Error> {
    let mut args: Vec<OsString> = ["--mode", "json", "-p"].map(OsString::from).into();
    let mut option = |name: &str, value: &str| args.extend([OsString::from(name), value.into()]);
    if let Some(model) = &options.model {
        if model.starts_with('-') {
            return Err(Error::invalid("a model name does not start with `-`"));
        }
        // `provider/model` names both.
        match model.split_once('/') {
            Some((provider, model)) => {
                option("--provider", provider);
                option("--model", model);
            }
            None => option("--model", model),
        }
    }
    match &options.session {
        None | Some(SessionChoice::New) => {}
        Some(SessionChoice::NewWithId(id)) => option("--session-id", session_argument(id)?),
        Some(SessionChoice::Resume(id)) => option("--session", session_argument(id)?),
        Some(SessionChoice::Fork { id, .. }) => option("--fork", session_argument(id)?),
        Some(SessionChoice::Last) => args.push("-c".into()),
        Some(SessionChoice::ForkLast { .. }) => {
            return Err(Error::invalid(
                "pi cannot fork the last session: give the session's id",
            ));
        }
    }
    args.extend(options.extra_args.iter().cloned());
    Ok(args)
}
