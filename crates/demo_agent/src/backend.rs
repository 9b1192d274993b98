//! `Demo`: starts the demo agent with the command line of Claude Code.

use std::ffi::OsString;
use std::path::PathBuf;

use agent_api::backends::claude_code::ClaudeCode;
use agent_api::{
    AgentKind, Backend, BackendConfig, Error, ExitTrust, InstalledAgent, InterruptBy, Launch, Mapper,
    Profile, RunOptions, RunRequest, capability,
};
use serde_json::Value;

use crate::cli::REEXEC_ARGUMENT;

/// Extension key: the speed, as a multiple of the normal one. 0 or `"max"` runs without pauses.
pub const SPEED_EXTENSION: &str = "agent_api.demo.speed.v1";

/// The demo agent as a backend of `agent_api`, named `demo`.
#[derive(Debug)]
pub struct Demo {
    profile: Profile,
    config: BackendConfig,
    first_args: Vec<OsString>,
}

impl Demo {
    /// Starts the current program again. Its `main` must begin with [`demo_main`](crate::demo_main).
    #[must_use]
    pub fn reexec() -> Self {
        // An empty path makes `launch` fail with `NotInstalled`.
        let program = std::env::current_exe().unwrap_or_default();
        Self::program(program, [REEXEC_ARGUMENT])
    }

    /// Starts a program that is the demo agent, with `first_args` before the agent's own arguments.
    #[must_use]
    pub fn program(
        program: impl Into<PathBuf>,
        first_args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self {
            profile: profile(),
            config: BackendConfig {
                program: Some(program.into()),
                ..BackendConfig::default()
            },
            first_args: first_args.into_iter().map(Into::into).collect(),
        }
    }

    /// Sets the options that apply when a request does not set them.
    #[must_use]
    pub fn defaults(mut self, defaults: RunOptions) -> Self {
        self.config.defaults = defaults;
        self
    }
}

fn profile() -> Profile {
    let mut profile = Profile::new(AgentKind::DEMO, "");
    profile.display_name = "Demo";
    profile.install_hint =
        "it is part of this program, whose `main` must begin with `demo_agent::demo_main()`";
    profile.capabilities = &[
        capability::EVENTS_LIVE,
        capability::INTERRUPT,
        capability::SEND,
        capability::ANSWER,
        capability::SET,
        capability::SESSION_HANDLE,
        capability::SESSION_PRESET_ID,
        capability::TOOLS_STRUCTURED,
        capability::TOOLS_RESULTS,
        capability::CONFIG_MODEL,
        capability::CONFIG_PERMISSIONS,
        capability::USAGE,
        capability::COST,
    ];
    profile.extension_keys = &[SPEED_EXTENSION];
    profile.interrupt_by = InterruptBy::Message;
    profile.exit_trust = ExitTrust::NeedsResult;
    profile.driven_by = "stream-json in both directions";
    profile.is_chosen_automatically = false;
    profile
}

impl Backend for Demo {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn replay_mapper(&self) -> Option<Box<dyn Mapper>> {
        ClaudeCode::new().replay_mapper()
    }

    fn check_extensions(&self, options: &RunOptions) -> Result<(), Error> {
        speed_argument(options).map(drop)
    }

    fn launch(&self, request: &RunRequest, found: &InstalledAgent) -> Result<Launch, Error> {
        if found.program.as_os_str().is_empty() {
            return Err(Error::NotInstalled {
                agent_kind: self.profile.kind.clone(),
                program: found.program.clone(),
                hint: self.profile.install_hint.to_owned(),
            });
        }
        let mut request = request.clone();
        request
            .options
            .extra_args
            .extend(speed_argument(&request.options)?);
        // It is an argument now, and Claude's launch knows no such extension.
        request.options.extensions.remove(SPEED_EXTENSION);
        let mut launch = ClaudeCode::new().launch(&request, found)?;
        launch.spec.args.splice(0..0, self.first_args.iter().cloned());
        Ok(launch)
    }
}

/// Turns the extension into a command-line argument.
fn speed_argument(options: &RunOptions) -> Result<Option<OsString>, Error> {
    let speed = match options.extensions.get(SPEED_EXTENSION) {
        None => return Ok(None),
        Some(Value::String(word)) if word == "max" => "max".to_owned(),
        Some(Value::Number(number)) if number.as_f64().is_some_and(|speed| speed >= 0.0) => {
            number.to_string()
        }
        Some(_) => {
            return Err(Error::InvalidRequest {
                what: format!(
                    "the extension `{SPEED_EXTENSION}` must be \"max\" or a number that is not negative"
                ),
            });
        }
    };
    Ok(Some(format!("--demo-speed={speed}").into()))
}
