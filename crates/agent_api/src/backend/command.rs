//! `Command` and `Answer`: what the owner of a run can send to the agent.

use agent_client::PermissionMode;
use serde_json::{Map, Value};

use crate::event::{GrantId, GrantKind, PermissionRequested, RequestId};
use crate::request::Attachment;

/// What a run's holder can say to the agent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// A message: between turns it starts one, during a turn it waits or joins in.
    Send {
        /// Names the message in receipts (a UUID).
        message_id: String,
        /// The message.
        text: String,
        /// Images and documents that go with it.
        attachments: Vec<Attachment>,
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
    /// A request in the vendor's own words, which the agent answers
    /// ([`RunControl::request`](crate::RunControl::request)).
    Other {
        /// Names the command in its answer.
        command_id: String,
        /// The vendor's name for it.
        name: String,
        /// Its further members.
        body: Map<String, Value>,
    },
}

impl Answer {
    /// Denies the call, with a reason for the model.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny {
            reason: reason.into(),
        }
    }

    /// Allows the call and further ones like it, by the rules that the agent offers: neither modes nor directories are
    /// granted. If it offers no rule, only this call is allowed.
    #[must_use]
    pub fn allow_by_rules(asked: &PermissionRequested) -> Self {
        let rules = asked.grants.iter().filter(|grant| grant.kind == GrantKind::Rule);
        let most = if asked.takes_one_grant { 1 } else { usize::MAX };
        let grants: Vec<GrantId> = rules.take(most).map(|grant| grant.id.clone()).collect();
        match grants.is_empty() {
            true => Self::Allow,
            false => Self::AllowWithGrants { grants },
        }
    }
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// It may run this once; a plan is approved.
    Allow,
    /// It may run, and these lasting permissions are given.
    AllowWithGrants {
        /// From [`PermissionRequested::grants`].
        grants: Vec<GrantId>,
    },
    /// It may run with these arguments instead.
    AllowChanged {
        /// The arguments.
        input: Value,
    },
    /// It may not run.
    Deny {
        /// The message for the model.
        reason: String,
    },
    /// It may not run, and the turn ends.
    DenyAndInterrupt {
        /// The message for the model.
        reason: String,
    },
    /// Answers to questions: pairs of the question's text and the answer.
    Answers(Vec<(String, String)>),
}
