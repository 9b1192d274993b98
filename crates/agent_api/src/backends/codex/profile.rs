//! `profile`: the facts about Codex.

use std::time::Duration;

use crate::backend::{ExitTrust, InterruptBy, LoginCheck, LoginFile, Profile, StderrClass};
use crate::capability;
use crate::event::{AgentKind, ErrorClass};

/// The profile of Codex.
///
/// `codex exec` waits for ever if it gets a prompt as argument and standard input stays open. So the prompt goes in on
/// standard input, which also takes prompts longer than an argument can be (131,071 bytes on Linux).
#[must_use]
pub fn profile() -> Profile {
    Profile {
        display_name: "Codex",
        version_args: &["--version"],
        version_word: Some("codex"),
        tested_versions: Some(("0.166.0", "0.166.0")),
        install_hint: "run `npm install -g @openai/codex`",
        login_hint: "run `codex login`, or set `OPENAI_API_KEY`",
        capabilities: &[
            // In a conversation. For a single prompt, texts come in whole blocks.
            capability::EVENTS_LIVE,
            capability::INTERRUPT,
            capability::SEND,
            capability::IMAGES,
            capability::ANSWER,
            capability::SET,
            capability::SESSION_HANDLE,
            capability::SESSION_RESUME,
            capability::SESSION_FORK,
            capability::SESSION_EPHEMERAL,
            capability::TOOLS_STRUCTURED,
            capability::TOOLS_RESULTS,
            capability::CONFIG_MODEL,
            capability::CONFIG_PERMISSIONS,
            capability::CONFIG_EFFORT,
            capability::ADD_DIRS,
            capability::USAGE,
        ],
        // In a conversation. `codex exec` is interrupted by SIGINT, which ends the process and its commands.
        interrupt_by: InterruptBy::Message,
        // After a successful turn it can take about five seconds to exit.
        exit_after_idle: Duration::from_secs(15),
        // `codex exec` writes a text only when it is complete, and nothing while a command runs.
        inactivity_limit: Some(Duration::from_secs(30 * 60)),
        // 1 is a failed turn as well as an interrupted one; only the stream tells them apart.
        exit_trust: ExitTrust::NeedsResult,
        stderr_classes: const {
            &[
                StderrClass::new("not inside a trusted directory", ErrorClass::Trust, "not_trusted"),
                StderrClass::new("no rollout found", ErrorClass::InvalidRequest, "unknown_session"),
                StderrClass::new(
                    "invalid session id",
                    ErrorClass::InvalidRequest,
                    "unknown_session",
                ),
                StderrClass::new("no prompt provided", ErrorClass::InvalidRequest, "no_prompt"),
                StderrClass::new(
                    "unexpected argument",
                    ErrorClass::InvalidRequest,
                    "unknown_option",
                ),
                StderrClass::new("not logged in", ErrorClass::Auth, "not_logged_in"),
                StderrClass::new("error loading config", ErrorClass::Config, "config"),
            ]
        },
        environment: &[("NO_COLOR", "1")],
        driven_by: "`exec --json`, app-server for conversations",
        auth_variables: &["OPENAI_API_KEY", "CODEX_API_KEY"],
        login_check: LoginCheck::new(
            &[],
            const { &[LoginFile::new(Some("CODEX_HOME"), ".codex", "auth.json")] },
        ),
        ..Profile::new(AgentKind::CODEX, "codex")
    }
}
