//! `Mapper`: turns an agent's output into events. Every backend has one.

use std::time::Duration;

use bytes::Bytes;
use json_lines::Framed;

use super::command::Command;
use crate::emitter::Emitter;
use crate::error::CommandError;

/// Maps one process's output to events, line by line, without input or output of its own.
///
/// Rules that [`Emitter`] and the harness see to for all backends: bounds, calls that were never ended, the one
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

    /// How many background tasks are open while no turn is; 0 during a turn. They do not keep a run open for ever: once
    /// they are silent for the background grace, the run is concluded from its last turn.
    fn background_tasks(&self) -> usize {
        0
    }

    /// Whether the conversation is over and no further command can be carried out, for example after a failed
    /// handshake. The harness then closes the agent's input even if the caller asked to keep it open.
    fn is_over(&self) -> bool {
        false
    }

    /// By when the agent must have answered, counted from the start of the process; for handshakes. When that time has
    /// passed, the harness calls [`deadline_passed`](Self::deadline_passed) once.
    fn deadline(&self) -> Option<Duration> {
        None
    }

    /// The agent did not answer before [`deadline`](Self::deadline). A mapper usually emits a failed turn here and
    /// reports [`is_over`](Self::is_over) from then on.
    fn deadline_passed(&mut self, events: &mut Emitter) {
        let _ = events;
    }

    /// Encodes a request to stop working, as bytes for the agent's input. The agent gets it when the run is cancelled
    /// and has a short grace period before it is stopped by signals. `None` if the protocol has no such request.
    fn encode_cancel(&mut self, events: &mut Emitter) -> Option<Bytes> {
        let _ = events;
        None
    }

    /// The whole answer at the end, if no turn reports it; by default, what [`Emitter`] has seen.
    fn final_text(&mut self) -> Option<String> {
        None
    }

    /// Encodes a command as bytes for the agent's input, line end included; `None` when there is nothing to write.
    /// Changes that take effect at once can be emitted here.
    ///
    /// # Errors
    /// When the agent's protocol has no such command.
    fn encode(&mut self, command: &Command, events: &mut Emitter) -> Result<Option<Bytes>, CommandError> {
        let _ = (command, events);
        Err(CommandError::Unsupported {
            capability: crate::capability::SEND,
            reason: "this backend takes no input after its prompt",
        })
    }
}
