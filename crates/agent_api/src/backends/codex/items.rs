//! `Items`: the items of a thread (texts, thoughts, tool calls) as events. `codex exec` writes types and keys in
//! `snake_case`, `codex app-server` in `camelCase`; otherwise they are the same.

use std::collections::{BTreeMap, HashMap, HashSet};

use json_lines::Value;

use crate::backends::tool_names::one_line;
use crate::emitter::{Emitter, in_order};
use crate::event::{
    Body, ChangeKind, Denial, FileChange, ItemId, Json, Part, PlanEntry, PlanStatus, PlanUpdated, Severity,
    Task, TaskState, ToolFinished, ToolKind, ToolStarted, ToolState, ToolStatus,
};

pub(super) const COMMAND_EXECUTION: &str = "command_execution";
pub(super) const FILE_CHANGE: &str = "file_change";

/// Between the parts of a summary of thoughts.
pub(super) const PARAGRAPH: &str = "\n\n";

/// The items of a run.
#[derive(Debug, Default)]
pub(super) struct Items {
    /// Calls that run, as they were last reported, numbered as they began.
    open: HashMap<ItemId, (u64, ToolStarted)>,
    count: u64,
    /// Calls that were reported as ended because their turn was, and whether they went on in the background.
    outlived: HashMap<ItemId, bool>,
    /// Why calls are being denied.
    denials: HashMap<ItemId, String>,
    last_text: Option<String>,
}

impl Items {
    /// The text that a turn ended with.
    pub(super) fn take_last_text(&mut self) -> Option<String> {
        self.last_text.take()
    }

    pub(super) fn call(&self, item: &ItemId) -> Option<&ToolStarted> {
        self.open.get(item).map(|(_, call)| call)
    }

    /// The call will be reported as denied; this is why.
    pub(super) fn explain_denial(&mut self, item: ItemId, reason: &str) {
        self.denials.insert(item, reason.to_owned());
    }

    /// The turn has ended. A call that still runs continues in the background, or was cut off. Gives the commands among
    /// them.
    pub(super) fn end_turn(&mut self, status: ToolStatus, events: &mut Emitter) -> HashSet<ItemId> {
        let mut commands = HashSet::new();
        self.denials.clear();
        for (item, call) in in_order(std::mem::take(&mut self.open)) {
            if call.kind == ToolKind::Execute {
                commands.insert(item.clone());
                self.outlived
                    .insert(item.clone(), status == ToolStatus::Background);
            }
            events.emit(Body::ToolFinished(Box::new(ToolFinished::new(item, status))));
        }
        commands
    }

    /// An item has begun or changed. `message` is what the agent calls this message.
    pub(super) fn update(&mut self, message: &str, id: ItemId, item: &Value, events: &mut Emitter) {
        if let Some(call) = call(&id, item) {
            return self.report(call, item, events);
        }
        let text = item.text("text").filter(|text| !text.is_empty());
        match (type_of(item), text) {
            ("agent_message" | "agentMessage", Some(text)) => {
                events.snapshot(id, Part::Text, text.to_owned())
            }
            ("reasoning", Some(text)) => events.snapshot(id, Part::Thinking, text.to_owned()),
            // Its text comes in pieces, or when it is complete.
            (
                "agent_message" | "agentMessage" | "reasoning" | "plan" | "userMessage" | "contextCompaction"
                | "hookPrompt" | "functionCallOutput" | "subAgentActivity" | "enteredReviewMode"
                | "exitedReviewMode",
                _,
            ) => events.framing(message),
            _ => other(message, item, events),
        }
    }

    /// An item is complete.
    pub(super) fn complete(&mut self, message: &str, id: ItemId, item: &Value, events: &mut Emitter) {
        if let Some(call) = call(&id, item) {
            return self.complete_call(call, item, events);
        }
        match type_of(item) {
            "agent_message" | "agentMessage" | "plan" => {
                let text = item.text("text").unwrap_or_default().to_owned();
                self.last_text = Some(text.clone());
                events.text_block(id, text, false);
            }
            "reasoning" => events.thinking_block(id, thoughts(item)),
            "userMessage" => events.user_message(id, texts(item.list("content")).join("\n")),
            "contextCompaction" => events.notice(Severity::Info, "compacted", "the context was compacted"),
            "subAgentActivity" => events.emit(Body::TaskUpdated(Box::new(Task {
                task_id: item.text("agentThreadId").unwrap_or_default().to_owned(),
                item: None,
                title: item.text("agentPath").map(str::to_owned),
                state: task_state(item.text("kind")),
                summary: None,
            }))),
            "hookPrompt" | "functionCallOutput" | "enteredReviewMode" | "exitedReviewMode" => {
                events.framing(message);
            }
            _ => other(message, item, events),
        }
    }

