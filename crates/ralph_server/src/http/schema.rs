//! What runs look like in answers.
//!
//! Runs are sent as the index has them, the same here and on the WebSocket; these are their shapes for the document
//! that describes the API. A test holds them against what is sent.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A run at a glance.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// Names the run.
    pub(crate) id: String,
    /// Changes when its journal is another one: what was read before means nothing then.
    epoch: String,
    /// Whether it works by itself or waits for messages.
    kind: RunKind,
    /// Where the agent works.
    workspace: String,
    /// Which agent.
    backend: String,
    /// The agent's name for people.
    display_name: String,
    /// The model: as asked for, then as the agent says.
    #[schema(required)]
    model: Option<String>,
    /// Planner, coder, or a mode of the user's.
    #[schema(required)]
    mode: Option<String>,
    /// Names the task.
    #[schema(required)]
    task: Option<String>,
    /// What happens without asking.
    #[schema(required)]
    permission_mode: Option<String>,
    /// The title that a person gave it, else the start of the first prompt, redacted.
    title: String,
    /// The tags that people gave it.
    tags: Vec<String>,
    /// When it began.
    #[schema(format = DateTime)]
    started_at: String,
    /// When it ended.
    #[schema(format = DateTime, required)]
    ended_at: Option<String>,
    /// When something happened last.
    #[schema(format = DateTime)]
    updated_at: String,
    /// What it is doing.
    activity: Activity,
    /// Why it ended.
    #[schema(required)]
    reason: Option<EndReason>,
    /// What the runner exited with.
    #[schema(required)]
    exit_code: Option<u8>,
    /// More about its end, for people.
    #[schema(required)]
    message: Option<String>,
    /// Which prompt of the loop.
    iteration: u32,
    /// Which process of the iteration.
    attempt: u32,
    /// What it cost, and what it used.
    totals: Totals,
    /// What it may cost, in millionths of a dollar.
    #[schema(required)]
    max_cost_micro_usd: Option<u64>,
    /// How full the model's memory is.
    #[schema(required)]
    context: Option<Context>,
    /// The agent's conversations, in order.
    session_ids: Vec<String>,
    /// Who started it through a server: the token or login session. Null for runs of the command line.
    #[schema(required)]
    started_by: Option<String>,
    /// The run whose conversation this one goes on with.
    #[schema(required)]
    resumed_from: Option<String>,
    /// Whether the agent keeps nothing of the conversation.
    is_ephemeral: bool,
    /// How many requests wait for an answer.
    pending: u32,
    /// How many errors it has met.
    errors: u32,
    /// The last record.
    head_seq: u64,
}

/// Whether a run works by itself or waits for messages.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunKind {
    /// Prompts until the work is done.
    #[default]
    Loop,
    /// A conversation: each message is a turn, idle in between.
    Session,
}

impl From<RunKind> for ralph_run::RunKind {
    fn from(kind: RunKind) -> Self {
        match kind {
            RunKind::Loop => Self::Loop,
            RunKind::Session => Self::Session,
        }
    }
}

/// What a run is doing.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Activity {
    /// The agent's process is not ready yet.
    Starting,
    /// The model is working on its next step.
    Thinking,
    /// The model is writing.
    Responding,
    /// A tool is running.
    Tool {
        /// The name of the tool.
        name: String,
        /// What the tool is used on, in one line, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
    },
    /// The verify commands are running.
    Verifying,
    /// The run waits for something.
    Waiting {
        /// What it waits for.
        #[serde(rename = "for")]
        what: WaitingFor,
        /// When the usage limit resets, if `for` is `limit`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(format = DateTime)]
        until: Option<String>,
    },
    /// A pause between iterations.
    Cooling {
        /// When the next iteration starts.
        #[schema(format = DateTime)]
        until: String,
    },
    /// A stop was requested, and the run has not ended yet.
    Stopping,
    /// The run has ended.
    Ended {
        /// The reason.
        reason: EndReason,
    },
}

/// What a waiting run needs before it continues.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WaitingFor {
    /// A decision whether a tool may run.
    Permission,
    /// An answer to the agent's question.
    Question,
    /// The approval of a plan.
    Plan,
    /// A higher cost limit.
    Budget,
    /// The reset of the agent's usage limit.
    Limit,
    /// The next message of a conversation.
    Message,
}

/// Why a run ended: a word, or the limit that was reached.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EndReason {
    /// The work is done.
    Completed,
    /// The agent failed.
    AgentError,
    /// A verify command disagrees with the agent.
    VerifyFailed,
    /// Something was not allowed.
    Denied,
    /// The agent is not logged in.
    NotLoggedIn,
    /// There is no such model.
    ModelNotFound,
    /// The agent is not installed, or does not start.
    BackendUnavailable,
    /// A limit was reached.
    Limit(LimitKind),
    /// A person interrupted it.
    Interrupted,
    /// A person stopped it.
    Stopped,
    /// SIGTERM.
    Terminated,
    /// The terminal is gone.
    HungUp,
    /// Nobody reads the output.
    OutputClosed,
    /// The agent's process died.
    Crashed,
    /// The agent ended without a result.
    NoResult,
    /// The run's own files could not be written.
    StorageFailed,
    /// Its runner died.
    Lost,
}

