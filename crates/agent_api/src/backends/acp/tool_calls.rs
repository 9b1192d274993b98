//! `ToolCalls`: tool calls by id. The protocol sends a call in pieces; a piece about an unknown id creates the call.

use std::collections::{HashMap, HashSet};

use json_lines::Value;

use super::call_content::{CallContent, StreamedOutput};
use super::tool_results::{Results, changes, exit_code, output, terminal_text};
use crate::backends::tool_names::{kind_of, one_line, subject_keys};
use crate::bounds::{LIST_ENTRIES, cut_message};
use crate::emitter::Emitter;
use crate::event::{
    Body, Delta, DeltaMode, ItemId, Json, Part, ToolFinished, ToolKind, ToolStarted, ToolState, ToolStatus,
};

/// Arguments that name a file which an edit changes.
const PATH_KEYS: [&str; 10] = [
    "file_path",
    "path",
    "absolute_path",
    "notebook_path",
    "filePath",
    "filepath",
    "file",
    "target_file",
    "dir_path",
    "parentDir",
];

/// The calls of a session.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    open: HashMap<ItemId, ToolCall>,
    begun: u64,
    /// Calls that ended in this turn.
    finished: HashSet<ItemId>,
    /// Calls that ended in the turn before: an agent may use their ids again.
    finished_before: HashSet<ItemId>,
}

/// What is known about a call that has not ended.
#[derive(Debug, Default, Clone)]
struct ToolCall {
    /// Counts the calls in the order in which they began.
    number: u64,
    name: String,
    kind: Option<ToolKind>,
    title: Option<String>,
    input: Option<CallInput>,
    locations: Vec<String>,
    content: CallContent,
    streamed: StreamedOutput,
    is_running: bool,
    permission: Permission,
    /// What was last said about its start.
    started: Option<ToolStarted>,
}

/// Whether a call needs permission.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permission {
    /// It needs none, or was allowed.
    #[default]
    NotNeeded,
    /// It was asked for and not allowed so far.
    Asked,
    Denied,
}

/// The arguments of a call, as far as they fit into an event, and what is used of them.
#[derive(Debug, Clone)]
struct CallInput {
    json: Json,
    /// Arguments that are text, for the call's subject.
    texts: Vec<(&'static str, String)>,
}

/// The call as a permission request shows it.
pub(super) struct CallSummary {
    pub(super) name: String,
    pub(super) kind: ToolKind,
    pub(super) subject: Option<String>,
    pub(super) title: Option<String>,
    pub(super) input: Option<Json>,
    /// The files that an edit would change, if the agent calls it an edit and nothing contradicts that.
    pub(super) edited: Option<Vec<String>>,
}

impl ToolCalls {
    /// A `tool_call` or `tool_call_update`. Returns whether it has an id.
    pub(super) fn upsert(&mut self, update: &Value, is_cancelled: bool, events: &mut Emitter) -> bool {
        let Some(item) = update.text("toolCallId").map(ItemId::new) else {
            return false;
        };
        if update.text("sessionUpdate") == Some("tool_call") {
            self.finished_before.remove(&item);
        }
        if self.has_finished(&item) {
            events.tool_progressed(item);
            return true;
        }
        let call = self.call(&item);
        call.merge(update);
        let live = call.live_output(update);
        let status = update.text("status");
        let is_end = matches!(status, Some("completed" | "failed"));
        // A call that ends without having been allowed has not run.
        let has_run = !is_end || call.permission == Permission::NotNeeded;
        call.is_running |= status != Some("pending") && call.permission != Permission::Denied && has_run;
        if has_run && call.permission != Permission::Denied {
            call.announce(&item, is_end, events);
        }
        if is_end {
            let has_failed = status == Some("failed");
            self.finish(&item, has_failed, is_cancelled, update, events);
        } else if let Some((mode, text)) = live {
            let part = Part::ToolOutput;
            events.emit(Body::Delta(Delta {
                item,
                part,
                mode,
                text,
            }));
        }
        true
    }

    /// The call that a permission request is about; one that is not known yet begins here. The summary is what the
    /// request itself says, and only where it says nothing, what is known about the call.
    pub(super) fn asked(&mut self, request: &Value, events: &mut Emitter) -> (Option<ItemId>, CallSummary) {
        let item = request.text("toolCallId").map(ItemId::new);
        let Some(item) = item.filter(|item| !self.finished.contains(item)) else {
            let mut unnamed = ToolCall::default();
            unnamed.merge(request);
            return (None, unnamed.summary());
        };
        self.finished_before.remove(&item);
        if !self.open.contains_key(&item) {
            let begun = self.call(&item);
            begun.merge(request);
            begun.announce(&item, false, events);
        }
        let call = self.call(&item);
        call.permission = Permission::Asked;
        let summary = call.as_asked(request).summary();
        let contradicts = match (call.kind, request.text("kind").map(wire_kind)) {
            (Some(known), Some(asked)) => known != asked,
            _ => false,
        };
        let edited = summary.edited.filter(|_| !contradicts);
        (Some(item), CallSummary { edited, ..summary })
    }

