//! What a run is doing, from a line at a glance. The same as [`Activity::after`], which wants the whole event.

use ralph_run::Activity;

use super::data::{Changed, Tool};
use crate::glance::Glance;

/// The activity after a record; none if it says nothing about it. Requests and the end are the caller's.
pub(super) fn after(glance: &Glance<'_>) -> Option<Activity> {
    match &*glance.kind {
        "delta" => match &*glance.part()? {
            "thinking" => Some(Activity::Thinking),
            "text" | "tool_input" => Some(Activity::Responding),
            _ => None,
        },
        "text_block" => Some(Activity::Responding),
        "turn_started" | "tool_finished" | "request_closed" | "thinking_block" => Some(Activity::Thinking),
        "tool_started" => {
            let tool = match glance.tool() {
                Some((name, subject, state)) => Tool {
                    name: name.into(),
                    subject,
                    state: state.into(),
                },
                None => glance.data()?,
            };
            Some(if tool.state == "running" {
                Activity::tool(tool.name.into_owned(), tool.subject.as_deref())
            } else {
                Activity::Responding
            })
        }
        "status_changed" => match &*glance.data::<Changed<'_>>()?.status {
            "idle" => Some(Activity::Idle),
            "requesting" | "thinking" | "compacting" => Some(Activity::Thinking),
            _ => None,
        },
        "run_started" | "iteration_started" | "attempt_started" | "attempt_ended" => Some(Activity::Starting),
        "message_awaited" => Some(Activity::Idle),
        "verify_started" | "verify_finished" => Some(Activity::Verifying),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use ralph_run::{Activity, Record};

    use super::after;
    use crate::glance::{Glance, Memory};

    #[test]
    fn a_glance_says_the_same_as_the_whole_event() {
        let bodies = [
            r#""type":"delta","data":{"item":"i","part":"thinking","text":"x"}"#,
            r#""type":"delta","data":{"item":"i","part":"text","text":"x"}"#,
            r#""type":"delta","data":{"item":"i","part":"tool_input","text":"x"}"#,
            r#""type":"delta","data":{"item":"i","part":"tool_output","text":"x"}"#,
            r#""type":"text_block","data":{"item":"i","text":"x"}"#,
            r#""type":"thinking_block","data":{"item":"i","text":"x"}"#,
            r#""type":"turn_started","data":{"number":1}"#,
            r#""type":"turn_finished","data":{"number":1,"outcome":"succeeded"}"#,
            r#""type":"tool_started","data":{"item":"i","name":"B\"sh","kind":"execute","state":"running"}"#,
            r#""type":"tool_started","data":{"item":"i","name":"Bash","kind":"execute","state":"preparing"}"#,
            r#""type":"tool_started","data":{"item":"i","name":"Bash","kind":"execute","subject":"ls","state":"running"}"#,
            r#""type":"tool_started","data":{"item":"i","name":"Bash","kind":"execute","subject":"echo \"ü\\n\"","input":{"command":"x"},"state":"running"}"#,
            r#""type":"tool_started","data":{"item":"i","name":"B\"sh","kind":"execute","subject":"ls","state":"running"}"#,
            r#""type":"tool_finished","data":{"item":"i","status":"completed","output":"x"}"#,
            r#""type":"request_closed","data":{"request":"r","reason":"answered"}"#,
            r#""type":"status_changed","data":{"status":"idle"}"#,
            r#""type":"status_changed","data":{"status":"requesting"}"#,
            r#""type":"status_changed","data":{"status":"thinking"}"#,
            r#""type":"status_changed","data":{"status":"compacting"}"#,
            r#""type":"status_changed","data":{"status":"running"}"#,
            r#""type":"status_changed","data":{"status":"waiting"}"#,
            r#""type":"user_message","data":{"item":"i","text":"x","origin":"user"}"#,
            r#""type":"a_kind_of_tomorrow","data":{}"#,
        ];
        let agent = bodies.map(|body| format!(r#"{{"agent_kind":"demo",{body}}}"#));
        let run = [
            r#"{"type":"iteration_started","data":{"number":1,"prompt":"x"}}"#,
            r#"{"type":"attempt_started","data":{"number":1,"pid":1,"raw_log":"r","program":"p"}}"#,
            r#"{"type":"verify_started","data":{"command":"x"}}"#,
            r#"{"type":"warned","data":{"kind":"storage","message":"x"}}"#,
        ];
        for event in agent.iter().map(String::as_str).chain(run) {
            let line = format!(
                r#"{{"seq":1,"at":"2026-01-01T00:00:00Z","iteration":1,"attempt":1,"event":{event}}}"#
            );
            let whole: Record = serde_json::from_str(&line).unwrap();
            let glance = Glance::of(line.as_bytes(), &mut Memory::default()).unwrap();
            assert_eq!(after(&glance), Activity::after(&whole.event), "{event}");
        }
    }
}
