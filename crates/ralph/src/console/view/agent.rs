//! The part of `View` that shows events of the agent.

use agent_api::{
    Body, CloseReason, Delta, Event, ItemDiscarded, ItemId, Notice, Part, Piece, PlanUpdated, RequestId,
    Severity, Status as AgentStatus, ToolFinished, ToolKind, ToolStarted, ToolStatus,
};

use super::state::View;
use run_view::{
    CallEnd, EARLIER_CALL, INTERRUPTED, RequestKind, STDERR_LABEL, describe_discard, describe_notice,
    describe_permission,
};

use crate::console::call_rows::{render_call, render_call_end, render_output};
use crate::console::flow::Arrival;
use crate::console::rows::{
    render_denial, render_permission, render_plan_proposed, render_question, render_rate_limit, render_retry,
    render_session, render_task, render_usage,
};
use crate::console::style::Style;
use run_view::escape_hidden;
use run_view::one_line;
use run_view::sanitise;
use run_view::{describe_plan, describe_tool};

impl View {
    pub(super) fn agent_event(&mut self, event: &Event) {
        if !matches!(event.body, Body::ItemDiscarded(_) | Body::Delta(_)) {
            self.has_noted_discard = false;
        }
        let look = self.look_of(event);
        let is_verbose = self.options.is_verbose();
        match &event.body {
            Body::Delta(delta) => self.delta(event, delta, Arrival::Recorded),
            Body::TextBlock(block) => {
                self.block(event, &block.item, Part::Text, block.piece, &block.text);
                if block.is_aborted {
                    self.note(event, INTERRUPTED);
                }
            }
            Body::ThinkingBlock(block) => {
                self.block(event, &block.item, Part::Thinking, block.piece, &block.text)
            }
            Body::ItemDiscarded(discarded) => self.discard(event, discarded),
            Body::ToolStarted(tool) => self.tool_started(event, tool),
            Body::ToolFinished(finished) => self.tool_finished(event, finished),
            Body::PlanUpdated(plan) => self.plan_updated(event, plan),
            Body::PermissionRequested(asked) => {
                let subject = describe_permission(asked);
                let reply = match asked.grants.is_empty() {
                    true => "--allow (or --deny REASON)",
                    false => "--allow (or --always NUMBER, --deny REASON)",
                };
                let hint = self.open_request(&asked.request, RequestKind::Permission, subject, reply);
                self.rows(event, &render_permission(look, asked, &hint));
            }
            Body::QuestionAsked(asked) => {
                let reply = "--choose ANSWER";
                let hint = self.open_request(&asked.request, RequestKind::Question, String::new(), reply);
                self.rows(event, &render_question(look, &asked.questions, &hint));
            }
            Body::PlanProposed(asked) => {
                let reply = "--allow (or --deny REASON)";
                let hint = self.open_request(&asked.request, RequestKind::Plan, String::new(), reply);
                self.rows(event, &render_plan_proposed(look, &asked.plan, &hint));
            }
            Body::RequestClosed(closed) => {
                let style = match closed.reason {
                    CloseReason::Answered => Style::Good,
                    _ => Style::Warning,
                };
                if let Some((label, text)) = self.open_requests.close(closed) {
                    self.rows(event, &look.row(style, label, &text));
                }
            }
            Body::PermissionDenied(denial) => self.rows(event, &render_denial(look, denial)),
            Body::RetryScheduled(retry) => self.rows(event, &render_retry(look, retry)),
            Body::RateLimit(limit) => {
                self.rows(event, &render_rate_limit(look, limit).unwrap_or_default());
            }
            Body::Error(error) => self.error(error),
            Body::TurnFinished(turn) => self.outcome_error(Some(turn.outcome), turn.error.as_ref()),
            Body::Usage(usage) if is_verbose => {
                self.rows(event, &render_usage(look, usage).unwrap_or_default());
            }
            Body::StatusChanged(changed) if self.is_session && changed.status == AgentStatus::Idle => {
                self.flow.finish(&mut self.page);
                self.await_message();
            }
            Body::SessionStarted(session) if is_verbose => {
                self.rows(event, &render_session(look, session));
            }
            Body::TaskUpdated(task) if is_verbose => {
                if let Some(row) = render_task(look, task)
                    && self.ended_tasks.insert(task.task_id.clone())
                {
                    self.rows(event, &row);
                }
            }
            Body::Notice(notice) => self.notice(event, notice),
            Body::Finished(finished) => {
                self.end_attempt();
                self.outcome_error(Some(finished.outcome), finished.error.as_ref());
            }
            _ => {}
        }
    }

    pub(super) fn delta(&mut self, event: &Event, delta: &Delta, arrival: Arrival) {
        if event.parent.is_none() && self.shows(delta.part) {
            self.has_noted_discard = false;
            self.before_output();
            let prefix = self.prefix_of(delta.part);
            self.flow.push_delta(delta, arrival, &prefix, &mut self.page);
        }
    }

