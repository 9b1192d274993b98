//! `assistant` and `user` lines: text, thinking, tool calls and user messages.

use claude_code::event::{Assistant, Block, ToolUse, User};
use claude_code::reconcile::{BlockKey, Change, Part as WirePart};
use claude_code::{Event as WireEvent, RawJson};
use serde_json::Value;
use serde_json::value::RawValue;

use super::api_error::api_error;
use super::mapper::ClaudeMapper;
use crate::backends::tool_names::{kind_of, mcp_parts, one_line, subject_keys};
use crate::backends::vendor_error::classified;
use crate::bounds::JSON_BYTES;
use crate::emitter::Emitter;
use crate::event::{
    Body, DiscardReason, ItemDiscarded, ItemId, Json, Origin, Part, Piece, PlanEntry, PlanStatus,
    PlanUpdated, Severity, ThinkingBlock, ToolKind, ToolStarted, ToolState, UserMessage,
};

impl ClaudeMapper {
    pub(super) fn map_assistant(&mut self, wire: &WireEvent, assistant: &Assistant, events: &mut Emitter) {
        if assistant.is_api_error_message || assistant.error.is_some() {
            // The text is the CLI's, not the model's.
            self.forget_broken(wire, events);
            events.error(api_error(assistant));
            return;
        }
        if self.setup.dialect.writes_errors_as_text
            && let Some(message) = &assistant.message
            && message.content.text().starts_with("[API Error: ")
        {
            // Likewise; the turn's end says it again.
            self.forget_broken(wire, events);
            events.error(classified(&message.content.text()));
            return;
        }
        self.reconcile(wire, events);
        if let Some(usage) = self.account.message(wire, assistant) {
            events.emit(usage);
        }
    }

    pub(super) fn map_change(&mut self, change: Change, is_aborted: bool, events: &mut Emitter) {
        match change {
            Change::Appended { key, part, text } => {
                let item = self.items.of_block(&key);
                let part = match part {
                    WirePart::Text => Part::Text,
                    WirePart::Thinking => Part::Thinking,
                    WirePart::InputJson => Part::ToolInput,
                };
                events.append(&item, part, &*text);
            }
            Change::Completed { key, block } => self.map_block(key, block, is_aborted, events),
            Change::Discarded { key } => self.discard(&key, DiscardReason::Retry, events),
        }
    }

    /// What was being written when an error took its place.
    fn forget_broken(&mut self, wire: &WireEvent, events: &mut Emitter) {
        for change in self.changes_of(wire) {
            match change {
                Change::Discarded { key } => self.discard(&key, DiscardReason::Superseded, events),
                // The block is the error's text. Pieces of it may have come before.
                Change::Completed { key, .. } if self.items.knows(&key) => {
                    self.discard(&key, DiscardReason::Superseded, events);
                }
                Change::Completed { .. } | Change::Appended { .. } => {}
            }
        }
    }

    fn discard(&mut self, key: &BlockKey, reason: DiscardReason, events: &mut Emitter) {
        let item = self.items.of_block(key);
        self.items.end_call(&item);
        events.emit(Body::ItemDiscarded(ItemDiscarded { item, reason }));
    }

    fn map_block(&mut self, key: BlockKey, block: Block, is_aborted: bool, events: &mut Emitter) {
        match block {
            Block::Text(text) => {
                let item = self.items.of_block(&key);
                events.text_block(item, str::to_owned(&text), is_aborted);
            }
            Block::Thinking(thinking) => {
                let item = self.items.of_block(&key);
                events.thinking_block(item, str::to_owned(&thinking.thinking));
            }
            Block::RedactedThinking { .. } => {
                let item = self.items.of_block(&key);
                let (text, piece, is_redacted) = (String::new(), Piece::WHOLE, true);
                events.emit(Body::ThinkingBlock(ThinkingBlock {
                    item,
                    text,
                    piece,
                    is_redacted,
                }));
            }
            Block::ToolUse(call) | Block::ServerToolUse(call) => self.map_call(key, &call, events),
            Block::ServerToolResult(result) => self.map_server_result(&result, events),
            Block::ToolResult(result) => self.map_tool_result(&result, None, events),
            Block::Image { .. } => events.notice(Severity::Info, "image", "the model sent a picture"),
            Block::Document { .. } => events.notice(Severity::Info, "document", "the model sent a document"),
            Block::ToolReference { tool_name } => {
                events.notice(Severity::Debug, "tool_loaded", &*tool_name);
            }
            other => unknown_block(&other, events),
        }
    }