/// Which limit.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LimitKind {
    /// Of iterations.
    Iterations,
    /// Of the run's time.
    Runtime,
    /// Of one iteration's time.
    IterationTimeout,
    /// Of money.
    Cost,
    /// Of the model's turns.
    Turns,
    /// Of tokens.
    Tokens,
}

/// What something cost, and what it used.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Totals {
    tokens: Tokens,
    /// In millionths of a dollar; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    cost_micro_usd: Option<u64>,
    /// Whether the money is an estimate, at least in part; absent if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_estimate: bool,
    /// Turns of the agent.
    turns: u32,
    /// Wall time.
    duration_ms: u64,
}

/// Tokens of a model.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tokens {
    /// Read by the model, neither from nor into the cache.
    input: u64,
    /// Read from the cache.
    cache_read: u64,
    /// Read by the model and written to the cache.
    cache_write: u64,
    /// Written by the model, thinking included.
    output: u64,
    /// The part of `output` that was thinking.
    reasoning: u64,
}

/// How full the model's memory is.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Context {
    /// Tokens in it.
    used: u64,
    /// How many fit, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    size: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::{Activity, Context, EndReason, Run, Tokens};
    use ralph_store::RunSummary;
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};
    use utoipa::PartialSchema as _;

    /// What is sent reads as its shape, and the shape says all of it.
    fn fits<T: Serialize + DeserializeOwned>(sent: &impl Serialize) {
        let sent: Value = serde_json::to_value(sent).unwrap();
        let shape: T = serde_json::from_value(sent.clone()).unwrap();
        assert_eq!(serde_json::to_value(&shape).unwrap(), sent);
    }

    #[test]
    fn a_run_is_sent_as_the_document_says() {
        let run: RunSummary = serde_json::from_value(json!({
            "id": "20261116-000000-000000", "epoch": "e", "kind": "session", "workspace": "/w", "backend": "claude",
            "display_name": "Claude", "model": "m", "mode": "coder", "task": "t", "permission_mode": "ask",
            "title": "x", "tags": ["a"], "started_at": "2026-11-16T00:00:00Z", "ended_at": "2026-11-16T00:00:01Z",
            "updated_at": "2026-11-16T00:00:01Z", "activity": {"state": "ended", "reason": {"limit": "cost"}},
            "reason": {"limit": "cost"}, "exit_code": 2, "message": "m", "iteration": 1, "attempt": 1,
            "totals": {"tokens": {"input": 1}, "cost": 5, "is_estimate": true, "turns": 1, "duration_ms": 3},
            "max_cost_micro_usd": 1, "context": {"used": 1, "size": 2}, "session_ids": ["s"],
            "resumed_from": "r", "started_by": "token ci", "is_ephemeral": true, "pending": 1, "errors": 0, "head_seq": 9
        }))
        .unwrap();
        fits::<Run>(&run);
        // What is sent even when nothing is known is required; the rest may be absent.
        let Value::Object(sent) = serde_json::to_value(&run).unwrap() else {
            panic!("a run is an object");
        };
        let described = serde_json::to_value(Run::schema()).unwrap();
        let required = described["required"].as_array().unwrap();
        assert_eq!(required.len(), sent.len(), "{required:?}");
        fits::<Tokens>(&agent_api::Tokens::default());
        fits::<Context>(&json!({"used": 1}));
    }

    #[test]
    fn every_activity_is_sent_as_the_document_says() {
        use ralph_run::LimitKind;
        use ralph_run::model::{RunState as Sent, WaitingFor};
        let until = jiff::Timestamp::UNIX_EPOCH;
        let reason = ralph_run::EndReason::Limit(LimitKind::IterationTimeout);
        let states = [
            Sent::Starting,
            Sent::Thinking,
            Sent::Responding,
            Sent::tool("Bash", None),
            Sent::tool("Bash", Some("ls")),
            Sent::Verifying,
            Sent::Cooling { until },
            Sent::Stopping,
            Sent::Ended {
                reason: reason.into(),
            },
        ];
        states.iter().for_each(fits::<Activity>);
        for what in [
            WaitingFor::Permission,
            WaitingFor::Question,
            WaitingFor::Plan,
            WaitingFor::Budget,
            WaitingFor::Limit { until },
            WaitingFor::Message,
        ] {
            fits::<Activity>(&Sent::Waiting { what });
        }
    }

    #[test]
    fn every_reason_is_sent_as_the_document_says() {
        use ralph_run::EndReason as Sent;
        let reasons = [
            Sent::Completed,
            Sent::AgentError,
            Sent::VerifyFailed,
            Sent::Denied,
            Sent::NotLoggedIn,
            Sent::ModelNotFound,
            Sent::BackendUnavailable,
            Sent::Interrupted,
            Sent::Stopped,
            Sent::Terminated,
            Sent::HungUp,
            Sent::OutputClosed,
            Sent::Crashed,
            Sent::NoResult,
            Sent::StorageFailed,
            Sent::Lost,
        ];
        reasons.iter().for_each(fits::<EndReason>);
    }
}
