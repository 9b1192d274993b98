//! `Tools`: maps Gemini's tool calls and their results.

use std::collections::HashMap;

use json_lines::Value;

use crate::backends::tool_names::{kind_of, plan_entries, tool_started};
use crate::emitter::Emitter;
use crate::event::{
    Body, ChangeKind, FileChange, ItemId, PlanUpdated, ToolFinished, ToolKind, ToolState, ToolStatus,
};

/// The calls of a process.
#[derive(Debug, Default)]
pub(super) struct Tools {
    /// The files that open calls change: their results do not name them.
    edited: HashMap<ItemId, String>,
}

impl Tools {
    pub(super) fn start(&mut self, item: ItemId, from: &Value, events: &mut Emitter) {
        let name = from.text("tool_name").unwrap_or("(no name)");
        let mcp_server = mcp_server(name);
        let kind = match mcp_server {
            Some(_) => ToolKind::Mcp,
            None => kind_of(name),
        };
        let parameters = from.get("parameters");
        let mut started = tool_started(item.clone(), name, kind, parameters, ToolState::Running);
        started.mcp_server = mcp_server.map(str::to_owned);
        if let (ToolKind::Edit, Some(path)) = (kind, &started.subject) {
            self.edited.insert(item.clone(), path.clone());
        }
        events.emit(Body::ToolStarted(Box::new(started)));
        let todos = parameters.map_or(&[][..], |parameters| parameters.list("todos"));
        if kind == ToolKind::Plan && !todos.is_empty() {
            events.emit(Body::PlanUpdated(PlanUpdated {
                item: Some(item),
                entries: plan_entries(todos),
            }));
        }
    }

    /// A failed command is reported as a success, without its exit code.
    pub(super) fn finish(&mut self, item: ItemId, from: &Value, events: &mut Emitter) {
        let error = from.get("error");
        let message = error.and_then(|error| error.text("message"));
        let status = match from.text("status") {
            Some("error") => ToolStatus::Failed,
            Some("cancelled") => ToolStatus::Cancelled,
            _ if error.is_some_and(Value::is_object) => ToolStatus::Failed,
            _ => ToolStatus::Completed,
        };
        let edited = self.edited.remove(&item);
        let edited = edited.filter(|_| status == ToolStatus::Completed);
        let changes = edited.map(|path| FileChange::new(path, ChangeKind::Modified, None));
        events.emit(Body::ToolFinished(Box::new(ToolFinished {
            output: from.text("output").or(message).unwrap_or_default().to_owned(),
            changes: changes.into_iter().collect(),
            ..ToolFinished::new(item, status)
        })));
    }
}

/// The server in `mcp_server_tool`. If the server's name has an underscore, only its first part is taken.
fn mcp_server(name: &str) -> Option<&str> {
    let (server, tool) = name.strip_prefix("mcp_")?.split_once('_')?;
    (!server.is_empty() && !tool.is_empty()).then_some(server)
}
