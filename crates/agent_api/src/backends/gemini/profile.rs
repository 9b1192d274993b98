//! What is known about the Gemini CLI.

use std::time::Duration;

use agent_process::{Limits, StdoutMode};

use crate::backend::{ExitTrust, InterruptBy, Profile, StderrClass};
use crate::capability;
use crate::event::{AgentKind, ErrorClass};

/// What is known about `gemini -o stream-json`.
///
/// It takes the prompt on standard input, of any length, and does not mind an open one. Folders have to be trusted
/// (`--skip-trust`), and the way to log in has to be chosen in its settings file.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        kind: AgentKind::GEMINI,
        display_name: "Gemini",
        program: "gemini",
        version_args: &["--version"],
        version_word: None,
        tested_versions: Some(("0.61.0", "0.61.0")),
        install_hint: "npm install -g @google/gemini-cli",
        login_hint: "start `gemini` once and choose how to log in, or set GEMINI_API_KEY",
        capabilities: &[
            capability::RUN,
            capability::EVENTS,
            capability::EVENTS_LIVE,
            capability::CANCEL,
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::NON_INTERACTIVE,
            capability::ADD_DIRS,
            capability::EXTERNAL_SANDBOX,
            capability::FINAL_TEXT,
            capability::USAGE,
        ],
        extension_keys: &[],
        // A Node program whose tail is lost on a sudden exit.
        transport: StdoutMode::Spool,
        interrupt_by: InterruptBy::Signal,
        limits: Limits::default,
        exit_after_idle: Duration::from_secs(5),
        // It repeats failed requests for minutes and says so on stderr only; a command says nothing until it ends.
        inactivity_limit: Some(Duration::from_secs(30 * 60)),
        // An API's error exits with its status modulo 256, a cut answer or a signal with 0.
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: &[
            StderrClass {
                word: "not running in a trusted directory",
                class: ErrorClass::Trust,
                code: "not_trusted",
            },
            StderrClass {
                word: "you must specify the gemini_api_key",
                class: ErrorClass::Auth,
                code: "not_logged_in",
            },
            StderrClass {
                word: "please set an auth method",
                class: ErrorClass::Auth,
                code: "not_logged_in",
            },
            StderrClass {
                word: "unknown argument",
                class: ErrorClass::InvalidRequest,
                code: "unknown_option",
            },
            StderrClass {
                word: "failed with status 429",
                class: ErrorClass::RateLimit,
                code: "rate_limit",
            },
            StderrClass {
                word: "failed with status 5",
                class: ErrorClass::Vendor,
                code: "vendor",
            },
        ],
        // Without it a second process does the work, and the first one passes no signal on.
        environment: &[("GEMINI_CLI_NO_RELAUNCH", "true"), ("NO_COLOR", "1")],
    }
}
