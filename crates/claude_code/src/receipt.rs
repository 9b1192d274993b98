//! `Receipt`: the progress of a message that was sent.

use crate::event::{CommandState, Event, Kind};
use crate::input::MessageId;

/// What became of a message that was sent. CLIs before 2.1.247 report only the replay, and 1.0.108 reports nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The message.
    pub message: MessageId,
    /// How far it is.
    pub state: ReceiptState,
}

/// How far a message is. Several messages may share one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReceiptState {
    /// The CLI has it; it waits for its turn.
    Queued,
    /// Its turn has begun.
    Started,
    /// It is part of the conversation.
    Replayed,
    /// Its turn is over.
    Completed,
    /// It was taken back.
    Cancelled,
    /// Something newer than this library.
    Other(String),
}

impl Receipt {
    /// The receipt in an event, if it is one.
    #[must_use]
    pub fn from_event(event: &Event) -> Option<Self> {
        match event.kind() {
            Kind::CommandLifecycle(lifecycle) => {
                let state = match lifecycle.state.as_ref()? {
                    CommandState::Queued => ReceiptState::Queued,
                    CommandState::Started => ReceiptState::Started,
                    CommandState::Completed => ReceiptState::Completed,
                    CommandState::Cancelled => ReceiptState::Cancelled,
                    CommandState::Other(word) => ReceiptState::Other(word.to_string()),
                };
                Some(Self {
                    message: MessageId::parse(lifecycle.command_uuid.as_deref()?)?,
                    state,
                })
            }
            Kind::User(user) if user.is_replay => {
                let message = MessageId::parse(&event.uuid()?)?;
                Some(Self {
                    message,
                    state: ReceiptState::Replayed,
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Receipt, ReceiptState};
    use crate::input::MessageId;
    use crate::parse_line;

    const ID: &str = "80650f64-4884-4890-b40e-a32903c34296";

    fn receipt(line: &str) -> Option<Receipt> {
        Receipt::from_event(&parse_line(line.as_bytes()).unwrap())
    }

    #[test]
    fn lifecycle_events_and_replays_are_receipts() {
        let message = MessageId::parse(ID).unwrap();
        for (word, state) in [
            ("queued", ReceiptState::Queued),
            ("started", ReceiptState::Started),
            ("completed", ReceiptState::Completed),
            ("vanished", ReceiptState::Other("vanished".into())),
        ] {
            let line = format!(
                r#"{{"type":"command_lifecycle","command_uuid":"{ID}","state":"{word}","uuid":"x"}}"#
            );
            assert_eq!(receipt(&line), Some(Receipt { message, state }));
        }
        let replay = format!(
            r#"{{"type":"user","message":{{"role":"user","content":"hi"}},"uuid":"{ID}","isReplay":true}}"#
        );
        assert_eq!(
            receipt(&replay),
            Some(Receipt {
                message,
                state: ReceiptState::Replayed
            })
        );
    }

    #[test]
    fn other_events_are_no_receipts() {
        let tool_result =
            format!(r#"{{"type":"user","message":{{"role":"user","content":[]}},"uuid":"{ID}"}}"#);
        for line in [
            tool_result.as_str(),
            r#"{"type":"command_lifecycle","command_uuid":"x","state":"queued"}"#,
            "{}",
        ] {
            assert_eq!(receipt(line), None);
        }
    }
}
