//! The items of a turn.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::backends::json_line::{Members as _, unknown};
use crate::emitter::Emitter;
use crate::event::{
    Body, ChangeKind, Delta, DeltaMode, Denial, FileChange, ItemId, Json, Notice, Part, Piece, PlanEntry,
    PlanStatus, PlanUpdated, Severity, Task, TaskState, TextBlock, ThinkingBlock, ToolFinished, ToolKind,
    ToolProgressed, ToolStarted, ToolState, ToolStatus,
};

const COMPLETED: &str = "item.completed";

/// The items of a process.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Calls that run, as they were last told.
    open: HashMap<ItemId, ToolStarted>,
    last_text: Option<String>,
}

impl Items {
    /// The text that a turn ended with.
    pub(super) fn take_last_text(&mut self) -> Option<String> {
        self.last_text.take()
    }

    /// Maps a line about an item; `line` names an item that has no id of its own.
    pub(super) fn map(&mut self, kind: &str, item: &Value, line: u64, events: &mut Emitter) {
        let id = match item.text("id") {
            Some(id) => ItemId::new(id),
            None => ItemId::new(&format!("line-{line}")),
        };
        let is_complete = kind == COMPLETED;
        match item.text("type") {
            Some("agent_message") => self.text(id, item, is_complete, events),
            Some("reasoning") => thinking(id, item, is_complete, events),
            Some("todo_list") => events.emit(plan(item)),
            Some("error") => events.emit(Body::Notice(Box::new(Notice {
                severity: Severity::Warning,
                code: "agent_warning".into(),
                message: item.text("message").unwrap_or_default().to_owned(),
                data: None,
            }))),
            type_name => match call(&id, item) {
                Some(call) => self.call(call, item, is_complete, events),
                None => events.emit(unknown(Some(&match type_name {
                    Some(name) => format!("{kind}/{name}"),
                    None => kind.to_owned(),
                }))),
            },
        }
    }

    fn text(&mut self, item: ItemId, from: &Value, is_complete: bool, events: &mut Emitter) {
        let text = from.text("text").unwrap_or_default().to_owned();
        if !is_complete {
            return events.emit(snapshot(item, Part::Text, text));
        }
        self.last_text = Some(text.clone());
        events.emit(Body::TextBlock(TextBlock {
            item,
            text,
            piece: Piece::WHOLE,
            is_aborted: false,
        }));
    }

    fn call(&mut self, call: ToolStarted, from: &Value, is_complete: bool, events: &mut Emitter) {
        let id = call.item.clone();
        let name = call.name.clone();
        let is_news = self.open.get(&id) != Some(&call);
        if is_news {
            events.emit(Body::ToolStarted(Box::new(call.clone())));
        }
        if !is_complete {
            match from.text("aggregated_output").filter(|text| !text.is_empty()) {
                Some(output) => events.emit(snapshot(id.clone(), Part::ToolOutput, output.to_owned())),
                None if !is_news => events.emit(Body::ToolProgressed(ToolProgressed {
                    item: id.clone(),
                    elapsed_ms: None,
                })),
                None => {}
            }
            self.open.insert(id, call);
            return;
        }
        self.open.remove(&id);
        for task in tasks(&id, from) {
            events.emit(Body::TaskUpdated(Box::new(task)));
        }
        let status = status(from);
        if status == ToolStatus::Denied {
            events.emit(Body::PermissionDenied(Box::new(Denial {
                item: Some(id.clone()),
                tool: name,
                reason: None,
            })));
        }
        events.emit(Body::ToolFinished(Box::new(finished(id, status, from))));
    }
}

fn snapshot(item: ItemId, part: Part, text: String) -> Body {
    Body::Delta(Delta {
        item,
        part,
        mode: DeltaMode::Snapshot,
        text,
    })
}

fn thinking(item: ItemId, from: &Value, is_complete: bool, events: &mut Emitter) {
    let text = from.text("text").unwrap_or_default().to_owned();
    events.emit(if is_complete {
        Body::ThinkingBlock(ThinkingBlock {
            item,
            text,
            piece: Piece::WHOLE,
            is_redacted: false,
        })
    } else {
        snapshot(item, Part::Thinking, text)
    });
}

/// Whether an entry is being worked on is not told.
fn plan(from: &Value) -> Body {
    let entry = |entry: &Value| PlanEntry {
        text: entry.text("text").unwrap_or_default().to_owned(),
        status: match entry.get("completed").and_then(Value::as_bool) {
            Some(true) => PlanStatus::Completed,
            _ => PlanStatus::Pending,
        },
    };
    Body::PlanUpdated(PlanUpdated {
        item: None,
        entries: from.list("items").iter().map(entry).collect(),
    })
}

