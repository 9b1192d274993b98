//! From an agent's output to events.

use agent_process::Framed;

use super::command::{Command, Encoded};
use crate::emitter::Emitter;
use crate::error::CommandError;

/// Maps one process's output to events, line by line, without input or output of its own.
///
/// Rules that [`Emitter`] and the harness see to for all backends: bounds, calls that nobody ended, the one
/// [`Finished`](crate::Body::Finished) at the end. What is left to a mapping: no line without an event, no text twice,
/// a [`TurnFinished`](crate::Body::TurnFinished) where the agent says that it is done.
pub trait Mapper: Send {
    /// The next line. Calls [`Emitter::at`] first.
    fn map_line(&mut self, line: Framed, events: &mut Emitter);

    /// The output has ended.
    fn map_end(&mut self, events: &mut Emitter) {
        let _ = events;
    }

    /// Whether all that the agent was asked is done, background work included: its input may end, and then it should
    /// exit by itself.
    fn is_idle(&self) -> bool {
        false
    }

    /// The whole answer at the end, where no turn tells it; what [`Emitter`] has seen counts otherwise.
    fn final_text(&mut self) -> Option<String> {
        None
    }

    /// What to write to the agent for a command. What the command changes at once can be emitted.
    ///
    /// # Errors
    /// When the agent cannot be told so.
    fn encode(&mut self, command: &Command, events: &mut Emitter) -> Result<Encoded, CommandError> {
        let _ = (command, events);
        Err(CommandError::Unsupported {
            capability: crate::capability::SEND,
            reason: "this backend takes no input after its prompt",
        })
    }
}