    pub(super) fn set_permission(&mut self, item: &ItemId, permission: Permission) {
        if let Some(call) = self.open.get_mut(item) {
            call.permission = permission;
        }
    }

    /// A turn begins: its calls may have the ids of earlier ones.
    pub(super) fn begin_turn(&mut self) {
        self.finished_before = std::mem::take(&mut self.finished);
    }

    /// The turn has ended: calls that have not ended never will.
    pub(super) fn close_open(&mut self, events: &mut Emitter) {
        let mut open: Vec<_> = self
            .open
            .iter()
            .map(|(item, call)| (call.number, item.clone()))
            .collect();
        open.sort_unstable_by_key(|(number, _)| *number);
        for (_, item) in open {
            self.finish(&item, false, true, &Value::Null, events);
        }
    }

    fn has_finished(&self, item: &ItemId) -> bool {
        self.finished.contains(item) || self.finished_before.contains(item)
    }

    fn call(&mut self, item: &ItemId) -> &mut ToolCall {
        let begun = &mut self.begun;
        self.open.entry(item.clone()).or_insert_with(|| {
            *begun += 1;
            ToolCall {
                number: *begun,
                ..ToolCall::default()
            }
        })
    }

    fn finish(
        &mut self,
        item: &ItemId,
        has_failed: bool,
        is_cancelled: bool,
        update: &Value,
        events: &mut Emitter,
    ) {
        let call = self.open.remove(item).unwrap_or_default();
        self.finished.insert(item.clone());
        let raw = update.get("rawOutput").unwrap_or(&Value::Null);
        let exit_code = exit_code(raw, update);
        let status = if call.permission == Permission::Denied {
            ToolStatus::Denied
        } else if is_cancelled {
            ToolStatus::Cancelled
        } else if has_failed || exit_code.is_some_and(|code| code != 0) {
            ToolStatus::Failed
        } else {
            ToolStatus::Completed
        };
        let changes = if status == ToolStatus::Completed {
            changes(call.kind(), &call.content, raw, &call.locations)
        } else {
            Vec::new()
        };
        let Results { text, whole_bytes } = output(&call.content, raw, &call.streamed);
        events.emit(Body::ToolFinished(Box::new(ToolFinished {
            output: text,
            output_bytes: whole_bytes,
            attachments: call.content.attachments,
            exit_code,
            changes,
            ..ToolFinished::new(item.clone(), status)
        })));
    }
}

impl ToolCall {
    /// Takes over what the piece has; what it leaves out stays.
    fn merge(&mut self, update: &Value) {
        if let Some(title) = update.text("title").filter(|title| !title.is_empty()) {
            self.title = Some(cut_message(title));
        }
        if let Some(kind) = update.text("kind") {
            self.kind = Some(wire_kind(kind));
        }
        if self.name.is_empty() {
            // The first title is often the tool's name; a title for people has spaces.
            let title = self
                .title
                .as_deref()
                .filter(|title| !title.contains(char::is_whitespace));
            self.name = given_name(update).or(title).unwrap_or_default().to_owned();
        }
        let input = update.get("rawInput");
        if let Some(input) = input.filter(|input| !is_empty(input)) {
            self.input = Some(CallInput::of(input));
        }
        let locations = update.list("locations").iter().take(LIST_ENTRIES);
        let locations: Vec<_> = locations
            .filter_map(|at| at.text("path").map(str::to_owned))
            .collect();
        if !locations.is_empty() {
            self.locations = locations;
        }
        if let Some(Value::List(content)) = update.get("content") {
            self.content = CallContent::of(content);
        }
    }

    /// The call as a permission request describes it. A request that says what it is about is not completed with what
    /// the call was about before, and one of another kind takes over nothing.
    fn as_asked(&self, request: &Value) -> Self {
        let mut asked = Self::default();
        asked.merge(request);
        let is_other_kind = asked.kind.is_some() && asked.kind != self.kind;
        if is_other_kind {
            return asked;
        }
        asked.kind = self.kind;
        if given_name(request).is_none() {
            asked.name.clone_from(&self.name);
        }
        let says_what =
            asked.input.is_some() || !asked.locations.is_empty() || !asked.content.diffs.is_empty();
        if says_what {
            return asked;
        }
        Self {
            name: asked.name,
            title: asked.title.or_else(|| self.title.clone()),
            ..self.clone()
        }
    }

    fn kind(&self) -> ToolKind {
        match self.kind {
            Some(kind) if kind != ToolKind::Other => kind,
            Some(_) | None => kind_of(&self.name),
        }
    }

