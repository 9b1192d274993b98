//! `Tools`: maps pi's tool calls, from `tool_execution_start` to their results and diffs.

use std::collections::HashMap;

use json_lines::Value;

use super::messages::texts;
use crate::backends::tool_names::tool_started;
use crate::emitter::Emitter;
use crate::event::{
    Body, ChangeKind, DiscardReason, FileChange, ItemDiscarded, ItemId, Part, ToolFinished, ToolKind,
    ToolState, ToolStatus,
};

/// The tool calls of a run.
#[derive(Debug, Default)]
pub(super) struct Tools {
    /// The call whose arguments are being written.
    preparing: Option<ItemId>,
    /// Calls that were written and have not begun.
    prepared: Vec<ItemId>,
    /// The files that running calls change.
    edited: HashMap<ItemId, String>,
}

impl Tools {
    pub(super) fn prepare(&mut self, piece: &Value, events: &mut Emitter) {
        let item = ItemId::new(piece.text("id").unwrap_or_default());
        self.preparing = Some(item.clone());
        self.prepared.push(item.clone());
        let name = piece.text("toolName").unwrap_or_default();
        events.emit(started(item, name, None, ToolState::Preparing));
    }

    pub(super) fn write_input(&mut self, delta: &str, events: &mut Emitter) {
        let item = self.preparing.clone().unwrap_or_else(|| ItemId::new("call"));
        events.append(&item, Part::ToolInput, delta);
    }

    pub(super) fn start(&mut self, from: &Value, events: &mut Emitter) {
        let item = call(from);
        let name = from.text("toolName").unwrap_or_default();
        self.prepared.retain(|prepared| *prepared != item);
        let arguments = from.get("args");
        let path = arguments.and_then(|arguments| arguments.text("path"));
        if let (ToolKind::Edit, Some(path)) = (kind(name), path) {
            self.edited.insert(item.clone(), path.to_owned());
        }
        events.emit(started(item, name, arguments, ToolState::Running));
    }

    /// The answer broke and is asked for again: its calls will not begin.
    pub(super) fn discard_prepared(&mut self, events: &mut Emitter) {
        self.preparing = None;
        for item in std::mem::take(&mut self.prepared) {
            let reason = DiscardReason::Retry;
            events.emit(Body::ItemDiscarded(ItemDiscarded { item, reason }));
        }
    }

    /// The whole output so far.
    pub(super) fn update(&mut self, from: &Value, events: &mut Emitter) {
        let item = call(from);
        let text = from.get("partialResult").map(texts).unwrap_or_default();
        match text.is_empty() {
            true => events.tool_progressed(item),
            false => events.snapshot(item, Part::ToolOutput, text),
        }
    }

    pub(super) fn end(&mut self, from: &Value, events: &mut Emitter) {
        let item = call(from);
        let result = from.get("result").unwrap_or(&Value::Null);
        let status = match from.flag("isError") {
            Some(true) => ToolStatus::Failed,
            _ => ToolStatus::Completed,
        };
        let edited = self.edited.remove(&item);
        // Without the lines that name the file.
        let patch = result.at(&["details", "patch"]).and_then(Value::as_str);
        let diff = patch.and_then(|patch| Some(patch[patch.find("@@")?..].to_owned()));
        let edited = edited.filter(|_| status == ToolStatus::Completed);
        let changes = edited.map(|path| FileChange::new(path, ChangeKind::Modified, diff));
        events.emit(Body::ToolFinished(Box::new(ToolFinished {
            output: texts(result),
            changes: changes.into_iter().collect(),
            ..ToolFinished::new(item, status)
        })));
    }
}

fn call(from: &Value) -> ItemId {
    ItemId::new(from.text("toolCallId").unwrap_or_default())
}

fn kind(name: &str) -> ToolKind {
    match name {
        "bash" => ToolKind::Execute,
        "read" => ToolKind::Read,
        "edit" | "write" => ToolKind::Edit,
        "grep" | "find" | "ls" => ToolKind::Search,
        _ => ToolKind::Other,
    }
}

fn started(item: ItemId, name: &str, input: Option<&Value>, state: ToolState) -> Body {
    Body::ToolStarted(Box::new(tool_started(item, name, kind(name), input, state)))
}
