//! `profile`: the facts about the Gemini CLI.

use std::time::Duration;

use agent_process::StdoutMode;

use crate::backend::{ExitCode, ExitTrust, InterruptBy, LoginCheck, LoginFile, Profile, StderrClass};
use crate::capability;
use crate::event::{AgentKind, ErrorClass, Limit, Outcome};

/// The profile of the Gemini CLI.
///
/// Gemini takes a prompt of any length on standard input. The way to log in has to be chosen in its settings file once.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        display_name: "Gemini",
        version_args: &["--version"],
        tested_versions: Some(("0.61.0", "0.61.0")),
        install_hint: "run `npm install -g @google/gemini-cli`",
        login_hint: "run `gemini` once and choose how to log in, or set `GEMINI_API_KEY`",
        capabilities: &[
            capability::EVENTS_LIVE,
            // These four through ACP, which the launch chooses when the caller answers or holds a conversation.
            capability::INTERRUPT,
            capability::SEND,
            capability::IMAGES,
            capability::DOCUMENTS,
            capability::ANSWER,
            capability::SET,
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::SESSION_PRESET_ID,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::CONFIG_PERMISSIONS,
            capability::ADD_DIRS,
            capability::USAGE,
        ],
        runs_commands: true,
        adds_files: true,
        // A Node program: what is still in a pipe is lost when it exits.
        transport: StdoutMode::Spool,
        // It retries failed requests for minutes, visible on stderr only, and writes nothing while a command runs.
        inactivity_limit: Some(Duration::from_secs(30 * 60)),
        // An API error exits with the HTTP status modulo 256; a cut answer and a signal exit with 0.
        exit_trust: ExitTrust::NeedsResult,
        exit_codes: EXIT_CODES,
        stderr_classes: const {
            &[
                StderrClass::new(
                    "not running in a trusted directory",
                    ErrorClass::Trust,
                    "not_trusted",
                ),
                StderrClass::new(
                    "you must specify the gemini_api_key",
                    ErrorClass::Auth,
                    "not_logged_in",
                ),
                StderrClass::new("please set an auth method", ErrorClass::Auth, "not_logged_in"),
                StderrClass::new(
                    "error resuming session",
                    ErrorClass::InvalidRequest,
                    "unknown_session",
                ),
                StderrClass::new("unknown argument", ErrorClass::InvalidRequest, "unknown_option"),
                StderrClass::new("failed with status 429", ErrorClass::RateLimit, "rate_limit"),
                StderrClass::new("failed with status 5", ErrorClass::Vendor, "vendor"),
            ]
        },
        // Otherwise a second process does the work, and the first one does not pass signals on.
        environment: &[("GEMINI_CLI_NO_RELAUNCH", "true"), ("NO_COLOR", "1")],
        driven_by: "stream-json, or ACP where permissions are asked",
        interrupt_by: InterruptBy::Message,
        messages_on_demand: true,
        auth_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        login_check: LoginCheck::new(
            &["GOOGLE_APPLICATION_CREDENTIALS"],
            const { &[LoginFile::new(None, ".gemini", "oauth_creds.json")] },
        ),
        ..Profile::new(AgentKind::GEMINI, "gemini")
    }
}

/// From Gemini's documentation and source. They are below every HTTP status modulo 256 that an API error exits with.
const EXIT_CODES: &[ExitCode] = &[
    ExitCode {
        code: 41,
        outcome: Outcome::Failed,
        class: ErrorClass::Auth,
        word: "not_logged_in",
        message: "not logged in: run `gemini` once and choose how to log in, or set `GEMINI_API_KEY`",
    },
    ExitCode {
        code: 42,
        outcome: Outcome::Failed,
        class: ErrorClass::InvalidRequest,
        word: "invalid_input",
        message: "Gemini refused the prompt or an option",
    },
    ExitCode {
        code: 44,
        outcome: Outcome::Failed,
        class: ErrorClass::Sandbox,
        word: "sandbox",
        message: "Gemini could not set up its sandbox",
    },
    ExitCode {
        code: 52,
        outcome: Outcome::Failed,
        class: ErrorClass::Config,
        word: "config",
        message: "Gemini's settings are invalid: check `~/.gemini/settings.json`",
    },
    ExitCode {
        code: 53,
        outcome: Outcome::LimitReached(Limit::Turns),
        class: ErrorClass::Quota,
        word: "max_turns",
        message: "turn limit reached: raise `maxSessionTurns` in Gemini's settings",
    },
    ExitCode {
        code: 54,
        outcome: Outcome::Failed,
        class: ErrorClass::Tool,
        word: "tool_failed",
        message: "a tool failed in a way that Gemini could not continue from",
    },
    ExitCode {
        code: 55,
        outcome: Outcome::Failed,
        class: ErrorClass::Trust,
        word: "not_trusted",
        message: "the directory is not trusted: run `gemini` there once and trust it",
    },
    ExitCode {
        code: 130,
        outcome: Outcome::Interrupted,
        class: ErrorClass::Process,
        word: "interrupted",
        message: "Gemini was interrupted",
    },
];
