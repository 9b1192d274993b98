//! `profile`: the facts about Qwen Code.

use std::time::Duration;

use agent_process::StdoutMode;

use crate::backend::{ExitCode, ExitTrust, InterruptBy, LoginCheck, LoginFile, Profile, StderrClass};
use crate::capability;
use crate::event::{AgentKind, ErrorClass, Limit, Outcome};

/// The profile of Qwen Code.
///
/// Qwen takes a prompt of any length on standard input. Its usage figures include earlier runs of a resumed session and
/// the calls of its background memory agent.
#[must_use]
pub fn profile() -> Profile {
    Profile {
        display_name: "Qwen",
        version_args: &["--version"],
        tested_versions: Some(("0.24.4", "0.24.4")),
        install_hint: "run `npm install -g @qwen-code/qwen-code`",
        login_hint: "run `qwen` once and choose how to log in, or set `OPENAI_API_KEY` and `OPENAI_BASE_URL`",
        capabilities: &[
            capability::EVENTS_LIVE,
            capability::INTERRUPT,
            capability::SEND,
            capability::ANSWER,
            capability::SET,
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::SESSION_FORK,
            capability::SESSION_PRESET_ID,
            capability::SESSION_EPHEMERAL,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::CONFIG_PERMISSIONS,
            capability::CONFIG_TOOLS,
            capability::CONFIG_LIMITS,
            capability::CONFIG_SYSTEM_PROMPT,
            capability::ADD_DIRS,
            capability::USAGE,
        ],
        runs_commands: true,
        adds_files: true,
        // A Node program: what is still in a pipe is lost when it exits.
        transport: StdoutMode::Spool,
        // In a conversation. Otherwise a signal to the group: the process that is started is a wrapper.
        interrupt_by: InterruptBy::Message,
        // Its background memory agent may still be working.
        exit_after_idle: Duration::from_secs(20),
        // After a 429 it waits a minute, up to ten times, and it writes nothing while a command runs.
        inactivity_limit: Some(Duration::from_secs(30 * 60)),
        // Its own limits end it without a result.
        exit_trust: ExitTrust::NeedsResult,
        exit_codes: &[
            ExitCode {
                code: 53,
                outcome: Outcome::LimitReached(Limit::Turns),
                class: ErrorClass::Quota,
                word: "max_turns",
                message: "turn limit reached",
            },
            ExitCode {
                code: 55,
                outcome: Outcome::Failed,
                class: ErrorClass::Quota,
                word: "run_budget",
                message: "Qwen's limit for time or tool calls is reached",
            },
            ExitCode {
                code: 130,
                outcome: Outcome::Interrupted,
                class: ErrorClass::Process,
                word: "interrupted",
                message: "Qwen was interrupted",
            },
        ],
        stderr_classes: const {
            &[
                StderrClass::new("no auth type is selected", ErrorClass::Auth, "not_logged_in"),
                StderrClass::new(
                    "no saved session found",
                    ErrorClass::InvalidRequest,
                    "unknown_session",
                ),
                StderrClass::new("unknown argument", ErrorClass::InvalidRequest, "unknown_option"),
            ]
        },
        environment: &[("NO_COLOR", "1")],
        driven_by: "stream-json",
        auth_variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        login_check: LoginCheck::new(
            &[],
            const { &[LoginFile::new(None, ".qwen", "oauth_creds.json")] },
        ),
        ..Profile::new(AgentKind::QWEN, "qwen")
    }
}
