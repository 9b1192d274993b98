//! What a run's holder can say.

use bytes::Bytes;
use serde_json::Value;

use crate::event::RequestId;
use crate::request::PermissionMode;

/// What a run's holder can say to the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// A message: between turns it starts one, during a turn it waits or joins in.
    Send {
        /// Names the message in receipts (a UUID).
        message_id: String,
        /// The message.
        text: String,
    },
    /// End the turn, keep the run.
    Interrupt {
        /// Names the command in its answer.
        command_id: String,
    },
    /// An answer to a request.
    Answer {
        /// The request.
        request: RequestId,
        /// The answer.
        answer: Answer,
    },
    /// Another model from now on; `None` is the default one.
    SetModel {
        /// Names the command in its answer.
        command_id: String,
        /// The model.
        model: Option<String>,
    },
    /// Another permission mode from now on.
    SetPermissionMode {
        /// Names the command in its answer.
        command_id: String,
        /// The mode.
        mode: PermissionMode,
    },
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// It may run; a plan is approved.
    Allow,
    /// It may run, and these rules make further questions unnecessary: the request's suggestions, or some of them.
    AllowAlways {
        /// In the vendor's shape.
        rules: Value,
    },
    /// It may run with these arguments instead.
    AllowChanged {
        /// The arguments.
        input: Value,
    },
    /// It may not run.
    Deny {
        /// What the model is told.
        reason: String,
    },
    /// It may not run, and the turn ends.
    DenyAndInterrupt {
        /// What the model is told.
        reason: String,
    },
    /// Answers to questions: pairs of the question's text and the answer.
    Answers(Vec<(String, String)>),
}

/// What a command becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Encoded {
    /// Bytes for the agent's input, line end included.
    Line(Bytes),
    /// Nothing needs to be written.
    Nothing,
}
