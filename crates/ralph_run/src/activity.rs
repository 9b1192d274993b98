//! What a run is doing, in one word.

use agent_api::{Body, Part, Status, ToolState};
use serde::{Deserialize, Serialize};

use crate::reason::EndReason;
use crate::record::{RunBody, RunEvent};

/// How much of what a tool is used on is told.
const SUBJECT_CHARS: usize = 120;

/// What a run is doing. The same everywhere: in lists, in the browser, in scripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Activity {
    /// No process of the agent is there yet.
    #[default]
    Starting,
    /// The agent has nothing to do and waits for a message.
    Idle,
    /// The model works on what comes next.
    Thinking,
    /// The model writes.
    Responding,
    /// A tool runs.
    Tool {
        /// Its name.
        name: String,
        /// What it is used on, in one line, where that is known: at most 120 characters.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
    },
    /// Somebody has to decide.
    Waiting {
        /// What.
        #[serde(rename = "for")]
        what: WaitingFor,
    },
    /// The verify commands run.
    Verifying,
    /// It is being ended.
    Stopping,
    /// It is over.
    Ended {
        /// Why.
        reason: EndReason,
    },
}

/// What somebody has to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// Whether a tool may run.
    Permission,
    /// A question of the agent.
    Question,
    /// Whether a plan is good.
    Plan,
}

impl Activity {
    /// A tool of this name runs.
    #[must_use]
    pub fn tool(name: String, subject: Option<&str>) -> Self {
        let subject = subject.map(|subject| match subject.char_indices().nth(SUBJECT_CHARS) {
            Some((end, _)) => subject[..end].to_owned(),
            None => subject.to_owned(),
        });
        Self::Tool { name, subject }
    }

    /// Whether a person has to do something before it goes on.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting { .. })
    }

    /// Whether it is over.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }

    /// The activity after an event; none if the event says nothing about it. Whether a request is still open after
    /// another was closed is the caller's to know.
    #[must_use]
    pub fn after(event: &RunEvent) -> Option<Self> {
        match event {
            RunEvent::Run(body) => Self::after_run(body),
            RunEvent::Agent(event) => Self::after_agent(&event.body),
        }
    }

    fn after_run(body: &RunBody) -> Option<Self> {
        match body {
            RunBody::RunStarted(_)
            | RunBody::IterationStarted(_)
            | RunBody::AttemptStarted(_)
            | RunBody::AttemptEnded(_) => Some(Self::Starting),
            RunBody::VerifyStarted(_) | RunBody::VerifyFinished(_) => Some(Self::Verifying),
            RunBody::CommandReceived(received) => {
                let ends = ["stop", "kill"].contains(&received.command.as_str());
                (ends && received.refused.is_none()).then_some(Self::Stopping)
            }
            RunBody::RunEnded(ended) => Some(Self::Ended { reason: ended.reason }),
            RunBody::MessageAwaited(_) => Some(Self::Idle),
            RunBody::IterationEnded(_)
            | RunBody::Warned(_)
            | RunBody::SessionForked(_)
            | RunBody::MessageSent(_) => None,
        }
    }

    fn after_agent(body: &Body) -> Option<Self> {
        let waiting = |what| Some(Self::Waiting { what });
        match body {
            Body::TurnStarted(_)
            | Body::ToolFinished(_)
            | Body::RequestClosed(_)
            | Body::ThinkingBlock(_) => Some(Self::Thinking),
            Body::Delta(delta) => match delta.part {
                Part::Thinking => Some(Self::Thinking),
                Part::Text | Part::ToolInput => Some(Self::Responding),
                Part::ToolOutput => None,
            },
            Body::TextBlock(_) => Some(Self::Responding),
            Body::ToolStarted(tool) if tool.state == ToolState::Running => {
                Some(Self::tool(tool.name.clone(), tool.subject.as_deref()))
            }
            Body::ToolStarted(_) => Some(Self::Responding),
            Body::PermissionRequested(_) => waiting(WaitingFor::Permission),
            Body::QuestionAsked(_) => waiting(WaitingFor::Question),
            Body::PlanProposed(_) => waiting(WaitingFor::Plan),
            Body::StatusChanged(changed) => match changed.status {
                Status::Idle => Some(Self::Idle),
                Status::Requesting | Status::Thinking | Status::Compacting => Some(Self::Thinking),
                Status::Running | Status::Waiting => None,
            },
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Activity, WaitingFor};
    use crate::reason::EndReason;
    use crate::record::{Record, RunEvent};

    fn after(event: &str) -> Option<Activity> {
        let line =
            format!(r#"{{"seq":1,"at":"2026-01-01T00:00:00Z","iteration":1,"attempt":1,"event":{event}}}"#);
        let record: Record = serde_json::from_str(&line).unwrap();
        let event: RunEvent = record.event;
        Activity::after(&event)
    }

    #[test]
    fn what_a_run_is_doing_follows_from_its_last_telling_event() {
        let permission = r#"{"agent_kind":"demo","type":"permission_requested","data":{"request":"r","tool":"Bash","kind":"execute"}}"#;
        let what = WaitingFor::Permission;
        assert_eq!(after(permission), Some(Activity::Waiting { what }));
        let refused =
            r#"{"type":"command_received","data":{"command_id":"a","command":"stop","refused":"no"}}"#;
        assert_eq!(after(refused), None);
        let stop = r#"{"type":"command_received","data":{"command_id":"a","command":"stop"}}"#;
        assert_eq!(after(stop), Some(Activity::Stopping));
        let tool = r#"{"agent_kind":"demo","type":"tool_started","data":{"item":"i","name":"Bash","kind":"execute","state":"running"}}"#;
        assert_eq!(after(tool), Some(Activity::tool("Bash".to_owned(), None)));
    }

    #[test]
    fn a_long_subject_is_cut_at_a_character() {
        let Activity::Tool {
            subject: Some(subject),
            ..
        } = Activity::tool("Bash".to_owned(), Some(&"é".repeat(500)))
        else {
            panic!("a tool with a subject");
        };
        assert_eq!(subject, "é".repeat(120));
    }

    #[test]
    fn it_is_one_flat_object_in_json() {
        let json = |activity: &Activity| serde_json::to_string(activity).unwrap();
        let reason = EndReason::Completed;
        assert_eq!(
            json(&Activity::Ended { reason }),
            r#"{"state":"ended","reason":"completed"}"#
        );
        assert_eq!(
            json(&Activity::tool("Bash".to_owned(), Some("ls"))),
            r#"{"state":"tool","name":"Bash","subject":"ls"}"#
        );
        // Summaries of before have none.
        let before: Activity = serde_json::from_str(r#"{"state":"tool","name":"Bash"}"#).unwrap();
        assert_eq!(before, Activity::tool("Bash".to_owned(), None));
        let what = WaitingFor::Plan;
        assert_eq!(
            json(&Activity::Waiting { what }),
            r#"{"state":"waiting","for":"plan"}"#
        );
    }
}
