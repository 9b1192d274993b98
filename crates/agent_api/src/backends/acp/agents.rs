//! `AgentEntry`: the agents that are known to speak ACP, one entry each.

use std::time::Duration;

use super::native::{self, NativeOutput};
use crate::backend::{ExitTrust, InterruptBy, Profile, StderrClass};
use crate::capability;
use crate::event::{AgentKind, ErrorClass};

/// How one agent is started, and the facts about it.
#[derive(Debug, Clone)]
pub(super) struct AgentEntry {
    pub(super) profile: Profile,
    /// The name that the agent gives itself; empty for any agent.
    pub(super) agent_name: &'static str,
    /// Starts the agent as an ACP server on its standard input and output.
    pub(super) args: &'static [&'static str],
    /// Added when everything is allowed.
    pub(super) bypass_args: &'static [&'static str],
    /// The option that chooses the model; without one it is chosen in the session.
    pub(super) model_option: Option<&'static str>,
    /// The option that adds a directory, with the sign before its value; without one the backend cannot add any.
    pub(super) directory_option: Option<&'static str>,
    /// Variables that make an agent ask which would not ask by default.
    pub(super) ask_environment: &'static [(&'static str, &'static str)],
    /// What the agent prints without ACP, for replays.
    pub(super) native: Option<NativeOutput>,
}

/// What every agent can do through this client.
const COMMON: [&str; 11] = [
    capability::EVENTS_LIVE,
    capability::INTERRUPT,
    capability::SEND,
    capability::IMAGES,
    capability::DOCUMENTS,
    capability::ANSWER,
    capability::SET,
    capability::SESSION_HANDLE,
    capability::TOOLS_STRUCTURED,
    capability::CONFIG_MODEL,
    capability::CONFIG_PERMISSIONS,
];

/// The common capabilities and some more, as a constant.
macro_rules! capabilities {
    ($($more:ident),* $(,)?) => {{
        const MORE: &[&str] = &[$(capability::$more),*];
        const LENGTH: usize = COMMON.len() + MORE.len();
        const ALL: [&str; LENGTH] = {
            let mut all = [""; LENGTH];
            let mut index = 0;
            while index < LENGTH {
                all[index] = if index < COMMON.len() { COMMON[index] } else { MORE[index - COMMON.len()] };
                index += 1;
            }
            all
        };
        &ALL
    }};
}

const STDERR_CLASSES: &[StderrClass] = const {
    &[
        StderrClass::new("not logged in", ErrorClass::Auth, "not_logged_in"),
        StderrClass::new("authentication required", ErrorClass::Auth, "not_logged_in"),
        StderrClass::new("unknown option", ErrorClass::Config, "unknown_option"),
        StderrClass::new("unexpected argument", ErrorClass::Config, "unknown_option"),
        StderrClass::new("unknown argument", ErrorClass::Config, "unknown_option"),
    ]
};

fn base(kind: AgentKind, display_name: &'static str, program: &'static str) -> Profile {
    Profile {
        display_name,
        driven_by: "ACP",
        version_args: &["--version"],
        capabilities: &COMMON,
        interrupt_by: InterruptBy::Message,
        // A command that writes nothing is not reported until it ends.
        inactivity_limit: Some(Duration::from_secs(30 * 60)),
        exit_trust: ExitTrust::NeedsResult,
        // The protocol has no other way to run a command.
        runs_commands: true,
        stderr_classes: STDERR_CLASSES,
        ..Profile::new(kind, program)
    }
}