    /// The changes that a call will make have changed.
    pub(super) fn update_changes(&mut self, id: &ItemId, changes: &Value, events: &mut Emitter) {
        self.report(file_change(id, changes.elements()), &Value::Null, events);
    }

    /// A call that runs, if it is new or has changed, and its output so far.
    fn report(&mut self, call: ToolStarted, from: &Value, events: &mut Emitter) {
        let item = call.item.clone();
        let is_news = self.call(&item) != Some(&call);
        if is_news {
            events.emit(Body::ToolStarted(Box::new(call.clone())));
            self.count += 1;
            let number = self.open.get(&item).map_or(self.count, |(number, _)| *number);
            self.open.insert(item.clone(), (number, call));
        }
        match output_so_far(from).filter(|output| !output.is_empty()) {
            Some(output) => events.snapshot(item, Part::ToolOutput, output.to_owned()),
            None if !is_news => events.tool_progressed(item),
            None => {}
        }
    }

    fn complete_call(&mut self, call: ToolStarted, from: &Value, events: &mut Emitter) {
        let item = call.item.clone();
        let tool = call.name.clone();
        let known = self.open.remove(&item).map(|(_, call)| call);
        if known.is_none()
            && let Some(was_in_background) = self.outlived.remove(&item)
        {
            let command = call.subject.unwrap_or_default();
            return match was_in_background {
                true => {
                    let message = format!("a command in the background has ended: {command}");
                    events.notice(Severity::Info, "background_command_ended", message);
                }
                false => events.framing("item/completed"),
            };
        }
        if known.as_ref() != Some(&call) {
            events.emit(Body::ToolStarted(Box::new(call)));
        }
        for task in tasks(&item, from) {
            events.emit(Body::TaskUpdated(Box::new(task)));
        }
        let end = finished(item, from);
        let reason = self.denials.remove(&end.item);
        if end.status == ToolStatus::Denied {
            let item = Some(end.item.clone());
            events.emit(Body::PermissionDenied(Box::new(Denial { item, tool, reason })));
        }
        events.emit(Body::ToolFinished(Box::new(end)));
    }
}

/// A member that has one name in `codex exec` and another in `codex app-server`.
pub(super) fn either<'v, 'line>(
    from: &'v Value<'line>,
    exec: &str,
    server: &str,
) -> Option<&'v Value<'line>> {
    from.get(exec).or_else(|| from.get(server))
}

/// The entries of a plan. `codex exec` does not say which one is being worked on.
pub(super) fn plan(entries: &[Value]) -> Body {
    let entry = |entry: &Value| PlanEntry {
        text: entry
            .text("text")
            .or(entry.text("step"))
            .unwrap_or_default()
            .to_owned(),
        status: match (entry.text("status"), entry.flag("completed")) {
            (Some("completed"), _) | (_, Some(true)) => PlanStatus::Completed,
            (Some("inProgress"), _) => PlanStatus::InProgress,
            _ => PlanStatus::Pending,
        },
    };
    let entries = entries.iter().map(entry).collect();
    Body::PlanUpdated(PlanUpdated { item: None, entries })
}

/// Items that are the same at every stage, and those that are not known.
fn other(message: &str, item: &Value, events: &mut Emitter) {
    match type_of(item) {
        "todo_list" => events.emit(plan(item.list("items"))),
        "error" => {
            let text = item.text("message").unwrap_or_default();
            events.notice(Severity::Warning, "agent_warning", text);
        }
        type_name => events.unknown(Some(&format!("{message}/{type_name}"))),
    }
}

fn type_of<'v>(item: &'v Value) -> &'v str {
    item.text("type").unwrap_or("(no type)")
}

fn texts<'v>(content: &'v [Value]) -> Vec<&'v str> {
    content.iter().filter_map(|part| part.text("text")).collect()
}

