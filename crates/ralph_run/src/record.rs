//! `Record`: one line of a journal, and every event that can be in it.

use agent_api::{
    AgentKind, ErrorInfo, Event, ExitInfo, GrantId, ItemId, MicroUsd, Outcome, RequestId, Tokens,
};
use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::control::PermissionChoice;
use crate::machine::SendMode;
use crate::open::Open;
use crate::reason::EndReason;

mod waiting;
mod warning;

pub use waiting::{BudgetAwaited, CooldownCause, CooldownStarted, LimitRaised, MessageAwaited};
pub use warning::{Evidence, Warned, WarningKind};

/// The version of the journal's format. Readers refuse a newer one.
pub const FORMAT_VERSION: u32 = 1;

/// One line of a journal: something that happened, stamped. Order is by `seq`, whatever the clock does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RunRecord"))]
pub struct Record {
    /// Counts from 1 in each run, without gaps.
    pub seq: u64,
    /// When, by the clock of the runner's machine.
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub at: Timestamp,
    /// Which prompt of the loop, from 1; 0 before the first.
    pub iteration: u32,
    /// Which process of the iteration, from 1; 0 before the first.
    pub attempt: u32,
    /// What.
    pub event: RunEvent,
}

/// What happened: in the agent, or in the run around it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(untagged)]
pub enum RunEvent {
    /// In the agent.
    Agent(Event),
    /// In the run.
    Run(RunBody),
    /// Something that this version cannot read.
    #[cfg_attr(feature = "ts", ts(skip))]
    Unknown(UnknownEvent),
}

impl<'de> Deserialize<'de> for RunEvent {
    /// Fails only if there is no `type`. A type, or a value in its data, that this version does not know makes an
    /// [`RunEvent::Unknown`].
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Head {
            agent_kind: Option<serde::de::IgnoredAny>,
            #[serde(rename = "type")]
            type_name: String,
        }
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let head: Head = serde_json::from_str(json.get()).map_err(D::Error::custom)?;
        let read = if head.agent_kind.is_some() {
            serde_json::from_str::<Event>(json.get())
                .ok()
                .filter(|event| event.body.name() == head.type_name)
                .map(Self::Agent)
        } else {
            serde_json::from_str(json.get()).ok().map(Self::Run)
        };
        Ok(read.unwrap_or(Self::Unknown(UnknownEvent {
            type_name: head.type_name,
            json,
        })))
    }
}

/// An event of a newer version.
#[derive(Debug, Clone)]
pub struct UnknownEvent {
    pub type_name: String,
    /// The whole event as it was written.
    pub json: Box<RawValue>,
}

impl PartialEq for UnknownEvent {
    fn eq(&self, other: &Self) -> bool {
        self.json.get() == other.json.get()
    }
}

impl Serialize for UnknownEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

/// What happened in the run around the agent. As JSON: `{"type":"verify_finished","data":{…}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum RunBody {
    /// The run begins. Always record 1.
    RunStarted(Box<RunStarted>),
    /// A prompt of the loop begins.
    IterationStarted(IterationStarted),
    /// A process was started.
    AttemptStarted(AttemptStarted),
    /// A process has ended.
    AttemptEnded(Box<AttemptEnded>),
    /// A verify command begins.
    VerifyStarted(VerifyStarted),
    /// A verify command has ended.
    VerifyFinished(VerifyFinished),
    /// A prompt of the loop has ended.
    IterationEnded(IterationEnded),
    /// Something a person should know while it happens.
    Warned(Warned),
    /// The agent goes on under another session id than it was asked for.
    SessionForked(SessionForked),
    /// Somebody told the run something.
    CommandReceived(Box<CommandReceived>),
    /// A message was given to the agent. What the agent makes of it is in its own receipts.
    MessageSent(MessageSent),
    /// A session has no process just now: the next message starts one.
    MessageAwaited(MessageAwaited),
    /// The run pauses before the next iteration.
    CooldownStarted(CooldownStarted),
    /// A limit is reached, and the run waits for somebody to raise it.
    BudgetAwaited(BudgetAwaited),
    /// A limit was raised while the run goes on.
    LimitRaised(LimitRaised),
    /// The run is being stopped: by a person, a signal or a limit. `run_ended` follows.
    StopStarted(StopStarted),
    /// Ctrl-Z: the runner, its agent and all clocks of the run are stopped.
    Suspended(Suspended),
    /// The runner was continued, and with it everything that was suspended.
    Continued(Continued),
    /// The run is over. Always the last record.
    RunEnded(RunEnded),
}

/// The run begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunStarted {
    /// The version of the journal's format.
    pub format_version: u32,
    /// Names the run.
    pub run_id: String,
    /// The version of ralph that wrote it.
    pub ralph_version: String,
    /// Where the agent works.
    pub workspace: String,
    /// Which backend.
    pub backend: AgentKind,
    /// The backend's name for people.
    pub display_name: String,
    /// The model that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Planner, coder, or a mode of the user's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Names the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// What happens without asking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// The limit of iterations; 0 is none.
    pub max_iterations: u32,
    /// The limit of money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(as = "Option<u64>"))]
    pub max_cost: Option<MicroUsd>,
    /// What earlier runs of the task have cost. The limit of money includes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(as = "Option<u64>"))]
    pub spent_before: Option<MicroUsd>,
    /// The commands that verify the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<String>,
    /// Whether it works by itself or waits for messages.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(as = "RunKind"))]
    pub kind: Open<RunKind>,
    /// Who started it through a server, for people: `token ci`, `session 1f2e3d4c`. None for runs of the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The run whose conversation this one goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed_from: Option<String>,
    /// Whether the agent keeps nothing of the conversation: it cannot be gone on with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_ephemeral: bool,
    /// The commit that was checked out in the workspace, if it is a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_commit: Option<String>,
}