fn entry(profile: Profile, agent_name: &'static str, args: &'static [&'static str]) -> AgentEntry {
    AgentEntry {
        profile,
        agent_name,
        args,
        bypass_args: &[],
        model_option: None,
        directory_option: None,
        ask_environment: &[],
        native: None,
    }
}

pub(super) fn opencode() -> AgentEntry {
    let profile = Profile {
        tested_versions: Some(("1.18.33", "1.18.33")),
        install_hint: "run `npm install -g opencode-ai`",
        login_hint: "run `opencode auth login`",
        capabilities: capabilities![SESSION_RESUME, SESSION_FORK, TOOLS_RESULTS, USAGE, COST],
        // An update in the middle of a run would change the agent under test. The list of models is still fetched.
        environment: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
        ..base(AgentKind::built_in("opencode"), "opencode", "opencode")
    };
    AgentEntry {
        // By default it asks for nothing.
        ask_environment: &[(
            "OPENCODE_PERMISSION",
            r#"{"edit":"ask","bash":"ask","webfetch":"ask","external_directory":"ask"}"#,
        )],
        native: Some(native::OPENCODE),
        ..entry(profile, "OpenCode", &["acp"])
    }
}

pub(super) fn copilot() -> AgentEntry {
    let profile = Profile {
        version_word: Some("Copilot"),
        tested_versions: Some(("1.0.102", "1.0.102")),
        install_hint: "run `npm install -g @github/copilot`",
        login_hint: "run `copilot login`",
        capabilities: capabilities![SESSION_RESUME, TOOLS_RESULTS, USAGE],
        environment: &[("COPILOT_AUTO_UPDATE", "false")],
        ..base(AgentKind::built_in("copilot"), "Copilot", "copilot")
    };
    AgentEntry {
        bypass_args: &["--allow-all"],
        model_option: Some("--model"),
        native: Some(native::COPILOT),
        ..entry(profile, "Copilot", &["--acp"])
    }
}

pub(super) fn goose() -> AgentEntry {
    let profile = Profile {
        tested_versions: Some(("1.52.0", "1.52.0")),
        install_hint: "see https://goose-docs.ai for how to install goose",
        login_hint: "run `goose configure`",
        capabilities: capabilities![SESSION_RESUME, CONFIG_AUTO_PERMISSIONS, TOOLS_RESULTS, USAGE],
        ..base(AgentKind::built_in("goose"), "goose", "goose")
    };
    AgentEntry {
        native: Some(native::GOOSE),
        ..entry(profile, "goose", &["acp"])
    }
}

/// By its documentation: no recording of it exists yet, and the name that it gives itself is an assumption.
pub(super) fn kiro() -> AgentEntry {
    let profile = Profile {
        install_hint: "see https://kiro.dev/docs/cli for how to install the Kiro CLI",
        login_hint: "run `kiro-cli login`",
        capabilities: capabilities![SESSION_RESUME, TOOLS_RESULTS],
        ..base(AgentKind::built_in("kiro"), "Kiro", "kiro-cli")
    };
    entry(profile, "kiro-cli", &["acp"])
}

/// Anthropic's agent behind the adapter of the protocol's own project.
pub(super) fn claude_acp() -> AgentEntry {
    let profile = Profile {
        short_name: Some("claude-acp"),
        // It would start to serve instead of printing its version.
        version_args: &[],
        install_hint: "run `npm install -g @agentclientprotocol/claude-agent-acp`",
        login_hint: "run `claude` and type `/login`, or set `ANTHROPIC_API_KEY`",
        capabilities: capabilities![SESSION_RESUME, TOOLS_RESULTS, USAGE, COST],
        ..base(
            AgentKind::built_in("claude_acp"),
            "Claude (ACP)",
            "claude-agent-acp",
        )
    };
    entry(profile, "@agentclientprotocol/claude-agent-acp", &[])
}

/// Gemini CLI, for runs that answer permission requests. Results of commands are not part of its ACP output.
pub(super) fn gemini() -> AgentEntry {
    let profile = Profile {
        tested_versions: Some(("0.61.0", "0.61.0")),
        install_hint: "run `npm install -g @google/gemini-cli`",
        login_hint: "start `gemini` once and choose how to log in, or set `GEMINI_API_KEY`",
        // A session can be resumed a few seconds after its last turn. One that ended before was not written down, and
        // resuming it fails with `no_such_session`. So the agent, which stays when its input ends, has the usual time.
        capabilities: capabilities![SESSION_RESUME, USAGE],
        // Without the first, a second process does the work, and the first one passes no signal on.
        environment: &[("GEMINI_CLI_NO_RELAUNCH", "true"), ("NO_COLOR", "1")],
        ..base(AgentKind::GEMINI, "Gemini", "gemini")
    };
    AgentEntry {
        model_option: Some("-m"),
        directory_option: Some("--include-directories="),
        ..entry(profile, "gemini-cli", &["--acp"])
    }
}

/// Qwen Code, for runs that answer permission requests.
pub(super) fn qwen() -> AgentEntry {
    let profile = Profile {
        tested_versions: Some(("0.24.4", "0.24.4")),
        install_hint: "run `npm install -g @qwen-code/qwen-code`",
        login_hint: "start `qwen` once and choose how to log in, or set `OPENAI_API_KEY`",
        capabilities: capabilities![SESSION_RESUME, TOOLS_RESULTS, USAGE],
        environment: &[("NO_COLOR", "1")],
        ..base(AgentKind::QWEN, "Qwen", "qwen")
    };
    AgentEntry {
        model_option: Some("-m"),
        ..entry(profile, "qwen-code", &["--acp"])
    }
}

/// Any other agent. What it can do is known only after it has started, so a run that needs more fails with a reason.
pub(super) fn custom() -> AgentEntry {
    let profile = Profile {
        version_args: &[],
        install_hint: "check the command: the name or the path of a program, without arguments",
        login_hint: "use the agent's own login command",
        capabilities: capabilities![
            SESSION_RESUME,
            SESSION_FORK,
            CONFIG_AUTO_PERMISSIONS,
            TOOLS_RESULTS
        ],
        is_chosen_automatically: false,
        ..base(AgentKind::built_in("acp"), "ACP agent", "")
    };
    entry(profile, "", &[])
}
