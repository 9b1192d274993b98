//! What a person is shown of a run: records and events in, text out. Writes nothing.

use std::collections::HashMap;

use agent_api::{
    Body, Delta, DeltaMode, DiscardReason, ErrorClass, ErrorInfo, Event, ItemDiscarded, ItemId, Notice, Part,
    Piece, PlanUpdated, Severity, Status as AgentStatus, ToolFinished, ToolKind, ToolStarted, ToolState,
};
use ralph_run::{EndReason, Record, RunBody, RunEnded, RunEvent, RunStarted, Warned, WarningKind};

use super::flow::Flow;
use super::one_line::one_line;
use super::options::Options;
use super::page::Page;
use super::paragraph::Pace;
use super::rows::{
    Look, describe_error, render_denial, render_permission, render_plan_proposed, render_question,
    render_rate_limit, render_result, render_retry, render_session, render_task, render_usage,
};
use super::run_rows::{
    render_attempt_retry, render_command, render_forked, render_iteration, render_session_end,
    render_summary, render_verify,
};
use super::sanitise::sanitise;
use super::status::{Activity, Status};
use super::style::{Style, paint};
use super::tool_line::{describe_plan, describe_tool};

/// How far lines of a subagent are indented.
const INDENT: &str = "  ";

/// What a person is shown of a run.
#[derive(Debug)]
pub(super) struct View {
    options: Options,
    look: Look,
    pub(super) page: Page,
    pub(super) status: Status,
    flow: Flow,
    /// Calls that have not ended.
    calls: HashMap<ItemId, Call>,
    /// `Claude: `, painted.
    prefix: String,
    workspace: String,
    /// Whether pieces of text come before they are recorded: their records say nothing new then.
    is_fed_live: bool,
    last_error: String,
    has_noted_discard: bool,
}

#[derive(Debug)]
struct Call {
    label: String,
    is_shown: bool,
}

impl View {
    pub(super) fn new(options: Options) -> Self {
        let pace = if options.is_terminal {
            Pace::Live
        } else {
            Pace::Lines
        };
        let mut view = Self {
            look: Look::new(&options),
            options,
            page: Page::default(),
            status: Status::default(),
            flow: Flow::new(pace),
            calls: HashMap::new(),
            prefix: String::new(),
            workspace: String::new(),
            is_fed_live: false,
            last_error: String::new(),
            has_noted_discard: false,
        };
        view.set_speaker("Agent");
        view
    }

    pub(super) fn set_width(&mut self, width: usize) {
        self.options.width = width;
        self.look = Look::new(&self.options);
    }

    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// An event as it comes. Only pieces of text are taken from here, the rest when it is recorded.
    pub(super) fn apply_live(&mut self, event: &Event) {
        if let Body::Delta(delta) = &event.body {
            self.is_fed_live = true;
            self.delta(event, delta);
        }
    }

    pub(super) fn apply(&mut self, record: &Record) {
        match &record.event {
            RunEvent::Agent(event) => self.agent_event(event),
            RunEvent::Run(body) => self.run_event(record, body),
        }
    }

    fn set_speaker(&mut self, name: &str) {
        self.prefix.clear();
        let name = format!("{}:", one_line(name, 40));
        paint(&mut self.prefix, self.options.has_colours, Style::Speaker, &name);
        self.prefix.push(' ');
    }

