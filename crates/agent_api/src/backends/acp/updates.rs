//! `session/update` and `session/request_permission` as events.

use bytes::Bytes;
use json_lines::Value;

use super::mapper::{AcpMapper, Stage};
use super::permissions::{Decision, PermissionRequest, cancelled};
use super::quirks::TextMeaning;
use super::tool_calls::Permission;
use crate::backends::tool_names::plan_entries;
use crate::bounds::LIST_ENTRIES;
use crate::emitter::Emitter;
use crate::event::{
    Body, CloseReason, Denial, ItemId, Part, PermissionRequested, PlanUpdated, SessionUpdated, Severity,
};

impl AcpMapper {
    pub(super) fn map_update(&mut self, params: &Value, events: &mut Emitter) {
        let update = params.get("update").unwrap_or(&Value::Null);
        let kind = update.text("sessionUpdate").unwrap_or_default();
        if let (Some(own), Some(other)) = (self.session_id.as_deref(), params.text("sessionId"))
            && own != other
        {
            let text = format!("an update of another session: {kind}");
            return events.notice(Severity::Debug, "other_session", text);
        }
        let is_content = matches!(
            kind,
            "agent_message_chunk"
                | "agent_thought_chunk"
                | "user_message_chunk"
                | "tool_call"
                | "tool_call_update"
                | "plan"
        );
        if is_content && self.is_repeated(kind) {
            return events.notice(Severity::Debug, "replayed", kind);
        }
        match kind {
            "agent_message_chunk" => self.map_chunk(Part::Text, update, events),
            "agent_thought_chunk" => self.map_chunk(Part::Thinking, update, events),
            "user_message_chunk" => self.map_user_chunk(update, events),
            "tool_call" | "tool_call_update" => self.map_tool_call(update, events),
            "plan" => self.map_plan(update, events),
            "usage_update" => self.account.update(update, self.turn.is_some(), events),
            "current_mode_update" => {
                let mode = update.text("currentModeId").map(str::to_owned);
                self.mode_changed(mode, events);
            }
            "config_option_update" => self.map_config(update, events),
            "session_info_update" => match update.text("title") {
                Some(title) => events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
                    title: Some(title.to_owned()),
                    ..SessionUpdated::default()
                }))),
                None => events.notice(Severity::Debug, "session_info", "session information"),
            },
            "available_commands_update" => {
                let count = update.list("availableCommands").len();
                let text = format!("{count} commands available");
                events.notice(Severity::Debug, "commands", text);
                if self.is_recording && self.is_replaying {
                    self.is_replaying = false;
                    self.stage = Stage::Ready;
                }
            }
            "" => events.unknown(Some("session/update")),
            other => events.unknown(Some(other)),
        }
    }

    /// Whether content belongs to the earlier conversation that `session/load` repeats. In a recording, content before
    /// the answer shows that the session was loaded.
    fn is_repeated(&mut self, kind: &str) -> bool {
        let is_before_answer = self.is_recording && self.stage == Stage::SettingUp;
        // A replay that is still arriving although the prompt was sent: only the user's part is recognisable.
        let is_late = kind == "user_message_chunk" && self.is_recording;
        self.is_replaying || is_before_answer || is_late
    }

    fn map_chunk(&mut self, part: Part, update: &Value, events: &mut Emitter) {
        if let Some(usage) = update.at(&["_meta", "usage"]).filter(|usage| usage.is_object()) {
            self.account.step(usage, events);
        }
        let content = update.get("content").unwrap_or(&Value::Null);
        let Some(text) = content.text("text") else {
            let kind = content.text("type").unwrap_or("content of an unknown type");
            return events.notice(Severity::Info, "content", kind);
        };
        if text.is_empty() {
            return;
        }
        let message_id = update.text("messageId");
        if part == Part::Text && !self.text.is_open() {
            match self.quirks.meaning(text) {
                Some((TextMeaning::Info, text)) => {
                    return events.notice(Severity::Info, "agent_info", text.trim());
                }
                Some((TextMeaning::Warning, text)) => {
                    return events.notice(Severity::Warning, "agent_warning", text.trim());
                }
                Some((TextMeaning::Mode, mode)) => {
                    return self.mode_changed(Some(mode.trim().to_owned()), events);
                }
                // The text stays visible; the end of the turn reads it again.
                Some((TextMeaning::Failure, _)) | None => {}
            }
        }
        self.begin_recorded_turn(events);
        if self.turn.is_none() {
            return events.notice(Severity::Info, "outside_turn", text);
        }
        self.text.append(part, message_id, text, events);
    }

    /// The prompt as the agent repeats it.
    fn map_user_chunk(&mut self, update: &Value, events: &mut Emitter) {
        let text = update.at(&["content", "text"]).and_then(Value::as_str);
        let Some(text) = text else { return };
        self.user_messages += 1;
        let item = ItemId::new(&format!("user-{}", self.user_messages));
        events.user_message(item, text.to_owned());
    }

    fn map_tool_call(&mut self, update: &Value, events: &mut Emitter) {
        self.begin_recorded_turn(events);
        self.text.complete(false, events);
        if let Some(turn) = &mut self.turn {
            turn.has_tools = true;
        }
        let is_cancelled = self.is_cancelled();
        if !self.tools.upsert(update, is_cancelled, events) {
            events.unknown(Some("tool call without an id"));
        }
    }

    fn map_plan(&mut self, update: &Value, events: &mut Emitter) {
        self.begin_recorded_turn(events);
        self.text.complete(false, events);
        let (item, entries) = (None, plan_entries(update.list("entries")));
        events.emit(Body::PlanUpdated(PlanUpdated { item, entries }));
    }

    fn map_config(&mut self, update: &Value, events: &mut Emitter) {
        let before = (self.config.current_model(), self.config.current_mode());
        self.config.read(update);
        let (model, mode) = (self.config.current_model(), self.config.current_mode());
        let updated = SessionUpdated {
            model: model.clone().filter(|_| model != before.0),
            permission_mode: mode.clone().filter(|_| mode != before.1),
            ..SessionUpdated::default()
        };
        if updated == SessionUpdated::default() {
            events.notice(Severity::Debug, "config_options", "session options");
        } else {
            events.emit(Body::SessionUpdated(Box::new(updated)));
        }
    }

    fn mode_changed(&mut self, mode: Option<String>, events: &mut Emitter) {
        if let (Some(choice), Some(mode)) = (&mut self.config.mode, &mode) {
            choice.current = Some(mode.clone());
        }
        events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
            permission_mode: mode,
            ..SessionUpdated::default()
        })));
    }

    pub(super) fn map_permission(&mut self, id: &Value, params: &Value, events: &mut Emitter) {
        self.begin_recorded_turn(events);
        if let Some(why) = self.cannot_be_asked(params) {
            events.notice(Severity::Info, "request_cancelled", why);
            return events.reply(cancelled(id));
        }
        self.text.complete(false, events);
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let (item, summary) = self.tools.asked(call, events);
        let request = PermissionRequest::new(id, params, item.clone(), summary.name.clone());
        if self.is_cancelled() {
            return events.reply(request.cancel());
        }
        let edited = summary.edited.as_deref().unwrap_or_default();
        let is_workspace_edit = self.setup.workspace.holds_all(edited);
        match self.setup.policy.decide(is_workspace_edit) {
            Decision::Allow => {
                let Some(line) = request.allow() else {
                    self.deny(item, summary.name, Some(request.why_not_allowed()), events);
                    return events.reply(request.deny());
                };
                if let Some(item) = &item {
                    self.tools.set_permission(item, Permission::NotNeeded);
                }
                let text = format!("allowed by the permission mode: {}", summary.name);
                events.notice(Severity::Debug, "permission_granted", text);
                return events.reply(line);
            }
            Decision::Deny => {
                let reason =
                    "this run answers no permission requests, or its permission mode refuses the call";
                self.deny(item, summary.name, Some(reason.to_owned()), events);
                return events.reply(request.deny());
            }
            Decision::Ask => {}
        }
        let grants = request.grants.list();
        let description = summary
            .title
            .filter(|title| Some(title) != summary.subject.as_ref());
        let request = self.requests.insert(request);
        events.emit(Body::PermissionRequested(Box::new(PermissionRequested {
            request,
            item,
            tool: summary.name,
            kind: summary.kind,
            subject: summary.subject,
            description,
            input: summary.input,
            grants,
            takes_one_grant: true,
        })));
    }

    /// Why a request is decided without asking.
    fn cannot_be_asked(&self, params: &Value) -> Option<&'static str> {
        let asking = params.text("sessionId");
        let is_other_session = match (self.session_id.as_deref(), asking) {
            (Some(own), Some(asking)) => own != asking,
            _ => false,
        };
        if is_other_session {
            Some("a permission request of another session was cancelled")
        } else if self.turn.is_none() {
            Some("a permission request that belongs to no turn was cancelled")
        } else if self.requests.is_full() {
            Some("a permission request was cancelled: too many wait for an answer")
        } else {
            None
        }
    }

    /// Emits that a call is not allowed, and keeps it for the end of the turn.
    pub(super) fn deny(
        &mut self,
        item: Option<ItemId>,
        tool: String,
        reason: Option<String>,
        events: &mut Emitter,
    ) {
        if let Some(item) = &item {
            self.tools.set_permission(item, Permission::Denied);
        }
        let denial = Denial { item, tool, reason };
        if let Some(turn) = &mut self.turn
            && turn.denials.len() < LIST_ENTRIES
        {
            turn.denials.push(denial.clone());
        }
        events.emit(Body::PermissionDenied(Box::new(denial)));
    }

    /// The agent no longer waits for an answer.
    pub(super) fn withdraw(&mut self, params: &Value, events: &mut Emitter) {
        let id = params.get("requestId").or_else(|| params.get("id"));
        let taken = id.and_then(|id| self.requests.take_by_rpc_id(id));
        if let Some((request, open)) = taken {
            events.reply(open.cancel());
            events.request_closed(request, CloseReason::Withdrawn);
        }
    }

    /// Closes all open requests. Returns the answers for the agent.
    pub(super) fn close_requests(&mut self, events: &mut Emitter) -> Vec<Bytes> {
        let open = self.requests.take_all().into_iter();
        let close = |(request, open): (_, PermissionRequest)| {
            events.request_closed(request, CloseReason::Withdrawn);
            open.cancel()
        };
        open.map(close).collect()
    }
}
