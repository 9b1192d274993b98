//! `Principal`: who a request comes from, and what that allows.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ralph_run::control::{AnswerChoice, ControlCommand, PermissionChoice};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::lifetime::SessionGuard;
use super::secret::{Digest, hex};
use super::start_limits::{Holder, ServerStartLimits, StartBound, StartLimits};
use crate::problem::{Problem, ProblemCode};

/// What a token allows. Each scope includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read runs, records, files, costs, metrics; watch the live stream.
    Read,
    /// Send messages, answer requests, interrupt and stop runs, change their model, permission mode and limits. A message
    /// can make an agent run programs.
    Steer,
    /// Start, resume and fork runs; change the arguments of a call, give permissions that last, and turn permission
    /// checks off.
    Start,
    /// Everything else: deleting runs, all login sessions.
    Admin,
}

impl Scope {
    /// All of them, from the weakest to the strongest.
    pub const ALL: [Self; 4] = [Self::Read, Self::Steer, Self::Start, Self::Admin];

    /// What a command to a run needs. One that names a program itself, or lets the agent run any without asking, needs
    /// as much as a start.
    pub(crate) fn needed_for(command: &ControlCommand) -> Self {
        match command {
            ControlCommand::Answer { answer, .. } if grants_more(answer) => Self::Start,
            ControlCommand::Answer {
                answer: AnswerChoice::AllowChanged { .. },
                ..
            }
            | ControlCommand::SetPermissionMode {
                mode: PermissionChoice::Bypass,
            } => Self::Start,
            ControlCommand::Send { .. }
            | ControlCommand::EditMessage { .. }
            | ControlCommand::WithdrawMessage { .. }
            | ControlCommand::Answer { .. }
            | ControlCommand::Interrupt
            | ControlCommand::Stop
            | ControlCommand::Kill
            | ControlCommand::CloseInput
            | ControlCommand::SetModel { .. }
            | ControlCommand::SetPermissionMode { .. }
            | ControlCommand::TopUp(_)
            | ControlCommand::Status => Self::Steer,
        }
    }

    /// Its name, as in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Steer => "steer",
            Self::Start => "start",
            Self::Admin => "admin",
        }
    }
}

/// Whether an answer gives permissions that last longer than the call. One of them can be a permission mode that asks
/// for nothing.
pub(crate) fn grants_more(answer: &AnswerChoice) -> bool {
    match answer {
        AnswerChoice::Allow { grants } => !grants.is_empty(),
        AnswerChoice::AllowAlways => true,
        AnswerChoice::AllowChanged { .. }
        | AnswerChoice::Deny { .. }
        | AnswerChoice::DenyAndInterrupt { .. }
        | AnswerChoice::Answers { .. } => false,
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The kind of secret that a request was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// The token of `server-token`.
    ServerToken,
    /// A token that `ralph token create` made.
    Token(String),
    /// A browser's session, by its id.
    Session(String),
}

/// Who a request comes from, and what that allows.
#[derive(Debug, Clone)]
pub struct Principal {
    pub(crate) credential: Credential,
    pub(crate) scope: Scope,
    /// The directories it is confined to; `None` for all.
    pub(crate) workspaces: Option<Arc<[PathBuf]>>,
    /// What runs that it starts may use.
    pub(crate) limits: Arc<StartLimits>,
    /// What runs of the server may use, whoever starts them.
    pub(crate) server_limits: Arc<ServerStartLimits>,
    pub(crate) guard: SessionGuard,
    /// The token that it goes back to: itself, or the one that opened the session.
    pub(super) issuer: Digest,
    /// Whether it showed a ticket instead of its secret.
    pub(crate) is_by_ticket: bool,
}

impl Principal {
    /// The name that journals and the access log give it: `server token`, `token ci`, `session 1f2e3d4c`.
    pub(crate) fn actor(&self) -> String {
        match &self.credential {
            Credential::ServerToken => "server token".to_owned(),
            Credential::Token(name) => format!("token {name}"),
            Credential::Session(id) => format!("session {id}"),
        }
    }

    /// Whether it may see and touch runs of a workspace.
    pub(crate) fn covers(&self, workspace: &Path) -> bool {
        self.workspaces
            .as_ref()
            .is_none_or(|roots| roots.iter().any(|root| workspace.starts_with(root)))
    }

    /// What holds for starts: the limits of the token, then those of the server. `name` is the one of [`Self::actor`].
    pub(crate) fn start_bounds<'a>(&'a self, name: &'a str) -> [StartBound<'a>; 2] {
        [
            StartBound {
                holder: Holder::Token(name),
                workspaces: self.workspaces.as_deref().unwrap_or_default(),
                limits: &self.limits,
            },
            StartBound {
                holder: Holder::Server,
                workspaces: &self.server_limits.workspaces,
                limits: &self.server_limits.limits,
            },
        ]
    }

    /// Whether it may give a run this command. Which runs it may see is checked apart from that.
    pub(crate) fn may_command(&self, command: &ControlCommand) -> Result<(), Problem> {
        let needed = Scope::needed_for(command);
        if self.scope >= needed {
            let actor = self.actor();
            return self
                .start_bounds(&actor)
                .iter()
                .try_for_each(|bound| bound.check_command(command, self.is_unlimited()));
        }
        let detail = format!(
            "this needs a token with scope `{needed}`; yours has `{}`",
            self.scope
        );
        Err(Problem::new(ProblemCode::InsufficientScope, detail))
    }

    /// Whether it may do everything, everywhere.
    pub(crate) fn is_unlimited(&self) -> bool {
        self.scope == Scope::Admin && self.workspaces.is_none()
    }

    /// The token that it goes back to, by its digest.
    pub(crate) fn issuer_hex(&self) -> String {
        hex(&self.issuer)
    }

    pub(crate) fn session_id(&self) -> Option<&str> {
        match &self.credential {
            Credential::Session(id) => Some(id),
            Credential::ServerToken | Credential::Token(_) => None,
        }
    }
}