/// The summary, or the thoughts themselves where a model shows them.
fn thoughts(item: &Value) -> String {
    let parts = |key| {
        item.list(key)
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
    };
    let summary = parts("summary");
    match (item.text("text"), summary.is_empty()) {
        (Some(text), _) => text.to_owned(),
        (None, true) => parts("content").concat(),
        (None, false) => summary.join(PARAGRAPH),
    }
}

/// The tool call that an item is; `None` for other items.
fn call(id: &ItemId, from: &Value) -> Option<ToolStarted> {
    let tool = from.text("tool");
    let (name, kind, subject, input) = match from.text("type")? {
        "command_execution" | "commandExecution" => {
            let input = input(from, &["command", "cwd"]);
            (COMMAND_EXECUTION, ToolKind::Execute, from.text("command"), input)
        }
        "file_change" | "fileChange" => return Some(file_change(id, from.list("changes"))),
        "mcp_tool_call" | "mcpToolCall" => (
            tool.unwrap_or("mcp_tool_call"),
            ToolKind::Mcp,
            None,
            arguments(from),
        ),
        "dynamicToolCall" => (
            tool.unwrap_or("dynamic_tool_call"),
            ToolKind::Other,
            None,
            arguments(from),
        ),
        "collab_tool_call" | "collabAgentToolCall" => {
            let name = tool.unwrap_or("collab_tool_call");
            let input = input(from, &["prompt", "receiver_thread_ids", "receiverThreadIds"]);
            (name, ToolKind::Agent, from.text("prompt"), input)
        }
        "web_search" | "webSearch" => {
            let input = input(from, &["query", "action"]);
            ("web_search", ToolKind::WebSearch, from.text("query"), input)
        }
        "imageView" => (
            "view_image",
            ToolKind::Read,
            from.text("path"),
            input(from, &["path"]),
        ),
        "imageGeneration" => {
            let input = input(from, &["revisedPrompt"]);
            (
                "image_generation",
                ToolKind::Other,
                from.text("revisedPrompt"),
                input,
            )
        }
        "sleep" => ("sleep", ToolKind::Other, None, input(from, &["durationMs"])),
        _ => return None,
    };
    Some(started(id, name, kind, subject, input, from.text("server")))
}

fn file_change(id: &ItemId, changes: &[Value]) -> ToolStarted {
    let paths: Vec<&str> = changes.iter().filter_map(|change| change.text("path")).collect();
    let is_removal = |change: &Value| change_kind(change) == ChangeKind::Deleted;
    let kind = match !changes.is_empty() && changes.iter().all(is_removal) {
        true => ToolKind::Delete,
        false => ToolKind::Edit,
    };
    let input = Json::of(&BTreeMap::from([("changes", changes)]));
    started(id, FILE_CHANGE, kind, Some(&paths.join(", ")), input, None)
}

fn started(
    id: &ItemId,
    name: &str,
    kind: ToolKind,
    subject: Option<&str>,
    input: Option<Json>,
    server: Option<&str>,
) -> ToolStarted {
    ToolStarted {
        item: id.clone(),
        name: name.to_owned(),
        kind,
        subject: subject.map(one_line).filter(|subject| !subject.is_empty()),
        input,
        mcp_server: server.filter(|_| kind == ToolKind::Mcp).map(str::to_owned),
        state: ToolState::Running,
    }
}

/// The members of an item that are the call's arguments.
fn input(from: &Value, keys: &[&str]) -> Option<Json> {
    let members = keys.iter().filter_map(|key| Some((*key, from.get(key)?)));
    Json::of(&members.collect::<BTreeMap<_, _>>())
}

fn arguments(from: &Value) -> Option<Json> {
    Some(from.get("arguments").unwrap_or(&Value::Null).into())
}

