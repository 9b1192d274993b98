//! `RunState`: what a run is doing. `run.json`, the control socket, lists, the console, the index and the web page all
//! use it.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::text_tail::head_chars;
use crate::open::Open;
use crate::reason::EndReason;

const SUBJECT_CHARS: usize = 120;

/// What a run is doing.
///
/// As JSON it is flat: `{"state":"tool","name":"Bash"}`, `{"state":"waiting","for":"plan"}`. Reading also accepts the
/// words of earlier versions, such as `running` and `idle`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RunState {
    /// The agent's process is not ready yet.
    #[default]
    Starting,
    /// The model is working on its next step.
    Thinking,
    /// The model is writing.
    Responding,
    Tool {
        name: String,
        /// What the tool is used on, in one line of at most 120 characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
    },
    /// The verify commands are running.
    Verifying,
    Waiting {
        #[serde(flatten)]
        what: WaitingFor,
    },
    /// A pause between iterations.
    Cooling {
        #[cfg_attr(feature = "ts", ts(type = "string"))]
        until: Timestamp,
    },
    /// A stop was requested and the run has not ended yet.
    Stopping,
    Ended {
        #[cfg_attr(feature = "ts", ts(as = "EndReason"))]
        reason: Open<EndReason>,
    },
}

/// What a waiting run needs before it continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum WaitingFor {
    /// A decision whether a tool may run.
    Permission,
    /// An answer to the agent's question.
    Question,
    /// The approval of a plan.
    Plan,
    /// A higher limit: of cost, tokens, iterations or time.
    Budget,
    /// The reset of the agent's usage limit.
    Limit {
        #[cfg_attr(feature = "ts", ts(type = "string"))]
        until: Timestamp,
    },
    /// The next message of a conversation.
    Message,
}

impl RunState {
    pub fn tool(name: &str, subject: Option<&str>) -> Self {
        Self::Tool {
            name: name.to_owned(),
            subject: subject.map(|subject| head_chars(subject, SUBJECT_CHARS).to_owned()),
        }
    }

    /// Whether a person has to act before the run continues.
    pub fn needs_person(&self) -> bool {
        matches!(
            self,
            Self::Waiting {
                what: WaitingFor::Permission | WaitingFor::Question | WaitingFor::Plan | WaitingFor::Budget
            }
        )
    }

    /// Whether the agent is working on a turn.
    pub fn is_working(&self) -> bool {
        matches!(self, Self::Thinking | Self::Responding | Self::Tool { .. })
    }

    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }
}

/// In plain words: `running Bash: cargo test`, `waiting for permission`.
impl fmt::Display for RunState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starting => formatter.write_str("starting"),
            Self::Thinking => formatter.write_str("thinking"),
            Self::Responding => formatter.write_str("responding"),
            Self::Tool { name, subject: None } => write!(formatter, "running {name}"),
            Self::Tool {
                name,
                subject: Some(subject),
            } => write!(formatter, "running {name}: {subject}"),
            Self::Verifying => formatter.write_str("verifying"),
            Self::Waiting { what } => write!(formatter, "waiting for {what}"),
            Self::Cooling { until } => write!(formatter, "paused until {}", Clock(*until)),
            Self::Stopping => formatter.write_str("stopping"),
            Self::Ended { reason } => write!(formatter, "ended: {}", reason.describe()),
        }
    }
}

impl fmt::Display for WaitingFor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Permission => formatter.write_str("permission"),
            Self::Question => formatter.write_str("an answer"),
            Self::Plan => formatter.write_str("plan approval"),
            Self::Budget => formatter.write_str("a higher limit"),
            Self::Limit { until } => write!(formatter, "the usage limit to reset at {}", Clock(*until)),
            Self::Message => formatter.write_str("a message"),
        }
    }
}

struct Clock(Timestamp);

impl fmt::Display for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} UTC", self.0.strftime("%H:%M:%S"))
    }
}

/// The members of a state as they are written. `activity` is a line of text that earlier versions wrote beside it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Written {
    state: String,
    name: Option<String>,
    subject: Option<String>,
    r#for: Option<String>,
    until: Option<Timestamp>,
    reason: Option<Open<EndReason>>,
    activity: Option<String>,
}

impl<'de> Deserialize<'de> for RunState {
    /// Never fails because of a word: a state of a newer version is read as `thinking`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Written::deserialize(deserializer).map(Self::from)
    }
}

impl From<Written> for RunState {
    fn from(written: Written) -> Self {
        let until = written.until.unwrap_or(Timestamp::UNIX_EPOCH);
        match written.state.as_str() {
            "" | "starting" => Self::Starting,
            "responding" => Self::Responding,
            "tool" => Self::Tool {
                name: written.name.unwrap_or_default(),
                subject: written.subject,
            },
            "verifying" => Self::Verifying,
            "waiting" => Self::Waiting {
                what: match written.r#for.as_deref() {
                    Some("question") => WaitingFor::Question,
                    Some("plan") => WaitingFor::Plan,
                    Some("budget") => WaitingFor::Budget,
                    Some("limit") => WaitingFor::Limit { until },
                    Some("message") => WaitingFor::Message,
                    _ => WaitingFor::Permission,
                },
            },
            "idle" => Self::Waiting {
                what: WaitingFor::Message,
            },
            "cooling" => Self::Cooling { until },
            "stopping" | "draining" => Self::Stopping,
            // Earlier versions wrote the reason elsewhere; the reader of `run.json` adds it.
            "ended" => Self::Ended {
                reason: written.reason.unwrap_or(EndReason::Lost.into()),
            },
            "running" | "result_seen" => Self::from_activity(written.activity.as_deref()),
            _ => Self::Thinking,
        }
    }
}