    fn map_call(&mut self, key: BlockKey, call: &ToolUse, events: &mut Emitter) {
        let kind = kind_of(&call.name);
        let item = self.items.of_call(key, &call.id, kind);
        if kind == ToolKind::Edit && self.setup.extras.changes_in_input {
            let path = call.input.get("file_path").and_then(|path| path.text());
            self.items
                .edited
                .extend(path.map(|path| (item.clone(), path.to_string())));
        }
        events.emit(Body::ToolStarted(Box::new(ToolStarted {
            item: item.clone(),
            name: str::to_owned(&call.name),
            kind,
            subject: subject(kind, &call.input),
            input: json(&call.input),
            mcp_server: mcp_parts(&call.name).map(|(server, _)| server.to_owned()),
            state: ToolState::Running,
        })));
        if kind == ToolKind::SwitchMode {
            self.permission_requests.note_plan(&item, &call.input);
        }
        if kind == ToolKind::Plan
            && let Some(entries) = plan_entries(&call.input)
        {
            events.emit(Body::PlanUpdated(PlanUpdated {
                item: Some(item),
                entries,
            }));
        }
    }

    pub(super) fn map_user(&mut self, wire: &WireEvent, user: &User, events: &mut Emitter) {
        if wire.parent_tool_use_id().is_none() {
            self.items.keep_answer();
        }
        // Subagents that have ended are forgotten.
        self.reconcile(wire, events);
        self.note_receipt(wire, events);
        let Some(message) = &user.message else { return };
        let origin = if user.is_synthetic || wire.parent_tool_use_id().is_some() {
            Origin::Agent
        } else {
            Origin::User
        };
        let said = |index: usize, text: String| {
            let uuid = wire.uuid();
            let name = uuid.as_deref().unwrap_or_default();
            Body::UserMessage(UserMessage {
                item: ItemId::new(&format!("user-{name}-{}/{index}", wire.line_number())),
                text,
                piece: Piece::WHOLE,
                origin,
            })
        };
        if let claude_code::event::Content::Text(text) = &message.content {
            events.emit(said(0, str::to_owned(text)));
        }
        for (index, block) in message.content.blocks().iter().enumerate() {
            match block {
                Block::ToolResult(result) => {
                    self.map_tool_result(result, user.tool_use_result.as_ref(), events)
                }
                Block::Text(text) => events.emit(said(index, str::to_owned(text))),
                Block::Image { .. } => events.notice(Severity::Info, "image", "a picture was sent"),
                Block::Document { .. } => events.notice(Severity::Info, "document", "a document was sent"),
                Block::ServerToolResult(result) => self.map_server_result(result, events),
                Block::ToolReference { tool_name } => {
                    events.notice(Severity::Debug, "tool_loaded", &**tool_name);
                }
                Block::Thinking(_)
                | Block::RedactedThinking { .. }
                | Block::ToolUse(_)
                | Block::ServerToolUse(_) => {
                    events.unknown(Some("user/block"));
                }
                other => unknown_block(other, events),
            }
        }
    }
}

fn unknown_block(block: &Block, events: &mut Emitter) {
    let name = match block {
        Block::Unknown(raw) => raw.get("type").and_then(|name| name.text()),
        _ => None,
    };
    events.unknown(Some(&format!("block/{}", name.as_deref().unwrap_or_default())));
}

/// The payload, unless it is too long anyway.
pub(super) fn json(raw: &RawJson) -> Option<Json> {
    if raw.as_bytes().len() > JSON_BYTES {
        return Some(Json::oversize());
    }
    raw.deserialize::<Box<RawValue>>().ok().map(Json::from)
}

/// What a call is used on, in one line.
pub(super) fn subject(kind: ToolKind, input: &RawJson) -> Option<String> {
    let text = subject_keys(kind).iter().find_map(|key| {
        let text = input.get(key)?.text()?;
        (!text.trim().is_empty()).then(|| one_line(&text))
    });
    text.or_else(|| {
        let question = input
            .get("questions")?
            .elements()
            .first()?
            .get("question")?
            .text()?;
        Some(one_line(&question))
    })
}

/// The whole list, where the call has it. Calls that change one entry of a list do not.
fn plan_entries(input: &RawJson) -> Option<Vec<PlanEntry>> {
    let todos: Value = input.get("todos")?.deserialize().ok()?;
    let entry = |todo: &Value| {
        let text = todo
            .get("content")
            .or_else(|| todo.get("description"))?
            .as_str()?;
        Some(PlanEntry {
            text: text.to_owned(),
            status: PlanStatus::named(todo.get("status").and_then(Value::as_str)),
        })
    };
    Some(todos.as_array()?.iter().filter_map(entry).collect())
}
