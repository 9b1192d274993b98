//! `ThreadSettings`: the thread of a run and what is allowed there, as parameters of `thread/*` and `turn/start`.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::approvals::USER_INPUT;
use super::errors::UNKNOWN_SESSION;
use crate::backends::program::session_argument;
use crate::error::Error;
use crate::event::ErrorInfo;
use crate::request::RunOptions;
use agent_client::{PermissionMode, SessionChoice};

/// What a run asks of its thread.
#[derive(Debug)]
pub(super) struct ThreadSettings {
    session: SessionChoice,
    cwd: Option<PathBuf>,
    model: Option<String>,
    access: Option<Access>,
    additional_directories: Vec<PathBuf>,
    is_ephemeral: bool,
    caller_answers: bool,
    /// Whether the permission mode refuses what would need a permission, even if the caller could answer.
    refuses: bool,
}

/// When Codex asks, and what its sandbox allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) approval: &'static str,
    pub(super) sandbox: Sandbox,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    FullAccess,
}

impl Access {
    /// With `never`, Codex says nothing about a change that its sandbox does not allow. So it asks where it may not do
    /// everything, also if the answer will always be no.
    fn of(mode: PermissionMode, caller_answers: bool) -> Self {
        let (approval, sandbox) = match (mode, caller_answers) {
            (PermissionMode::Bypass, _) => ("never", Sandbox::FullAccess),
            (PermissionMode::AcceptEdits, _) => ("on-request", Sandbox::WorkspaceWrite),
            // `on-request` asks only when the sandbox stands in the way; `untrusted` asks before every command.
            (PermissionMode::Ask | PermissionMode::Auto, true) => ("untrusted", Sandbox::WorkspaceWrite),
            (PermissionMode::Ask | PermissionMode::Auto, false)
            | (PermissionMode::Plan | PermissionMode::Refuse, _) => ("on-request", Sandbox::ReadOnly),
        };
        Self { approval, sandbox }
    }
}

impl Sandbox {
    /// The mode, for `thread/start`.
    fn mode(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::WorkspaceWrite => "workspace-write",
            Self::FullAccess => "danger-full-access",
        }
    }

    /// The policy, for `turn/start`.
    pub(super) fn policy(self, writable_roots: &[PathBuf]) -> Value {
        match self {
            Self::ReadOnly => json!({ "type": "readOnly" }),
            Self::WorkspaceWrite => json!({ "type": "workspaceWrite", "writableRoots": writable_roots }),
            Self::FullAccess => json!({ "type": "dangerFullAccess" }),
        }
    }
}

impl ThreadSettings {
    pub(super) fn of(options: &RunOptions) -> Result<Self, Error> {
        let session = options.session.clone().unwrap_or_default();
        if let SessionChoice::Resume(id) | SessionChoice::Fork { id, .. } = &session {
            session_argument(id)?;
        }
        let caller_answers = options.permission_host == Some(agent_client::PermissionHost::Caller);
        let is_ephemeral = options.persistence == Some(agent_client::Persistence::Off);
        if is_ephemeral && matches!(session, SessionChoice::Resume(_) | SessionChoice::Last) {
            return Err(Error::invalid(
                "Codex keeps what happens in a resumed session: fork it, or let it be kept",
            ));
        }
        Ok(Self {
            is_ephemeral,
            session,
            // The process starts in this directory, so a relative path would be applied twice.
            cwd: std::path::absolute(options.cwd.as_deref().unwrap_or(Path::new("."))).ok(),
            model: options.model.clone(),
            access: options
                .permission_mode
                .map(|mode| Access::of(mode, caller_answers)),
            additional_directories: options.additional_directories.clone(),
            caller_answers,
            refuses: options.permission_mode.is_some_and(refuses),
        })
    }

    /// For a recording, in which nothing is asked any more.
    pub(super) fn recorded() -> Self {
        Self {
            session: SessionChoice::New,
            cwd: None,
            model: None,
            access: None,
            additional_directories: Vec::new(),
            is_ephemeral: false,
            caller_answers: true,
            refuses: false,
        }
    }

