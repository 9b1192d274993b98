//! Permission requests: which ones this client answers by itself, and the options of those that wait for an answer.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use bytes::Bytes;
use json_lines::Value;
use serde_json::json;

use crate::backend::Answer;
use crate::backends::json_rpc::JsonRpc;
use crate::backends::offered_grants::OfferedGrants;
use crate::bounds::OPEN_REQUESTS;
use crate::event::{CloseReason, GrantDestination, GrantKind, ItemId, RequestId};
use agent_client::PermissionMode;

/// No path of a file is longer; one that was cut is not judged.
const MAX_PATH_BYTES: usize = 4_000;
/// Agents offer three or four answers.
const MAX_OPTIONS: usize = 64;

/// What happens to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Ask,
    Allow,
    Deny,
}

/// Who answers permission requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct PermissionPolicy {
    pub(super) mode: Option<PermissionMode>,
    /// Whether the run's caller can be asked.
    pub(super) can_ask: bool,
}

impl PermissionPolicy {
    /// Decides about a call. `is_workspace_edit` says whether it only edits files in the workspace.
    pub(super) fn decide(self, is_workspace_edit: bool) -> Decision {
        match self.mode {
            Some(PermissionMode::Bypass) => Decision::Allow,
            Some(PermissionMode::AcceptEdits) if is_workspace_edit => Decision::Allow,
            Some(PermissionMode::Refuse) => Decision::Deny,
            Some(
                PermissionMode::Ask
                | PermissionMode::AcceptEdits
                | PermissionMode::Auto
                | PermissionMode::Plan,
            )
            | None => {
                if self.can_ask {
                    Decision::Ask
                } else {
                    Decision::Deny
                }
            }
        }
    }
}

/// The directory in which edits may be accepted without asking.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    /// As given to the agent, and without links: agents report one or the other.
    roots: Vec<PathBuf>,
}

impl Workspace {
    pub(super) fn new(cwd: &str) -> Self {
        let given = PathBuf::from(cwd);
        let without_links = given.canonicalize().ok();
        Self {
            roots: [Some(given), without_links].into_iter().flatten().collect(),
        }
    }

    /// Whether this is the path of the workspace itself.
    pub(super) fn is_at(&self, path: &str) -> bool {
        self.roots.iter().any(|root| root == Path::new(path))
    }

    /// Whether these are paths of the workspace, and there is one. Only the paths themselves are looked at: a link
    /// inside the workspace that leads out of it is not noticed.
    pub(super) fn holds_all(&self, paths: &[String]) -> bool {
        !paths.is_empty() && paths.iter().all(|path| self.holds(path))
    }

    fn holds(&self, path: &str) -> bool {
        let is_plain = path.len() <= MAX_PATH_BYTES && !path.starts_with('~') && !path.contains("://");
        is_plain && self.roots.iter().any(|root| is_inside(root, Path::new(path)))
    }
}

/// Whether the path is below the root once `.` and `..` are resolved.
fn is_inside(root: &Path, path: &Path) -> bool {
    let mut resolved = PathBuf::new();
    for component in root.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !resolved.pop() {
                    return false;
                }
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => resolved.push(component),
        }
    }
    resolved != root && resolved.starts_with(root)
}

/// A request that waits for an answer.
#[derive(Debug)]
pub(super) struct PermissionRequest {
    /// The agent's id of the request, as it came.
    pub(super) rpc_id: Value<'static>,
    pub(super) item: Option<ItemId>,
    pub(super) tool: String,
    options: Vec<PermissionOption>,
    /// The options that make further requests unnecessary, by their ids.
    pub(super) grants: OfferedGrants,
}

/// One of the answers that the agent offers.
#[derive(Debug)]
struct PermissionOption {
    id: String,
    kind: String,
}

impl PermissionRequest {
    pub(super) fn new(rpc_id: &Value, params: &Value, item: Option<ItemId>, tool: String) -> Self {
        let options = params.list("options");
        let mut grants = OfferedGrants::default();
        for option in options {
            let is_lasting = option.text("kind") == Some("allow_always");
            let name = option
                .text("name")
                .filter(|name| is_lasting && !name.trim().is_empty());
            if let (Some(name), Some(id)) = (name, option.text("optionId")) {
                // How far it goes is not said.
                let text = format!("The agent's option \"{name}\"");
                grants.offer(GrantKind::Option, GrantDestination::Unknown, text, json!(id));
            }
        }
        let known = options.iter().filter_map(|option| {
            Some(PermissionOption {
                id: option.text("optionId")?.to_owned(),
                kind: option.text("kind").unwrap_or_default().to_owned(),
            })
        });
        Self {
            rpc_id: rpc_id.to_static(),
            item,
            tool,
            options: known.take(MAX_OPTIONS).collect(),
            grants,
        }
    }

