//! `Quirks`: where agents differ behind the same protocol, looked up by the name that an agent gives itself.

use agent_client::PermissionMode;

/// How one agent uses the protocol. Measured on the versions in the profiles; see the recordings in `test_support`.
#[derive(Debug)]
pub(super) struct Quirks {
    /// `agentInfo.name` in the answer to `initialize`.
    pub(super) agent_name: &'static str,
    /// What the `usage` of a prompt's answer covers.
    pub(super) usage: UsageReport,
    /// When the earlier conversation is replayed after `session/load`.
    pub(super) replay: ReplayOrder,
    /// Status lines that are sent as assistant text.
    pub(super) prefixes: &'static [(&'static str, TextMeaning)],
    /// Ids of session modes, where they are not the usual ones.
    pub(super) modes: &'static [(PermissionMode, &'static str)],
    /// Whether the agent's modes have nothing to do with permissions: it asks in all of them, or in none.
    pub(super) has_other_modes: bool,
    /// The mode in which the agent acts, for one that has other modes and a plan mode.
    pub(super) acting_mode: Option<&'static str>,
}

/// What the `usage` of a prompt's answer covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UsageReport {
    /// The last call of the model in the turn, so the total of a longer turn is a lower bound.
    LastStep,
    Turn,
    /// The session since this process started.
    Process,
    /// Nothing: each call of the model is reported by an update.
    StepsInUpdates,
}

/// When the earlier conversation is replayed after `session/load`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplayOrder {
    BeforeAnswer,
    /// It may still be arriving after the answer, so the client waits for the answer to one more request.
    AfterAnswer,
}

/// What a line means that an agent sends as assistant text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextMeaning {
    Info,
    Warning,
    /// The turn has failed, although its stop reason is `end_turn`.
    Failure,
    /// The permission mode has changed; the rest of the text is its id.
    Mode,
}

/// An agent that follows the protocol.
const STANDARD: Quirks = Quirks {
    agent_name: "",
    usage: UsageReport::Turn,
    replay: ReplayOrder::BeforeAnswer,
    prefixes: &[],
    modes: &[],
    has_other_modes: false,
    acting_mode: None,
};

static UNKNOWN: Quirks = STANDARD;

static KNOWN: [Quirks; 8] = [
    Quirks {
        agent_name: "OpenCode",
        usage: UsageReport::LastStep,
        // Its modes are its agents. Variables make it ask.
        has_other_modes: true,
        acting_mode: Some("build"),
        ..STANDARD
    },
    Quirks {
        agent_name: "Copilot",
        usage: UsageReport::Process,
        prefixes: &[
            ("Info: ", TextMeaning::Info),
            ("Warning: ", TextMeaning::Warning),
            ("Error: ", TextMeaning::Failure),
        ],
        modes: &[
            (
                PermissionMode::Ask,
                "https://agentclientprotocol.com/protocol/session-modes#agent",
            ),
            (
                PermissionMode::Plan,
                "https://agentclientprotocol.com/protocol/session-modes#plan",
            ),
        ],
        ..STANDARD
    },
    Quirks {
        agent_name: "gemini-cli",
        replay: ReplayOrder::AfterAnswer,
        prefixes: &[("[MODE_UPDATE] ", TextMeaning::Mode)],
        ..STANDARD
    },
    Quirks {
        agent_name: "qwen-code",
        usage: UsageReport::StepsInUpdates,
        ..STANDARD
    },
    Quirks {
        agent_name: "goose",
        usage: UsageReport::LastStep,
        modes: &[
            (PermissionMode::Ask, "approve"),
            (PermissionMode::Auto, "smart_approve"),
            (PermissionMode::Bypass, "auto"),
        ],
        ..STANDARD
    },
    Quirks {
        // By its documentation: its modes are its agents.
        agent_name: "kiro-cli",
        has_other_modes: true,
        ..STANDARD
    },
    Quirks {
        agent_name: "@agentclientprotocol/codex-acp",
        modes: &[
            (PermissionMode::Ask, "read-only"),
            (PermissionMode::AcceptEdits, "workspace-write"),
            (PermissionMode::Auto, "agent"),
        ],
        prefixes: &[("Warning: ", TextMeaning::Warning)],
        ..STANDARD
    },
    Quirks {
        agent_name: "@agentclientprotocol/claude-agent-acp",
        ..STANDARD
    },
];

/// Ids of session modes that agents commonly use; an id counts only if the agent offers it.
const USUAL_MODES: [(PermissionMode, &[&str]); 5] = [
    (PermissionMode::Ask, &["default", "ask"]),
    (
        PermissionMode::AcceptEdits,
        &["acceptEdits", "autoEdit", "auto-edit"],
    ),
    (PermissionMode::Plan, &["plan", "read-only"]),
    (PermissionMode::Refuse, &["dontAsk"]),
    (
        PermissionMode::Bypass,
        &["bypassPermissions", "yolo", "full-access", "agent-full-access"],
    ),
];

impl Quirks {
    /// Those of the agent with this name; the standard ones for any other.
    pub(super) fn of(agent_name: &str) -> &'static Self {
        let known = KNOWN.iter().find(|known| known.agent_name == agent_name);
        known.unwrap_or(&UNKNOWN)
    }

    /// The ids of modes that will do for this one, best first. Where an agent asks, this client can accept edits or
    /// refuse in its place.
    pub(super) fn mode_ids(&self, mode: PermissionMode) -> impl Iterator<Item = &'static str> {
        let stands_in = match mode {
            PermissionMode::AcceptEdits | PermissionMode::Refuse => Some(PermissionMode::Ask),
            PermissionMode::Ask | PermissionMode::Plan | PermissionMode::Auto | PermissionMode::Bypass => {
                None
            }
        };
        let asking = stands_in.into_iter().flat_map(|mode| self.ids_of(mode));
        self.ids_of(mode).chain(asking)
    }

    fn ids_of(&self, mode: PermissionMode) -> impl Iterator<Item = &'static str> {
        let own = self.modes.iter().filter(move |(known, _)| *known == mode);
        let usual = USUAL_MODES.iter().filter(move |(known, _)| *known == mode);
        own.map(|(_, id)| *id)
            .chain(usual.flat_map(|(_, ids)| ids.iter().copied()))
    }

    /// What a piece of text means that begins a message, and the text without its prefix.
    pub(super) fn meaning<'a>(&self, text: &'a str) -> Option<(TextMeaning, &'a str)> {
        self.prefixes
            .iter()
            .find_map(|(prefix, meaning)| Some((*meaning, text.strip_prefix(prefix)?)))
    }
}