    /// The list of threads to take the last one from, where the last one is asked for.
    pub(super) fn list_params(&self) -> Option<Value> {
        match self.session {
            SessionChoice::Last | SessionChoice::ForkLast { .. } => Some(json!({
                "cwd": self.cwd,
                "limit": 1,
                "sortKey": "updated_at",
            })),
            SessionChoice::New
            | SessionChoice::NewWithId(_)
            | SessionChoice::Resume(_)
            | SessionChoice::Fork { .. } => None,
        }
    }

    /// The method and parameters that open the thread. `last` is the thread that a list named.
    pub(super) fn open_request(&self, last: Option<&str>) -> (&'static str, Value) {
        let (method, id) = match &self.session {
            SessionChoice::New | SessionChoice::NewWithId(_) => ("thread/start", None),
            SessionChoice::Resume(id) => ("thread/resume", Some(id.as_str())),
            SessionChoice::Fork { id, .. } => ("thread/fork", Some(id.as_str())),
            SessionChoice::Last => ("thread/resume", last),
            SessionChoice::ForkLast { .. } => ("thread/fork", last),
        };
        let mut params = Map::new();
        let mut set = |name: &str, value: Value| params.insert(name.to_owned(), value);
        if let Some(id) = id {
            set("threadId", id.into());
            set("excludeTurns", true.into());
        }
        if let Some(cwd) = &self.cwd {
            set("cwd", json!(cwd));
        }
        if let Some(model) = &self.model {
            set("model", model.as_str().into());
        }
        if let Some(access) = self.access {
            set("approvalPolicy", access.approval.into());
            set("sandbox", access.sandbox.mode().into());
        } else if !self.caller_answers {
            set("approvalPolicy", "never".into());
        }
        if !self.additional_directories.is_empty() {
            let roots = json!({ "writable_roots": self.additional_directories });
            set("config", json!({ "sandbox_workspace_write": roots }));
        }
        if self.is_ephemeral && method != "thread/resume" {
            set("ephemeral", true.into());
        }
        (method, Value::Object(params))
    }

    /// Why a request is denied without asking the caller; `None` if the caller is asked.
    pub(super) fn reason_to_deny(&self, method: &str) -> Option<&'static str> {
        if !self.caller_answers {
            return Some("this run takes no answers");
        }
        // A question needs no permission.
        let is_refused = self.refuses && method != USER_INPUT;
        is_refused.then_some("the permission mode does not allow it")
    }

    /// Another permission mode: its access is for the next turn, its refusals begin at once.
    pub(super) fn change_mode(&mut self, mode: PermissionMode) -> Access {
        self.refuses = refuses(mode);
        Access::of(mode, self.caller_answers)
    }

    /// Says which session is not known, and why.
    pub(super) fn explain(&self, mut error: ErrorInfo) -> ErrorInfo {
        let (SessionChoice::Resume(id) | SessionChoice::Fork { id, .. }) = &self.session else {
            return error;
        };
        if error.code == UNKNOWN_SESSION {
            error.message = match uuid::Uuid::parse_str(id).is_ok() {
                true => format!("Codex has no session `{id}`: it was deleted, or never kept"),
                false => format!(
                    "`{id}` is not the id of a Codex session, which looks like \
                     `01a1e5d4-9a8c-7670-93d7-6afbfdc0eae5`"
                ),
            };
        }
        error
    }

    pub(super) fn writable_roots(&self) -> &[PathBuf] {
        &self.additional_directories
    }
}

/// Whether nothing that needs a permission is allowed.
fn refuses(mode: PermissionMode) -> bool {
    match mode {
        PermissionMode::Plan | PermissionMode::Refuse => true,
        PermissionMode::Bypass | PermissionMode::AcceptEdits | PermissionMode::Ask | PermissionMode::Auto => {
            false
        }
    }
}
