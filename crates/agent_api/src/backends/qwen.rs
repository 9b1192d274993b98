//! Qwen Code, which speaks Claude's dialect: the facts about it. Its mapping is that of `claude_code`, a `ClaudeMapper`
//! with `Dialect::QWEN`. It starts nothing yet.

use std::time::Duration;

use agent_process::{Limits, StdoutMode};

use crate::backend::{ExitTrust, InterruptBy, Profile, StderrClass};
use crate::capability;
use crate::event::{AgentKind, ErrorClass};

/// What is known about `qwen -o stream-json`.
///
/// It takes the prompt on standard input, of any length, and does not mind an open one.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        kind: AgentKind::QWEN,
        display_name: "Qwen",
        program: "qwen",
        version_args: &["--version"],
        version_word: None,
        tested_versions: Some(("0.24.4", "0.24.4")),
        install_hint: "npm install -g @qwen-code/qwen-code",
        login_hint: "start `qwen` once and choose how to log in",
        capabilities: &[
            capability::RUN,
            capability::EVENTS,
            capability::EVENTS_LIVE,
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
        // A Node program whose tail is lost on a sudden exit.
        transport: StdoutMode::Spool,
        // The process that is started is not the one that works: a signal has to reach the group.
        interrupt_by: InterruptBy::Signal,
        limits: Limits::default,
        exit_after_idle: Duration::from_secs(5),
        // Too many requests are waited out for a minute, up to ten times; a command says nothing until it ends.
        inactivity_limit: Some(Duration::from_secs(30 * 60)),
        // Its own limits of turns and time end it with 53 or 55 and without a result.
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: &[
            StderrClass {
                word: "no auth type is selected",
                class: ErrorClass::Auth,
                code: "not_logged_in",
            },
            StderrClass {
                word: "unknown argument",
                class: ErrorClass::InvalidRequest,
                code: "unknown_option",
            },
        ],
        environment: &[("NO_COLOR", "1")],
    }
}