    fn agent_event(&mut self, event: &Event) {
        if !matches!(event.body, Body::ItemDiscarded(_) | Body::Delta(_)) {
            self.has_noted_discard = false;
        }
        let look = self.look;
        let is_verbose = self.options.is_verbose();
        match &event.body {
            Body::Delta(delta) if !self.is_fed_live => self.delta(event, delta),
            Body::Delta(_) => {}
            Body::TextBlock(block) => {
                self.block(event, &block.item, Part::Text, block.piece, &block.text);
                if block.is_aborted {
                    self.note(event, "(interrupted)");
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
                self.wait(event, &render_permission(look, asked));
            }
            Body::QuestionAsked(asked) => {
                self.wait(
                    event,
                    &render_question(look, asked.request.as_str(), &asked.questions),
                );
            }
            Body::PlanProposed(asked) => {
                self.wait(
                    event,
                    &render_plan_proposed(look, asked.request.as_str(), &asked.plan),
                );
            }
            Body::RequestClosed(_) => self.status.activity = Activity::Agent(AgentStatus::Running),
            Body::PermissionDenied(denial) => self.rows(event, &render_denial(look, denial)),
            Body::RetryScheduled(retry) => self.rows(event, &render_retry(look, retry)),
            Body::RateLimit(limit) => {
                self.rows(event, &render_rate_limit(look, limit).unwrap_or_default());
            }
            Body::Error(error) => self.error(error),
            Body::TurnFinished(turn) => {
                if let Some(error) = &turn.error {
                    self.error(error);
                }
            }
            Body::Usage(usage) => {
                self.status.open_cost = usage.run.cost.map(|cost| cost.micro_usd);
                self.status.context = usage.context.or(self.status.context);
                if is_verbose {
                    self.rows(event, &render_usage(look, usage).unwrap_or_default());
                }
            }
            Body::StatusChanged(changed) => {
                if self.calls.is_empty() {
                    self.status.activity = Activity::Agent(changed.status);
                }
            }
            Body::SessionStarted(session) => {
                self.status.activity = Activity::Agent(AgentStatus::Requesting);
                if is_verbose {
                    self.rows(event, &render_session(look, session));
                }
            }
            Body::TaskUpdated(task) if is_verbose => {
                self.rows(event, &render_task(look, task).unwrap_or_default());
            }
            Body::Notice(notice) => self.notice(event, notice),
            Body::Finished(finished) => {
                self.end_attempt();
                if let Some(error) = &finished.error {
                    self.error(error);
                }
            }
            Body::TurnStarted(_)
            | Body::SessionUpdated(_)
            | Body::UserMessage(_)
            | Body::ToolProgressed(_)
            | Body::TaskUpdated(_)
            | Body::MessageUpdated(_)
            | Body::CommandAnswered(_)
            | Body::Unknown(_) => {}
        }
    }

    fn run_event(&mut self, record: &Record, body: &RunBody) {
        let look = self.look;
        match body {
            RunBody::RunStarted(started) => self.run_started(record, started),
            RunBody::IterationStarted(started) => {
                self.end_attempt();
                self.last_error.clear();
                self.status.iteration = started.number;
                self.status.activity = Activity::Starting;
                if self.status.max_iterations != 1 {
                    let heading = render_iteration(look, started.number, self.status.max_iterations);
                    self.page.push_rows(&heading);
                }
            }
            RunBody::AttemptStarted(_) => self.end_attempt(),
            RunBody::AttemptEnded(ended) => {
                self.end_attempt();
                self.status.open_cost = None;
                self.status.settled_cost += ended.totals.cost.unwrap_or_default();
                if let Some(error) = &ended.error {
                    self.error(error);
                }
                if ended.will_retry {
                    self.page.push_rows(&render_attempt_retry(look, ended));
                }
            }
            RunBody::VerifyStarted(verify) => {
                self.status.activity = Activity::Call(format!("verify: {}", verify.command));
            }
            RunBody::VerifyFinished(verify) => self.page.push_rows(&render_verify(look, verify)),
            RunBody::IterationEnded(ended) => {
                self.end_attempt();
                if self.options.is_verbose() {
                    self.page.push_rows(&render_session_end(look, &ended.totals));
                }
            }
            RunBody::Warned(warned) => self.warned(warned),
            RunBody::SessionForked(forked) => self.page.push_rows(&render_forked(look, forked)),
            RunBody::CommandReceived(command) => self.page.push_rows(&render_command(look, command)),
            RunBody::RunEnded(ended) => self.run_ended(ended),
        }
    }

    fn run_started(&mut self, record: &Record, started: &RunStarted) {
        self.set_speaker(&started.display_name);
        self.workspace.clone_from(&started.workspace);
        self.status = Status {
            started_at: Some(record.at),
            max_iterations: started.max_iterations,
            max_cost: started.max_cost,
            ..Status::default()
        };
    }

    fn run_ended(&mut self, ended: &RunEnded) {
        self.end_attempt();
        let is_failure = match ended.reason {
            EndReason::Completed
            | EndReason::Limit(_)
            | EndReason::Interrupted
            | EndReason::Stopped
            | EndReason::Terminated
            | EndReason::HungUp
            | EndReason::OutputClosed => false,
            EndReason::AgentError
            | EndReason::VerifyFailed
            | EndReason::Denied
            | EndReason::NotLoggedIn
            | EndReason::ModelNotFound
            | EndReason::BackendUnavailable
            | EndReason::Crashed
            | EndReason::NoResult
            | EndReason::StorageFailed
            | EndReason::Lost => true,
        };
        match &ended.message {
            Some(message) if is_failure => self.error_text(message),
            Some(message) => self
                .page
                .push_rows(&self.look.rows(Style::Warning, "Notice", message)),
            None => {}
        }
        let files = self.options.files.as_deref();
        let summary = render_summary(ended, files, self.options.has_colours);
        self.page.push_rows(&summary);
    }

    fn delta(&mut self, event: &Event, delta: &Delta) {
        let (DeltaMode::Append | DeltaMode::Snapshot, Part::Text | Part::Thinking) = (delta.mode, delta.part)
        else {
            return;
        };
        if event.parent.is_none() && self.shows(delta.part) {
            self.has_noted_discard = false;
            let prefix = self.prefix_of(delta.part);
            let piece = (delta.mode, delta.text.as_str());
            self.flow
                .push_delta(&delta.item, delta.part, piece, &prefix, &mut self.page);
        }
    }

    fn block(&mut self, event: &Event, item: &ItemId, part: Part, piece: Piece, text: &str) {
        if !self.shows(part) {
            return;
        }
        let prefix = if piece.index == 0 || event.parent.is_none() {
            self.prefix_of(part)
        } else {
            String::new()
        };
        if event.parent.is_none() {
            self.flow
                .push_block(item, part, (piece, text), &prefix, &mut self.page);
        } else if !text.trim().is_empty() {
            let rows = format!("{prefix}{}\n", sanitise(text).trim());
            self.rows(event, &rows);
        }
    }

    fn shows(&self, part: Part) -> bool {
        part == Part::Text || (part == Part::Thinking && self.options.is_verbose())
    }

    fn prefix_of(&self, part: Part) -> String {
        if part != Part::Thinking {
            return self.prefix.clone();
        }
        let mut prefix = String::new();
        paint(&mut prefix, self.options.has_colours, Style::Faint, "[Thinking]");
        prefix.push(' ');
        prefix
    }

    fn discard(&mut self, event: &Event, discarded: &ItemDiscarded) {
        let was_call = self
            .calls
            .remove(&discarded.item)
            .is_some_and(|call| call.is_shown);
        let was_shown = self.flow.discard(&discarded.item, &mut self.page) || was_call;
        if was_shown && !self.has_noted_discard {
            self.has_noted_discard = true;
            self.note(
                event,
                match discarded.reason {
                    DiscardReason::Retry => "(answer discarded, retrying)",
                    DiscardReason::Superseded => "(answer replaced)",
                },
            );
        }
    }

    fn tool_started(&mut self, event: &Event, tool: &ToolStarted) {
        let label = describe_tool(tool, &self.workspace);
        let was_shown = self.calls.get(&tool.item).is_some_and(|call| call.is_shown);
        // A list of things to do is shown when it is read.
        let is_ready =
            tool.state == ToolState::Running && (tool.kind != ToolKind::Plan || tool.subject.is_some());
        if is_ready && !was_shown {
            self.rows(event, &self.look.row(Style::Tool, "Tool", &label));
        }
        self.status.activity = Activity::Call(label.clone());
        let is_shown = was_shown || is_ready;
        self.calls.insert(tool.item.clone(), Call { label, is_shown });
    }

    fn tool_finished(&mut self, event: &Event, finished: &ToolFinished) {
        if let Some(call) = self.calls.remove(&finished.item)
            && !call.is_shown
        {
            self.rows(event, &self.look.row(Style::Tool, "Tool", &call.label));
        }
        self.status.activity = match self.calls.values().next() {
            Some(other) => Activity::Call(other.label.clone()),
            None => Activity::Agent(AgentStatus::Requesting),
        };
        if self.options.is_verbose() {
            self.rows(event, &render_result(self.look, finished));
        }
    }

    fn plan_updated(&mut self, event: &Event, plan: &PlanUpdated) {
        let text = describe_plan(plan);
        let call = plan.item.as_ref().and_then(|item| self.calls.get_mut(item));
        let row = match call.filter(|call| !call.is_shown) {
            Some(call) => {
                call.is_shown = true;
                self.look
                    .row(Style::Tool, "Tool", &format!("{}: {text}", call.label))
            }
            None => self.look.row(Style::Tool, "Plan", &text),
        };
        self.rows(event, &row);
    }

    fn notice(&mut self, event: &Event, notice: &Notice) {
        let is_verbose = self.options.is_verbose();
        let (style, label, is_shown) = match notice.severity {
            Severity::Debug => return,
            Severity::Info => (Style::Faint, "Notice", is_verbose),
            Severity::Warning | Severity::Error => {
                (Style::Warning, "Warning", is_verbose || notice.code != "stderr")
            }
        };
        let label = if notice.code == "stderr" { "Stderr" } else { label };
        if is_shown {
            self.rows(event, &self.look.row(style, label, &notice.message));
        }
    }

    fn warned(&mut self, warned: &Warned) {
        let row = self.look.rows(Style::Warning, "Warning", &warned.message);
        if warned.kind == WarningKind::UnreadableLines {
            // Not part of what the agent says: once per run, and beside it.
            self.push_stderr("Warning", &warned.message);
            if self.options.is_stderr_shared {
                self.page.push_rows(&row);
            }
        } else {
            self.page.push_rows(&row);
        }
    }

    fn wait(&mut self, event: &Event, rows: &str) {
        self.status.activity = Activity::Waiting;
        self.rows(event, rows);
    }

    fn error(&mut self, error: &ErrorInfo) {
        // Lines that cannot be read are counted, and told once.
        if error.class != ErrorClass::Protocol {
            self.error_text(&describe_error(error));
        }
    }

    /// On both streams, and once if several events tell of it.
    fn error_text(&mut self, text: &str) {
        if text.trim().is_empty() || self.last_error.contains(text) {
            return;
        }
        text.clone_into(&mut self.last_error);
        let rows = self.look.rows(Style::Error, "Error", text);
        self.page.push_rows(&rows);
        self.push_stderr("Error", text);
    }

    fn push_stderr(&mut self, label: &str, text: &str) {
        if !self.options.is_stderr_shared {
            let plain = Look {
                has_colours: false,
                ..self.look
            };
            self.page.err.push_str(&plain.rows(Style::Error, label, text));
        }
    }

    fn note(&mut self, event: &Event, text: &str) {
        let mut row = String::new();
        paint(&mut row, self.options.has_colours, Style::Faint, text);
        row.push('\n');
        self.rows(event, &row);
    }

    /// Whole lines; those of a subagent indented and never in the midst of a text.
    fn rows(&mut self, event: &Event, rows: &str) {
        if event.parent.is_none() {
            self.page.push_rows(rows);
        } else if !rows.is_empty() {
            let mut indented = String::with_capacity(rows.len() + INDENT.len());
            for line in rows.lines() {
                if !line.is_empty() {
                    indented.push_str(INDENT);
                    indented.push_str(line);
                }
                indented.push('\n');
            }
            self.flow.push_aside(&indented, &mut self.page);
        }
    }

    /// Nothing more comes from this process.
    fn end_attempt(&mut self) {
        self.flow.finish(&mut self.page);
        self.calls.clear();
        self.has_noted_discard = false;
    }
}
