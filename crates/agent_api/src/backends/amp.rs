//! Amp: `amp --execute --stream-json`. It writes Claude's stream, so `ClaudeMapper` maps it.
//!
//! Written from Amp's help and the types of its SDK; its threads live on Amp's server, so no run of it was recorded.

use std::ffi::OsString;
use std::time::Duration;

use agent_process::StdoutMode;
use bytes::Bytes;
use claude_code::Dialect;

use super::claude_code::{ClaudeMapper, MapperSetup};
use super::program::{constructors, session_argument, spawn_spec};
use super::recording::{objects, says};
use crate::backend::{
    Backend, BackendConfig, ExitTrust, InstalledAgent, Launch, LaunchInput, Mapper, Profile, StderrClass,
};
use crate::capability;
use crate::error::Error;
use crate::event::{AgentKind, ErrorClass};
use crate::request::{RunOptions, RunRequest};
use agent_client::{PermissionMode, SessionChoice};

/// Amp reports tokens like Claude and no costs.
const DIALECT: Dialect = Dialect {
    has_cost: false,
    ..Dialect::CLAUDE_CODE
};

/// Sourcegraph's Amp.
#[derive(Debug)]
pub struct Amp {
    profile: Profile,
    config: BackendConfig,
}

constructors!(Amp);

/// The profile of Amp.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        display_name: "Amp",
        version_args: &["--version"],
        install_hint: "run `npm install -g @sourcegraph/amp`",
        login_hint: "run `amp login`, or set `AMP_API_KEY`",
        driven_by: "stream-json",
        // Without a login it prints an address and waits for ever, so it has to be asked for.
        is_chosen_automatically: false,
        capabilities: &[
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::USAGE,
        ],
        adds_files: true,
        auth_variables: &["AMP_API_KEY"],
        transport: StdoutMode::Spool,
        inactivity_limit: Some(Duration::from_secs(15 * 60)),
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: const {
            &[StderrClass::new(
                "not logged in",
                ErrorClass::Auth,
                "not_logged_in",
            )]
        },
        environment: &[("NO_COLOR", "1")],
        ..Profile::new(AgentKind::AMP, "amp")
    }
}

impl Backend for Amp {
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
        Ok(Launch::new(spec, input, mapper()))
    }

    /// Amp's thread ids start with `T-`.
    fn recognises(&self, first_lines: &[&[u8]]) -> bool {
        objects(first_lines).any(|object| {
            let id = object.text("session_id");
            says(&object, "subtype", "init") && id.is_some_and(|id| id.starts_with("T-"))
        })
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        Some(mapper())
    }
}

fn mapper() -> Box<dyn Mapper> {
    Box::new(ClaudeMapper::new(MapperSetup {
        dialect: DIALECT,
        ..MapperSetup::default()
    }))
}

fn arguments(options: &RunOptions) -> Result<Vec<OsString>, Error> {
    let mut args: Vec<OsString> = Vec::new();
    match &options.session {
        None | Some(SessionChoice::New) => {}
        Some(SessionChoice::Resume(id)) => {
            args.extend(["threads", "continue", session_argument(id)?].map(OsString::from));
        }
        Some(
            SessionChoice::NewWithId(_)
            | SessionChoice::Fork { .. }
            | SessionChoice::Last
            | SessionChoice::ForkLast { .. },
        ) => {
            return Err(Error::invalid(
                "Amp can start a new thread or continue one by its id",
            ));
        }
    }
    args.extend(["--execute", "--stream-json"].map(OsString::from));
    if options.permission_mode == Some(PermissionMode::Bypass) {
        args.push("--dangerously-allow-all".into());
    }
    if let Some(model) = &options.model {
        args.extend(["-m", session_argument(model)?].map(OsString::from));
    }
    args.extend(options.extra_args.iter().cloned());
    Ok(args)
}