fn finished(item: ItemId, from: &Value) -> ToolFinished {
    let exit_code = either(from, "exit_code", "exitCode").and_then(Value::as_i64);
    let exit_code = exit_code.and_then(|code| i32::try_from(code).ok());
    let status = match from.text("status") {
        Some("declined") => ToolStatus::Denied,
        Some("failed") => ToolStatus::Failed,
        Some("interrupted") => ToolStatus::Cancelled,
        // Searches have no status; of a word that is not known the exit code decides.
        _ if exit_code.unwrap_or_default() != 0 => ToolStatus::Failed,
        _ if from.flag("success") == Some(false) => ToolStatus::Failed,
        _ => ToolStatus::Completed,
    };
    let (output, attachments) = output(from);
    let changes = from.list("changes").iter().filter_map(change);
    ToolFinished {
        output,
        attachments,
        exit_code,
        changes: changes.filter(|_| status == ToolStatus::Completed).collect(),
        ..ToolFinished::new(item, status)
    }
}

fn output_so_far<'v>(from: &'v Value) -> Option<&'v str> {
    either(from, "aggregated_output", "aggregatedOutput")?.as_str()
}

/// What a call returned: its text, and a description of everything else.
fn output(from: &Value) -> (String, Vec<String>) {
    let error = || from.get("error")?.text("message");
    if let Some(output) = output_so_far(from).or_else(error) {
        return (output.to_owned(), Vec::new());
    }
    let results = from
        .get("result")
        .map_or(&[][..], |result| result.list("content"));
    let content = || results.iter().chain(from.list("contentItems"));
    let describe = |block: &Value| {
        let name = block.text("mimeType").or(block.text("type"));
        name.unwrap_or("unknown content").to_owned()
    };
    let others = content().filter(|block| block.text("text").is_none());
    let texts = content().filter_map(|block| block.text("text"));
    let messages = agent_states(from)
        .iter()
        .filter_map(|(_, state)| state.text("message"));
    let texts: Vec<&str> = texts.chain(messages).collect();
    (texts.join("\n"), others.map(describe).collect())
}

fn agent_states<'v, 'line>(from: &'v Value<'line>) -> &'v [(std::borrow::Cow<'line, str>, Value<'line>)] {
    either(from, "agents_states", "agentsStates").map_or(&[], Value::members)
}

/// The state of the agents that a call started or asked about.
fn tasks(item: &ItemId, from: &Value) -> Vec<Task> {
    let is_start = matches!(from.text("tool"), Some("spawn_agent" | "spawnAgent"));
    let states = agent_states(from).iter();
    let task = states.map(|(thread, state)| Task {
        task_id: thread.to_string(),
        item: is_start.then(|| item.clone()),
        title: from.text("prompt").filter(|_| is_start).map(str::to_owned),
        state: task_state(state.text("status")),
        summary: state.text("message").map(str::to_owned),
    });
    task.collect()
}

fn task_state(word: Option<&str>) -> TaskState {
    match word {
        Some("completed") => TaskState::Completed,
        Some("errored" | "failed" | "not_found" | "notFound") => TaskState::Failed,
        Some("shutdown" | "interrupted" | "closed") => TaskState::Stopped,
        _ => TaskState::Running,
    }
}

/// The kind of a change: a word, or an object with more about it.
fn change_kind(from: &Value) -> ChangeKind {
    let kind = from.get("kind").unwrap_or(&Value::Null);
    match kind.text("type").or(kind.as_str()) {
        Some("add") => ChangeKind::Added,
        Some("delete") => ChangeKind::Deleted,
        _ if kind.text("move_path").is_some() => ChangeKind::Moved,
        _ => ChangeKind::Modified,
    }
}

fn change(from: &Value) -> Option<FileChange> {
    let path = from.text("path")?;
    let kind = change_kind(from);
    let moved = from.at(&["kind", "move_path"]).and_then(Value::as_str);
    let diff = from.text("diff").filter(|diff| !diff.is_empty());
    let diff = diff.map(|diff| hunks(kind, diff));
    Some(FileChange::new(moved.unwrap_or(path), kind, diff))
}

/// Of a new or deleted file Codex gives the content instead of a diff.
fn hunks(kind: ChangeKind, diff: &str) -> String {
    let count = diff.lines().count();
    let (header, sign) = match kind {
        ChangeKind::Added => (format!("@@ -0,0 +1,{count} @@\n"), '+'),
        ChangeKind::Deleted => (format!("@@ -1,{count} +0,0 @@\n"), '-'),
        ChangeKind::Modified | ChangeKind::Moved => return diff.to_owned(),
    };
    let lines = diff.lines().map(|line| format!("{sign}{line}\n"));
    header + &lines.collect::<String>()
}