/// The call that an item is; `None` for items that are none.
fn call(id: &ItemId, from: &Value) -> Option<ToolStarted> {
    let type_name = from.text("type")?;
    let (name, kind, subject, input) = match type_name {
        "command_execution" => {
            let command = from.text("command");
            let input = json!({ "command": command });
            (type_name, ToolKind::Execute, command.map(str::to_owned), input)
        }
        "file_change" => {
            let changes = from.list("changes");
            let paths: Vec<&str> = changes.iter().filter_map(|change| change.text("path")).collect();
            let is_removal = |change: &Value| change.text("kind") == Some("delete");
            let kind = match !changes.is_empty() && changes.iter().all(is_removal) {
                true => ToolKind::Delete,
                false => ToolKind::Edit,
            };
            let input = json!({ "changes": changes });
            (type_name, kind, Some(paths.join(", ")), input)
        }
        "mcp_tool_call" => {
            let arguments = from.get("arguments").cloned().unwrap_or_default();
            (
                from.text("tool").unwrap_or(type_name),
                ToolKind::Mcp,
                None,
                arguments,
            )
        }
        "collab_tool_call" => {
            let prompt = from.text("prompt");
            let input = json!({ "prompt": prompt, "receiver_thread_ids": from.list("receiver_thread_ids") });
            let name = from.text("tool").unwrap_or(type_name);
            (name, ToolKind::Agent, prompt.map(str::to_owned), input)
        }
        "web_search" => {
            let query = from.text("query");
            let input = json!({ "query": query, "action": from.get("action") });
            (type_name, ToolKind::WebSearch, query.map(str::to_owned), input)
        }
        _ => return None,
    };
    Some(ToolStarted {
        item: id.clone(),
        name: name.to_owned(),
        kind,
        // The rest of a script or a prompt is in the input.
        subject: subject
            .and_then(|subject| subject.lines().next().map(str::to_owned))
            .filter(|subject| !subject.is_empty()),
        input: Some(Json::from(&input)),
        mcp_server: from
            .text("server")
            .filter(|_| kind == ToolKind::Mcp)
            .map(str::to_owned),
        state: ToolState::Running,
    })
}

fn status(from: &Value) -> ToolStatus {
    match from.text("status") {
        Some("declined") => ToolStatus::Denied,
        Some("failed") => ToolStatus::Failed,
        // Searches have no status; of a word that is not known the exit code decides.
        _ if exit_code(from).unwrap_or_default() != 0 => ToolStatus::Failed,
        _ => ToolStatus::Completed,
    }
}

fn exit_code(from: &Value) -> Option<i32> {
    let code = from.get("exit_code")?.as_i64()?;
    i32::try_from(code).ok()
}

fn finished(item: ItemId, status: ToolStatus, from: &Value) -> ToolFinished {
    let (output, attachments) = output(from);
    let change = |change: &Value| {
        Some(FileChange {
            path: change.text("path")?.to_owned(),
            kind: match change.text("kind") {
                Some("add") => ChangeKind::Added,
                Some("delete") => ChangeKind::Deleted,
                _ => ChangeKind::Modified,
            },
            diff: None,
            lines: None,
        })
    };
    let changes = from.list("changes").iter().filter_map(change);
    ToolFinished {
        item,
        status,
        output,
        output_bytes: None,
        attachments,
        exit_code: exit_code(from),
        changes: changes.filter(|_| status == ToolStatus::Completed).collect(),
    }
}

/// What a call gave, and in words what is no text.
fn output(from: &Value) -> (String, Vec<String>) {
    if let Some(output) = from.text("aggregated_output") {
        return (output.to_owned(), Vec::new());
    }
    if let Some(message) = from.get("error").and_then(|error| error.text("message")) {
        return (message.to_owned(), Vec::new());
    }
    let content = from
        .get("result")
        .map_or(&[][..], |result| result.list("content"));
    let texts = content.iter().filter_map(|block| block.text("text"));
    let others = content.iter().filter(|block| block.text("text").is_none());
    let in_words = |block: &Value| {
        let name = block.text("mimeType").or_else(|| block.text("type"));
        name.unwrap_or("something").to_owned()
    };
    let messages = states(from).filter_map(|(_, state)| state.text("message"));
    (
        texts.chain(messages).collect::<Vec<_>>().join("\n"),
        others.map(in_words).collect(),
    )
}

fn states(from: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let states = from.get("agents_states").and_then(Value::as_object);
    states.into_iter().flatten()
}

/// Where the agents stand that a call started, or asked about.
fn tasks(item: &ItemId, from: &Value) -> Vec<Task> {
    let is_start = from.text("tool") == Some("spawn_agent");
    let task = |(thread, state): (&String, &Value)| Task {
        task_id: thread.clone(),
        item: is_start.then(|| item.clone()),
        title: from.text("prompt").filter(|_| is_start).map(str::to_owned),
        state: match state.text("status") {
            Some("completed") => TaskState::Completed,
            Some("errored" | "failed" | "not_found") => TaskState::Failed,
            Some("shutdown" | "interrupted" | "closed") => TaskState::Stopped,
            _ => TaskState::Running,
        },
        summary: state.text("message").map(str::to_owned),
    };
    states(from).map(task).collect()
}