    fn block(&mut self, event: &Event, item: &ItemId, part: Part, piece: Piece, text: &str) {
        if !self.shows(part) {
            return;
        }
        if event.parent.is_none() {
            self.before_output();
            let prefix = self.prefix_of(part);
            self.flow
                .push_block(item, part, (piece, text), &prefix, &mut self.page);
        } else if !text.trim().is_empty() {
            let prefix = self.prefix_of(part);
            let prefix = if piece.index == 0 { prefix.as_str() } else { "" };
            let rows = format!("{prefix}{}\n", sanitise(text).trim());
            self.rows(event, &rows);
        }
    }

    fn prefix_of(&self, part: Part) -> String {
        match part {
            Part::Thinking => self.thinking_prefix.clone(),
            Part::Text | Part::ToolInput | Part::ToolOutput => self.prefix.clone(),
        }
    }

    fn shows(&self, part: Part) -> bool {
        part == Part::Text || (part == Part::Thinking && self.options.is_verbose())
    }

    fn discard(&mut self, event: &Event, discarded: &ItemDiscarded) {
        let was_call = self.calls.discard(&discarded.item);
        let was_shown = self.flow.discard(&discarded.item, &mut self.page) || was_call;
        if was_shown && !self.has_noted_discard {
            self.has_noted_discard = true;
            self.note(event, describe_discard(discarded.reason));
        }
    }

    fn tool_started(&mut self, event: &Event, tool: &ToolStarted) {
        let label = escape_hidden(&describe_tool(tool, &self.workspace));
        let is_inner = event.parent.is_some();
        self.calls.start(tool, label, is_inner, self.moment);
        if tool.kind == ToolKind::Agent {
            // The rows of the subagent follow below it.
            self.show_held_calls(None);
        }
    }

    fn tool_finished(&mut self, event: &Event, finished: &ToolFinished) {
        let call = self.calls.finish(&finished.item);
        let is_verbose = self.options.is_verbose();
        let was_run = !matches!(finished.status, ToolStatus::Denied | ToolStatus::Cancelled);
        let took = call
            .as_ref()
            .map_or(0, |call| self.moment.milliseconds_since(call.started_at));
        let look = self.look_of(event);
        let output = if is_verbose {
            render_output(look, finished)
        } else {
            String::new()
        };
        let mut end = CallEnd::new(finished, took);
        if !output.is_empty() {
            end = end.without_reason();
        }
        let mut rows = match &call {
            Some(call) if !call.is_shown && !call.is_ready() && !was_run => return,
            Some(call) if !call.is_shown => render_call(look, &call.label, Some(&end)),
            // Its row is that of the to-do list.
            Some(call) if call.kind == ToolKind::Plan && finished.status == ToolStatus::Completed => return,
            Some(call) if self.calls.is_empty() && self.last_call.as_ref() == Some(&call.item) => {
                render_call_end(look, None, &end)
            }
            Some(call) => render_call_end(look, Some(&call.label), &end),
            // It began before the records that are shown.
            None if is_verbose || finished.status == ToolStatus::Failed => {
                render_call_end(look, Some(EARLIER_CALL), &end)
            }
            None => return,
        };
        rows.push_str(&output);
        self.put_rows(event.parent.is_some(), &rows);
        self.last_call = None;
    }

    fn plan_updated(&mut self, event: &Event, plan: &PlanUpdated) {
        let (look, text) = (self.look_of(event), describe_plan(plan));
        let row = match plan.item.as_ref().and_then(|item| self.calls.show(item)) {
            Some(label) => look.row(Style::Tool, "Tool", &format!("{label}: {text}")),
            None => look.row(Style::Tool, "Plan", &text),
        };
        self.rows(event, &row);
    }

    fn notice(&mut self, event: &Event, notice: &Notice) {
        let Some((label, text)) = describe_notice(notice) else {
            return;
        };
        let (style, is_news) = match notice.severity {
            Severity::Debug | Severity::Info => (Style::Faint, false),
            Severity::Warning | Severity::Error => (Style::Warning, label != STDERR_LABEL),
        };
        if is_news || self.options.is_verbose() {
            let look = self.look_of(event);
            let rows = match label {
                // The agent's own lines can be many and long.
                STDERR_LABEL => look.row(style, label, text),
                _ => look.rows(style, label, text),
            };
            self.rows(event, &rows);
        }
    }

    /// Gives the command that answers the request. Never cut: it is to be copied. Empty where keys answer it.
    fn open_request(&mut self, id: &RequestId, kind: RequestKind, subject: String, reply: &str) -> String {
        self.open_requests.open(id, kind, subject);
        if self.options.has_keyboard {
            return String::new();
        }
        let run = if self.run_id.is_empty() {
            "latest"
        } else {
            &self.run_id
        };
        let which = match self.open_requests.len() {
            1 => String::new(),
            _ => format!(" --request {}", one_line(id.as_str(), usize::MAX)),
        };
        format!("ralph answer {run}{which} {reply}")
    }
}
