//! Starting the demo agent.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agent_process::{Limits, StdoutMode};
use claude_code::Dialect;
use serde_json::Value;

use super::agent::DEMO_WORD;
use crate::backend::{Backend, BackendConfig, ExitTrust, Found, InterruptBy, Launch, Profile};
use crate::backends::claude_code::launch;
use crate::capability;
use crate::error::Error;
use crate::event::AgentKind;
use crate::request::{RunOptions, RunRequest};

/// Extension key: how fast the show goes. 1 is for people, 2 twice as fast; 0 or `"max"` is without any pause.
pub const DEMO_SPEED: &str = "agent_api.demo.speed.v1";

/// The scripted agent that comes with this crate.
#[derive(Debug)]
pub struct Demo {
    profile: Profile,
    config: BackendConfig,
    first_args: Vec<OsString>,
}

impl Demo {
    /// This program itself, started once more. Its `main` must begin with [`demo_main`](super::demo_main).
    #[must_use]
    pub fn reexec() -> Self {
        // Where a program cannot find itself, the run says so.
        let program = std::env::current_exe().unwrap_or_default();
        Self::program(program, [DEMO_WORD])
    }

    /// A program that plays the demo agent, with these arguments before the agent's own.
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

    /// Sets what requests leave open.
    #[must_use]
    pub fn defaults(mut self, defaults: RunOptions) -> Self {
        self.config.defaults = defaults;
        self
    }
}

fn profile() -> Profile {
    Profile {
        kind: AgentKind::DEMO,
        display_name: "Demo",
        program: "",
        version_args: &[],
        version_word: None,
        tested_versions: None,
        install_hint: "it comes with this program: its `main` must begin with `agent_api::demo_main()`",
        login_hint: "",
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
            capability::SESSION_PRESET_ID,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::CONFIG_PERMISSIONS,
            capability::NON_INTERACTIVE,
            capability::EXTERNAL_SANDBOX,
            capability::FINAL_TEXT,
            capability::USAGE,
            capability::COST,
        ],
        extension_keys: &[DEMO_SPEED],
        transport: StdoutMode::Pipe,
        interrupt_by: InterruptBy::Message,
        limits: Limits::default,
        exit_after_idle: Duration::from_secs(5),
        // Who plays it slowly wants it slow.
        inactivity_limit: None,
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: &[],
        environment: &[],
    }
}

impl Backend for Demo {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn config(&self) -> &BackendConfig {
        &self.config
    }

    fn check_extensions(&self, options: &RunOptions) -> Result<(), Error> {
        speed(options).map(drop)
    }

    fn launch(&self, request: &RunRequest, found: &Found) -> Result<Launch, Error> {
        if found.program.as_os_str().is_empty() {
            return Err(Error::NotInstalled {
                agent_kind: self.profile.kind.clone(),
                program: found.program.clone(),
                hint: self.profile.install_hint.to_owned(),
            });
        }
        let mut request = request.clone();
        request.options.extra_args.extend(speed(&request.options)?);
        let mut launch = launch(&request, found, Dialect::CLAUDE_CODE)?;
        launch.spec.args.splice(0..0, self.first_args.iter().cloned());
        Ok(launch)
    }
}

/// The argument that the extension stands for.
fn speed(options: &RunOptions) -> Result<Option<OsString>, Error> {
    let speed = match options.extensions.get(DEMO_SPEED) {
        None => return Ok(None),
        Some(Value::String(word)) if word == "max" => "max".to_owned(),
        Some(Value::Number(number)) if number.as_f64().is_some_and(|speed| speed >= 0.0) => {
            number.to_string()
        }
        Some(_) => {
            let what = format!("the extension `{DEMO_SPEED}` must be a number from 0, or \"max\"");
            return Err(Error::invalid(what));
        }
    };
    Ok(Some(format!("--demo-speed={speed}").into()))
}
