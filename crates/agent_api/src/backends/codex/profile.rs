//! What is known about Codex.

use std::time::Duration;

use agent_process::{Limits, StdoutMode};

use crate::backend::{ExitTrust, InterruptBy, Profile, StderrClass};
use crate::capability;
use crate::event::{AgentKind, ErrorClass};

/// What is known about `codex exec --json`.
///
/// Its input must be empty or end: with a prompt as argument and an open pipe it waits for ever. The prompt goes in
/// on standard input (`-`), because an argument takes 131,071 bytes at most.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        kind: AgentKind::CODEX,
        display_name: "Codex",
        program: "codex",
        version_args: &["--version"],
        version_word: Some("codex"),
        tested_versions: Some(("0.166.0", "0.166.0")),
        install_hint: "npm install -g @openai/codex",
        login_hint: "codex login",
        capabilities: &[
            capability::RUN,
            capability::EVENTS,
            capability::CANCEL,
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::SESSION_FORK,
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
        transport: StdoutMode::Pipe,
        // SIGINT ends the process in order, with its commands; SIGTERM leaves them behind.
        interrupt_by: InterruptBy::Signal,
        limits: Limits::default,
        // After a successful turn it takes about five seconds to leave.
        exit_after_idle: Duration::from_secs(15),
        // Text comes only when it is complete, and a command says nothing until it ends.
        inactivity_limit: Some(Duration::from_secs(30 * 60)),
        // 1 is a failed turn as well as an interrupted one; the stream knows more.
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: &[
            StderrClass {
                word: "not inside a trusted directory",
                class: ErrorClass::Trust,
                code: "not_trusted",
            },
            StderrClass {
                word: "no rollout found",
                class: ErrorClass::InvalidRequest,
                code: "unknown_session",
            },
            StderrClass {
                word: "no prompt provided",
                class: ErrorClass::InvalidRequest,
                code: "no_prompt",
            },
            StderrClass {
                word: "unexpected argument",
                class: ErrorClass::InvalidRequest,
                code: "unknown_option",
            },
            StderrClass {
                word: "not logged in",
                class: ErrorClass::Auth,
                code: "not_logged_in",
            },
            StderrClass {
                word: "error loading config",
                class: ErrorClass::Config,
                code: "config",
            },
        ],
        environment: &[("NO_COLOR", "1")],
    }
}