    fn summary(&self) -> CallSummary {
        let kind = self.kind();
        let name = if self.name.is_empty() {
            kind_name(kind)
        } else {
            &self.name
        };
        let subject = (self.input.as_ref().and_then(|input| input.subject(kind)))
            .or_else(|| self.locations.first().map(String::as_str))
            .or_else(|| self.content.diffs.first().map(|diff| diff.path.as_str()))
            .or_else(|| self.title.as_deref().filter(|title| *title != name));
        CallSummary {
            name: name.to_owned(),
            kind,
            subject: subject.map(one_line),
            title: self.title.clone(),
            input: self.input.as_ref().map(|input| input.json.clone()),
            edited: (self.kind == Some(ToolKind::Edit)).then(|| self.paths()),
        }
    }

    /// All files that the call names.
    fn paths(&self) -> Vec<String> {
        let texts = self.input.iter().flat_map(|input| &input.texts);
        let named = texts
            .filter(|(key, _)| PATH_KEYS.contains(key))
            .map(|(_, path)| path);
        let changed = self.content.diffs.iter().map(|diff| &diff.path);
        let all = self.locations.iter().chain(named).chain(changed);
        all.cloned().collect()
    }

    /// Emits the call's start, and again when more is known about it.
    fn announce(&mut self, item: &ItemId, is_end: bool, events: &mut Emitter) {
        let CallSummary {
            name,
            kind,
            subject,
            input,
            ..
        } = self.summary();
        let started = ToolStarted {
            item: item.clone(),
            name,
            kind,
            subject,
            input,
            mcp_server: None,
            state: if self.is_running {
                ToolState::Running
            } else {
                ToolState::Preparing
            },
        };
        if self.started.as_ref() == Some(&started) {
            // The end says all that is left to say.
            if !is_end {
                events.tool_progressed(item.clone());
            }
            return;
        }
        self.started = Some(started.clone());
        events.emit(Body::ToolStarted(Box::new(started)));
    }

    /// Output of a call that is still running: the content so far, or a piece of a terminal's output.
    fn live_output(&mut self, update: &Value) -> Option<(DeltaMode, String)> {
        if let Some(piece) = terminal_text(update) {
            self.streamed.push(piece);
            return Some((DeltaMode::Append, piece.to_owned()));
        }
        update.get("content")?;
        let text = self.content.text.clone()?;
        Some((DeltaMode::Snapshot, text)).filter(|(_, text)| !text.is_empty())
    }
}

impl CallInput {
    fn of(input: &Value) -> Self {
        let mut texts = Vec::new();
        let subjects = ALL_KINDS.iter().flat_map(|kind| subject_keys(*kind));
        for key in PATH_KEYS.iter().chain(subjects).copied() {
            if let Some(text) = input.text(key)
                && !texts.iter().any(|(known, _)| *known == key)
            {
                texts.push((key, cut_message(text)));
            }
        }
        Self {
            json: Json::within_bounds(input),
            texts,
        }
    }

    /// What a tool of this kind is used on.
    fn subject(&self, kind: ToolKind) -> Option<&str> {
        subject_keys(kind).iter().find_map(|key| {
            let (_, text) = self.texts.iter().find(|(known, _)| known == key)?;
            Some(text.as_str())
        })
    }
}

/// The kinds of tools whose subjects have keys of their own.
const ALL_KINDS: [ToolKind; 8] = [
    ToolKind::Execute,
    ToolKind::Edit,
    ToolKind::Search,
    ToolKind::Fetch,
    ToolKind::Agent,
    ToolKind::Plan,
    ToolKind::Question,
    ToolKind::Other,
];

/// The tool's name where the agent gives it apart from the title.
fn given_name<'v>(update: &'v Value) -> Option<&'v str> {
    let places = [
        update.get("name"),
        update.at(&["_meta", "toolName"]),
        update.at(&["_meta", "goose", "toolCall", "toolName"]),
        update.at(&["_meta", "claudeCode", "toolName"]),
    ];
    places.into_iter().flatten().find_map(Value::as_str)
}

fn is_empty(input: &Value) -> bool {
    input.is_null() || *input == Value::Object(Vec::new())
}

fn wire_kind(kind: &str) -> ToolKind {
    match kind {
        "read" => ToolKind::Read,
        "edit" => ToolKind::Edit,
        "delete" => ToolKind::Delete,
        "move" => ToolKind::Move,
        "search" => ToolKind::Search,
        "execute" => ToolKind::Execute,
        "fetch" => ToolKind::Fetch,
        "switch_mode" => ToolKind::SwitchMode,
        // `think`, `other`, and words of newer versions.
        _ => ToolKind::Other,
    }
}

/// A name for a tool whose agent gives none.
fn kind_name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Execute => "execute",
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Fetch => "fetch",
        ToolKind::WebSearch => "web_search",
        ToolKind::Plan => "plan",
        ToolKind::Mcp => "mcp",
        ToolKind::Agent => "agent",
        ToolKind::Question => "question",
        ToolKind::SwitchMode => "switch_mode",
        ToolKind::Other => "tool",
    }
}
