//! A record as a line of JSON.

use agent_api::Event;
use jiff::Timestamp;

use serde::Serialize;

use super::text_once::ShortBody;
use crate::record::{Record, RunEvent};

/// Writes records as JSON: what `serde_json` makes of them, byte for byte. What all of them have is put together by
/// hand, because there are hundreds of thousands of them in a long run, and half of each is just that.
#[derive(Debug, Default)]
pub(crate) struct RecordEncoder {
    /// The last time, and how it is written: records come in bursts.
    last_at: Option<Timestamp>,
    at: String,
}

impl RecordEncoder {
    /// Adds the record to `line`. Gives the place from which on words of others can be in it: before that are only
    /// numbers, times and names of our own.
    ///
    /// # Errors
    /// When something in it cannot be written as JSON.
    pub(crate) fn encode(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<usize, serde_json::Error> {
        self.encode_as(record, None, line)
    }

    /// The same with a shorter body in place of the agent's event.
    pub(crate) fn encode_as(
        &mut self,
        record: &Record,
        short: Option<&ShortBody>,
        line: &mut Vec<u8>,
    ) -> Result<usize, serde_json::Error> {
        if self.last_at != Some(record.at) {
            self.at = record.at.to_string();
            self.last_at = Some(record.at);
        }
        line.extend_from_slice(b"{\"seq\":");
        serde_json::to_writer(&mut *line, &record.seq)?;
        line.extend_from_slice(b",\"at\":\"");
        line.extend_from_slice(self.at.as_bytes());
        line.extend_from_slice(b"\",\"iteration\":");
        serde_json::to_writer(&mut *line, &record.iteration)?;
        line.extend_from_slice(b",\"attempt\":");
        serde_json::to_writer(&mut *line, &record.attempt)?;
        line.extend_from_slice(b",\"event\":");
        let words = match &record.event {
            RunEvent::Agent(event) => match short {
                Some(body) => encode_event(event, body, line)?,
                None => encode_event(event, &event.body, line)?,
            },
            RunEvent::Run(body) => {
                let start = line.len();
                serde_json::to_writer(&mut *line, body)?;
                start
            }
            RunEvent::Unknown(event) => {
                let start = line.len();
                line.extend_from_slice(event.json.get().as_bytes());
                start
            }
        };
        line.push(b'}');
        Ok(words)
    }
}

fn encode_event(
    event: &Event,
    event_body: &impl Serialize,
    line: &mut Vec<u8>,
) -> Result<usize, serde_json::Error> {
    line.extend_from_slice(b"{\"agent_kind\":");
    serde_json::to_writer(&mut *line, event.agent_kind.as_str())?;
    let mut words = line.len();
    if let Some(parent) = &event.parent {
        line.extend_from_slice(b",\"parent\":");
        serde_json::to_writer(&mut *line, parent)?;
    }
    if let Some(raw) = &event.raw {
        line.extend_from_slice(b",\"raw\":{\"line\":");
        serde_json::to_writer(&mut *line, &raw.line)?;
        line.extend_from_slice(b",\"offset\":");
        serde_json::to_writer(&mut *line, &raw.offset)?;
        line.extend_from_slice(b",\"length\":");
        serde_json::to_writer(&mut *line, &raw.length)?;
        line.push(b'}');
    }
    let body = line.len();
    if event.parent.is_none() {
        words = body;
    }
    serde_json::to_writer(&mut *line, event_body)?;
    // The body's object goes on where the event's has begun.
    if let Some(brace) = line.get_mut(body) {
        *brace = b',';
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use agent_api::{AgentKind, Body, Event, ItemId, RawRef, TurnStarted, Unknown, Usage, UsageScope};
    use jiff::Timestamp;

    use super::RecordEncoder;
    use crate::record::{Record, RunBody, RunEvent, VerifyStarted};

    fn events() -> Vec<RunEvent> {
        let raw = Some(RawRef {
            line: 7,
            offset: u64::MAX,
            length: 0,
        });
        let bodies = [
            Body::TurnStarted(TurnStarted { number: 3 }),
            Body::Unknown(Unknown {
                type_name: "a \"new\"\n kind é".to_owned(),
            }),
            Body::Usage(Box::new(Usage {
                scope: UsageScope::Step,
                tokens: agent_api::Tokens::default(),
                cost: None,
                model: Some("m".to_owned()),
                context: None,
                run: agent_api::RunUsage::default(),
            })),
        ];
        let mut events = vec![RunEvent::Run(RunBody::VerifyStarted(VerifyStarted {
            command: "echo \"x\"".to_owned(),
        }))];
        for body in bodies {
            for (parent, raw) in [
                (None, None),
                (None, raw),
                (Some("to\"olu"), raw),
                (Some("p"), None),
            ] {
                let mut event = Event::new(AgentKind::new("my \"agent\""), body.clone());
                event.parent = parent.map(ItemId::new);
                event.raw = raw;
                events.push(RunEvent::Agent(event));
            }
        }
        events
    }

    #[test]
    fn a_record_is_written_as_its_type_says() {
        let mut encoder = RecordEncoder::default();
        let times = [
            "2026-11-16T02:35:20.690978133Z",
            "2026-11-16T02:35:20Z",
            "-000044-03-15T00:00:00.1Z",
        ];
        for (seq, event) in events().into_iter().enumerate() {
            let at: Timestamp = times[seq / 2 % times.len()].parse().unwrap();
            let record = Record {
                seq: seq as u64,
                at,
                iteration: 12,
                attempt: 1,
                event,
            };
            let mut line = b"before ".to_vec();
            let words = encoder.encode(&record, &mut line).unwrap();
            let expected = serde_json::to_string(&record).unwrap();
            let line = String::from_utf8(line).unwrap();
            assert_eq!(line.strip_prefix("before "), Some(expected.as_str()));
            // The words of others are all behind the place that is told.
            for word in ["echo", "new", "to\\\"olu", "\"p\"", "\"m\""] {
                assert!(line.find(word).is_none_or(|at| at >= words), "{word} in {line}");
            }
        }
    }
}