impl RunState {
    fn from_activity(activity: Option<&str>) -> Self {
        match activity {
            None | Some("thinking") => Self::Thinking,
            Some("responding") => Self::Responding,
            Some("waiting for an answer") => Self::Waiting {
                what: WaitingFor::Permission,
            },
            Some(call) => match call.split_once(": ") {
                Some((name, "")) => Self::tool(name, None),
                Some((name, subject)) => Self::tool(name, Some(subject)),
                None => Self::tool(call.trim_end_matches(':'), None),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::{Map, Value, json};

    use super::{RunState, WaitingFor};
    use crate::reason::{EndReason, LimitKind};

    fn all() -> Vec<(RunState, &'static str, &'static str)> {
        let until = "2026-01-02T03:04:05Z".parse().unwrap();
        let waiting = |what| RunState::Waiting { what };
        vec![
            (RunState::Starting, r#"{"state":"starting"}"#, "starting"),
            (RunState::Thinking, r#"{"state":"thinking"}"#, "thinking"),
            (RunState::Responding, r#"{"state":"responding"}"#, "responding"),
            (
                RunState::tool("Bash", None),
                r#"{"state":"tool","name":"Bash"}"#,
                "running Bash",
            ),
            (
                RunState::tool("Bash", Some("cargo test")),
                r#"{"state":"tool","name":"Bash","subject":"cargo test"}"#,
                "running Bash: cargo test",
            ),
            (RunState::Verifying, r#"{"state":"verifying"}"#, "verifying"),
            (
                waiting(WaitingFor::Permission),
                r#"{"state":"waiting","for":"permission"}"#,
                "waiting for permission",
            ),
            (
                waiting(WaitingFor::Question),
                r#"{"state":"waiting","for":"question"}"#,
                "waiting for an answer",
            ),
            (
                waiting(WaitingFor::Plan),
                r#"{"state":"waiting","for":"plan"}"#,
                "waiting for plan approval",
            ),
            (
                waiting(WaitingFor::Budget),
                r#"{"state":"waiting","for":"budget"}"#,
                "waiting for a higher limit",
            ),
            (
                waiting(WaitingFor::Limit { until }),
                r#"{"state":"waiting","for":"limit","until":"2026-01-02T03:04:05Z"}"#,
                "waiting for the usage limit to reset at 03:04:05 UTC",
            ),
            (
                waiting(WaitingFor::Message),
                r#"{"state":"waiting","for":"message"}"#,
                "waiting for a message",
            ),
            (
                RunState::Cooling { until },
                r#"{"state":"cooling","until":"2026-01-02T03:04:05Z"}"#,
                "paused until 03:04:05 UTC",
            ),
            (RunState::Stopping, r#"{"state":"stopping"}"#, "stopping"),
            (
                RunState::Ended {
                    reason: EndReason::Limit(LimitKind::Cost).into(),
                },
                r#"{"state":"ended","reason":{"limit":"cost"}}"#,
                "ended: cost limit reached",
            ),
        ]
    }

    #[test]
    fn a_state_is_one_flat_object_and_has_plain_words() {
        for (state, text, words) in all() {
            assert_eq!(serde_json::to_string(&state).unwrap(), text);
            assert_eq!(serde_json::from_str::<RunState>(text).unwrap(), state, "{text}");
            assert_eq!(state.to_string(), words);
        }
    }

    /// As `run.json`, greetings and status reports hold it: between other members, some of them unknown.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        #[serde(flatten)]
        state: RunState,
        iteration: u32,
        #[serde(flatten)]
        other: Map<String, Value>,
    }

    #[test]
    fn a_state_between_other_members_leaves_nothing_behind() {
        for (state, ..) in all() {
            let held = Holder {
                state,
                iteration: 3,
                other: Map::from_iter([("later".to_owned(), json!(1))]),
            };
            let text = serde_json::to_string(&held).unwrap();
            assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), held, "{text}");
        }
    }

    #[test]
    fn the_words_of_earlier_versions_are_read() {
        let waiting = |what| RunState::Waiting { what };
        for (text, state) in [
            (r#"{"state":"idle"}"#, waiting(WaitingFor::Message)),
            (r#"{"state":"running"}"#, RunState::Thinking),
            (r#"{"state":"running","activity":"thinking"}"#, RunState::Thinking),
            (
                r#"{"state":"result_seen","activity":"responding"}"#,
                RunState::Responding,
            ),
            (
                r#"{"state":"running","activity":"Bash: cargo test: all"}"#,
                RunState::tool("Bash", Some("cargo test: all")),
            ),
            (
                r#"{"state":"running","activity":"TodoWrite: "}"#,
                RunState::tool("TodoWrite", None),
            ),
            (
                r#"{"state":"running","activity":"waiting for an answer"}"#,
                waiting(WaitingFor::Permission),
            ),
            (
                r#"{"state":"idle","activity":"waiting for a message"}"#,
                waiting(WaitingFor::Message),
            ),
            (r#"{"state":"draining"}"#, RunState::Stopping),
            (
                r#"{"state":"verifying","activity":"Bash: x"}"#,
                RunState::Verifying,
            ),
            (r#"{}"#, RunState::Starting),
            (r#"{"state":"dreaming","of":["sheep"]}"#, RunState::Thinking),
        ] {
            assert_eq!(serde_json::from_str::<RunState>(text).unwrap(), state, "{text}");
        }
        let ended: RunState = serde_json::from_str(r#"{"state":"ended"}"#).unwrap();
        assert!(ended.has_ended());
    }

    #[test]
    fn a_long_subject_is_cut_at_a_character() {
        let state = RunState::tool("Bash", Some(&"é".repeat(500)));
        assert_eq!(state, RunState::tool("Bash", Some(&"é".repeat(120))));
    }
}