    /// Why a request cannot be allowed although everything is.
    pub(super) fn why_not_allowed(&self) -> String {
        let kinds: Vec<String> = self
            .options
            .iter()
            .map(|option| format!("`{}`", option.kind))
            .collect();
        format!(
            "the agent offers no option to allow this once or always; it offers {}",
            if kinds.is_empty() {
                "none".to_owned()
            } else {
                kinds.join(", ")
            }
        )
    }

    /// The line that allows it where the permission mode allows everything: once, or for good if that is the only way.
    pub(super) fn allow(&self) -> Option<Bytes> {
        self.select(&["allow_once", "allow_always"])
    }

    /// The line that refuses it. Without such an option the request is cancelled.
    pub(super) fn deny(&self) -> Bytes {
        self.select(&["reject_once", "reject_always"])
            .unwrap_or_else(|| self.cancel())
    }

    pub(super) fn cancel(&self) -> Bytes {
        cancelled(&self.rpc_id)
    }

    /// The line for an answer of the caller's, and how the request is closed by it.
    pub(super) fn answer(&self, answer: &Answer) -> Result<(Bytes, CloseReason), String> {
        match answer {
            Answer::Allow => {
                let line = self.select(&["allow_once"]);
                let missing = || "the agent offers no option to allow this once".to_owned();
                Ok((line.ok_or_else(missing)?, CloseReason::Answered))
            }
            Answer::AllowWithGrants { grants } => {
                let option = self.grants.only_payload(grants)?;
                Ok((self.selected(&option), CloseReason::Answered))
            }
            Answer::Deny { .. } | Answer::DenyAndInterrupt { .. } => Ok((self.deny(), CloseReason::Denied)),
            Answer::AllowChanged { .. } => {
                Err("this agent cannot run a tool with changed arguments".to_owned())
            }
            Answer::Answers(_) => Err("this is a permission request, not a question".to_owned()),
        }
    }

    fn select(&self, kinds: &[&str]) -> Option<Bytes> {
        let of_kind = |kind: &&str| self.options.iter().find(|option| option.kind == **kind);
        let id = &kinds.iter().find_map(of_kind)?.id;
        Some(self.selected(&json!(id)))
    }

    fn selected(&self, id: &serde_json::Value) -> Bytes {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": id}});
        JsonRpc::Standard.result(&self.rpc_id, &outcome)
    }
}

/// The line that ends a request without an answer.
pub(super) fn cancelled(rpc_id: &Value) -> Bytes {
    JsonRpc::Standard.result(rpc_id, &json!({"outcome": {"outcome": "cancelled"}}))
}

/// Requests that wait for an answer, in order.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    open: BTreeMap<u32, PermissionRequest>,
    count: u32,
}

impl OpenRequests {
    pub(super) fn is_full(&self) -> bool {
        self.open.len() >= OPEN_REQUESTS
    }

    pub(super) fn insert(&mut self, request: PermissionRequest) -> RequestId {
        self.count += 1;
        self.open.insert(self.count, request);
        request_id(self.count)
    }

    pub(super) fn get(&self, id: &RequestId) -> Option<&PermissionRequest> {
        self.open.get(&number(id)?)
    }

    pub(super) fn remove(&mut self, id: &RequestId) {
        if let Some(number) = number(id) {
            self.open.remove(&number);
        }
    }

    /// The request that the agent names by its own id.
    pub(super) fn take_by_rpc_id(&mut self, rpc_id: &Value) -> Option<(RequestId, PermissionRequest)> {
        let mut open = self.open.iter();
        let (number, _) = open.find(|(_, request)| request.rpc_id == *rpc_id)?;
        let number = *number;
        Some((request_id(number), self.open.remove(&number)?))
    }

    pub(super) fn take_all(&mut self) -> Vec<(RequestId, PermissionRequest)> {
        let open = std::mem::take(&mut self.open).into_iter();
        open.map(|(number, request)| (request_id(number), request))
            .collect()
    }
}

fn request_id(number: u32) -> RequestId {
    RequestId::new(&format!("permission-{number}"))
}

fn number(id: &RequestId) -> Option<u32> {
    id.as_str().strip_prefix("permission-")?.parse().ok()
}