/// Whether a run works by itself or waits for messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// Prompts until the work is done.
    #[default]
    Loop,
    /// A conversation: each message is a turn, idle in between.
    Session,
}

/// A prompt of the loop begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct IterationStarted {
    /// Counts from 1.
    pub number: u32,
    /// What the agent is told, redacted.
    pub prompt: String,
    /// Which role works, in a loop of roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

/// A process was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AttemptStarted {
    /// Counts from 1 in each iteration.
    pub number: u32,
    /// The process, for display.
    pub pid: u32,
    /// Its output, relative to the run's directory.
    pub raw_log: String,
    /// The program and its version.
    pub program: String,
    /// The agent's version, where it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
}

/// A process has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AttemptEnded {
    /// How, by what is known about it.
    #[cfg_attr(feature = "ts", ts(as = "Outcome"))]
    pub outcome: Open<Outcome>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
    /// How the process ended.
    pub exit: ExitInfo,
    /// What it cost, and what it used.
    pub totals: Totals,
    /// Whether the agent gave no final text and what it streamed is taken instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_degraded: bool,
    /// The session, which can be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether it is tried once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub will_retry: bool,
}

/// A verify command begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct VerifyStarted {
    /// The command line.
    pub command: String,
}

/// A verify command has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct VerifyFinished {
    /// The command line.
    pub command: String,
    /// Whether it agrees: it exited with 0.
    pub is_ok: bool,
    /// How it ended.
    pub exit: ExitInfo,
    /// The end of what it wrote, redacted.
    pub output: String,
    /// Its whole output, relative to the run's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// Its time limit, if that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_out_after_ms: Option<u64>,
}

/// A prompt of the loop has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct IterationEnded {
    /// Counts from 1.
    pub number: u32,
    /// How.
    #[cfg_attr(feature = "ts", ts(as = "IterationOutcome"))]
    pub outcome: Open<IterationOutcome>,
    /// What it cost, and what it used.
    pub totals: Totals,
    /// What went wrong: the next iteration starts with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// How a prompt of the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum IterationOutcome {
    /// Done, and verified.
    Completed,
    /// The agent did something and is not done.
    Continues,
    /// The agent says it is done, and a verify command disagrees.
    VerifyFailed,
    /// The agent failed.
    Failed,
    /// The iteration took longer than it may, and the next one starts.
    TimedOut,
    /// It was ended from outside: a limit, a person, a signal.
    Ended,
}

impl IterationOutcome {
    /// For people.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Continues => "continued",
            Self::VerifyFailed => "verification failed",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::Ended => "stopped",
        }
    }
}

/// What something cost, and what it used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct Totals {
    /// Tokens.
    pub tokens: Tokens,
    /// Money; none where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(as = "Option<u64>"))]
    pub cost: Option<MicroUsd>,
    /// Whether the money is our estimate, at least in part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
    /// Turns of the agent.
    pub turns: u32,
    /// Wall time.
    pub duration_ms: u64,
}

impl std::ops::Add for Totals {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens + other.tokens,
            cost: match (self.cost, other.cost) {
                (Some(one), Some(two)) => Some(one + two),
                (one, two) => one.or(two),
            },
            is_estimate: self.is_estimate || other.is_estimate,
            turns: self.turns.saturating_add(other.turns),
            duration_ms: self.duration_ms.saturating_add(other.duration_ms),
        }
    }
}

/// The agent goes on under another session id than it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SessionForked {
    /// The one it was asked for.
    pub asked: String,
    /// The one it has.
    pub actual: String,
}

/// A message was given to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MessageSent {
    /// The message, as its command named it.
    pub message_id: String,
}

/// Somebody told the run something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CommandReceived {
    /// The client's own id of the command; a repeated one is ignored.
    pub command_id: String,
    /// `send`, `answer`, `interrupt`, `stop`, …
    pub command: String,
    /// Who said so, where the client tells: for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The message that was sent, changed or taken back. How far it is: queued, until a `message_sent`; sent, until
    /// the agent's own `message_updated`; lost if the run ends before the one or the process before the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// When a message is to reach the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<SendMode>,
    /// The model that was chosen; none is the agent's default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The permission mode that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionChoice>,
    /// A message's text; the reason of a denial; the answers to questions, one per line. Redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The arguments, as JSON, that the answer put in place of those the agent asked for. Redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_input: Option<String>,
    /// The request that was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestId>,
    /// The lasting permissions that the answer gave, from the request's list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<GrantId>,
    /// The item it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// Why it was refused, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// The run is being stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct StopStarted {
    /// The reason that `run_ended` will give, unless the agent ends otherwise first.
    pub reason: EndReason,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Suspended {
    /// The runner: `kill -CONT` continues it, as `fg` does.
    pub pid: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Continued {
    /// How long it was suspended. No duration or limit of the run counts this time.
    pub suspended_ms: u64,
}

/// The run is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunEnded {
    /// Why.
    #[cfg_attr(feature = "ts", ts(as = "EndReason"))]
    pub reason: Open<EndReason>,
    /// What the runner exits with.
    pub exit_code: u8,
    /// More about it, for people: what went wrong and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Prompts of the loop.
    pub iterations: u32,
    /// What it cost, and what it used.
    pub totals: Totals,
}
