//! The agents, and the ways to start each.

use agent_api::ErrorClass;
use test_support::real_cli::Agent;

/// One way to start an agent, and what it tells.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Door {
    /// The first part of the names of its tests.
    pub(crate) name: &'static str,
    pub(crate) agent: Agent,
    /// Whether the run takes messages while it goes on; otherwise one prompt, and the end.
    pub(crate) is_conversation: bool,
    /// Whether a failed command has its exit code.
    pub(crate) has_exit_code: bool,
    /// Whether a command has its output.
    pub(crate) has_output: bool,
    /// Whether an edit names the changed file, and shows the changed lines.
    pub(crate) has_changes: bool,
    pub(crate) has_diff: bool,
    /// Whether the tokens of a turn with several calls of the model are complete. What is missing must be said.
    pub(crate) has_all_tokens: bool,
    /// Whether tokens from the cache are told apart.
    pub(crate) has_cached_tokens: bool,
    /// Tokens that a call of the model writes, reasoning included, and the reasoning alone.
    pub(crate) output_tokens: u64,
    pub(crate) reasoning_tokens: u64,
    /// The model to ask for.
    pub(crate) model: Option<&'static str>,
    /// Whether a session that ended right after its turn can be resumed.
    pub(crate) resumes: bool,
    /// Whether it asks for permission.
    pub(crate) asks: bool,
    /// Whether the model is told why a command was denied.
    pub(crate) tells_reason: bool,
    /// Whether an edit that the permission mode refuses is reported as denied.
    pub(crate) reports_refusals: bool,
    /// Whether an interrupt also ends the command that runs.
    pub(crate) ends_commands: bool,
    /// The class of HTTP 400.
    pub(crate) bad_request: ErrorClass,
}

const COMMON: Door = Door {
    name: "",
    agent: Agent::Codex,
    is_conversation: false,
    has_exit_code: true,
    has_output: true,
    has_changes: true,
    has_diff: true,
    has_all_tokens: true,
    has_cached_tokens: true,
    output_tokens: 34,
    reasoning_tokens: 10,
    model: None,
    resumes: true,
    asks: false,
    tells_reason: false,
    reports_refusals: false,
    ends_commands: false,
    bad_request: ErrorClass::InvalidRequest,
};

const QWEN: Door = Door {
    agent: Agent::Qwen,
    // The exit code is in the output; a result names the changed file only.
    has_exit_code: false,
    has_diff: false,
    reasoning_tokens: 0,
    ..COMMON
};

pub(crate) const DOORS: [Door; 8] = [
    Door {
        name: "codex_exec",
        // Paths only.
        has_diff: false,
        ..COMMON
    },
    Door {
        name: "codex_app_server",
        is_conversation: true,
        asks: true,
        tells_reason: true,
        reports_refusals: true,
        ends_commands: true,
        ..COMMON
    },
    Door {
        name: "gemini",
        agent: Agent::Gemini,
        // A failed command is a success without an exit code, and changes are known from the arguments only.
        has_exit_code: false,
        has_diff: false,
        // Its API counts thoughts on top of the answer.
        output_tokens: 44,
        // By default it asks a model which model to ask.
        model: Some("gemini-2.5-pro"),
        ..COMMON
    },
    Door {
        name: "gemini_acp",
        agent: Agent::Gemini,
        is_conversation: true,
        asks: true,
        // It reports neither what a command wrote nor how it ended.
        has_exit_code: false,
        has_output: false,
        // Thoughts are not counted.
        has_cached_tokens: false,
        reasoning_tokens: 0,
        // It writes a session down a few seconds after the turn. One whose input ends at once, as here, is lost.
        resumes: false,
        model: Some("gemini-2.5-pro"),
        ..COMMON
    },
    Door { name: "qwen", ..QWEN },
    Door {
        name: "qwen_conversation",
        is_conversation: true,
        asks: true,
        ..QWEN
    },
    Door {
        name: "opencode",
        agent: Agent::Opencode,
        is_conversation: true,
        asks: true,
        // The tokens of the last call only.
        has_all_tokens: false,
        ..COMMON
    },
    Door {
        name: "copilot",
        agent: Agent::Copilot,
        is_conversation: true,
        asks: true,
        ..COMMON
    },
];
