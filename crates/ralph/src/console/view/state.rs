//! `View`: renders records to text. `Console` writes the text.

use std::collections::BTreeSet;

use agent_api::{Body, ErrorClass, ErrorInfo, Event, ItemId, Outcome};
use jiff::Timestamp;
use ralph_run::model::RunModel;
use ralph_run::{Record, RunEvent};

use super::calls::{Calls, Moment};
use super::open_requests::OpenRequests;

use crate::console::call_rows::render_call;
use crate::console::flow::{Arrival, Flow};
use crate::console::options::Options;
use crate::console::page::Page;
use crate::console::paragraph::Pace;
use crate::console::rows::Look;
use crate::console::status::render_heartbeat;
use crate::console::style::{Style, paint};
use ralph_run::git::Commits;
use run_view::{ShownErrors, describe_error, one_line};

/// How far lines of a subagent are indented.
const INDENT: &str = "  ";

#[derive(Debug)]
pub(in crate::console) struct View {
    pub(super) options: Options,
    pub(super) look: Look,
    pub(in crate::console) page: Page,
    pub(in crate::console) run: RunModel,
    pub(super) flow: Flow,
    pub(super) calls: Calls,
    /// The call whose row is the last one shown.
    pub(super) last_call: Option<ItemId>,
    /// The time of the current record.
    pub(super) moment: Moment,
    pub(super) open_requests: OpenRequests,
    /// Tasks whose end was shown: some agents report it twice.
    pub(super) ended_tasks: BTreeSet<String>,
    /// Messages that wait, and whose delivery is shown.
    pub(super) queued_messages: BTreeSet<String>,
    /// `Claude: `, painted.
    pub(super) prefix: String,
    /// `[Thinking] `, painted.
    pub(super) thinking_prefix: String,
    pub(super) workspace: String,
    pub(super) run_id: String,
    /// Errors of this iteration: several events can report the same one.
    pub(super) shown_errors: ShownErrors,
    pub(super) has_noted_discard: bool,
    /// The run is a conversation.
    pub(super) is_session: bool,
    pub(super) has_shown_how_to_send: bool,
    /// The commits made during the run, if git was asked.
    pub(in crate::console) commits: Option<Commits>,
}

impl View {
    pub(in crate::console) fn new(options: Options) -> Self {
        let pace = if options.is_terminal {
            Pace::Live {
                has_styles: options.has_colours,
            }
        } else {
            Pace::Lines
        };
        let width = options.width;
        let mut view = Self {
            look: Look::new(&options),
            options,
            page: Page::new(width),
            run: RunModel::new(),
            flow: Flow::new(pace),
            calls: Calls::default(),
            last_call: None,
            moment: Moment {
                at: Timestamp::UNIX_EPOCH,
                now: Timestamp::UNIX_EPOCH,
            },
            open_requests: OpenRequests::default(),
            ended_tasks: BTreeSet::new(),
            queued_messages: BTreeSet::new(),
            prefix: String::new(),
            thinking_prefix: String::new(),
            workspace: String::new(),
            run_id: String::new(),
            shown_errors: ShownErrors::default(),
            has_noted_discard: false,
            is_session: false,
            has_shown_how_to_send: false,
            commits: None,
        };
        let has_colours = view.options.has_colours;
        paint(&mut view.thinking_prefix, has_colours, Style::Faint, "[Thinking]");
        view.thinking_prefix.push(' ');
        view.set_speaker("Agent");
        view
    }

    pub(in crate::console) fn set_width(&mut self, width: usize) {
        if self.options.width == width {
            return;
        }
        self.options.width = width;
        self.page.set_width(width);
        self.look = Look::new(&self.options);
    }

    pub(in crate::console) fn run_id(&self) -> &str {
        &self.run_id
    }

    pub(in crate::console) fn options(&self) -> &Options {
        &self.options
    }

    /// Whether more of a text is expected that is shown in part.
    pub(in crate::console) fn is_text_open(&self) -> bool {
        self.flow.is_open()
    }

    /// A piece of text before it is recorded.
    pub(in crate::console) fn apply_delta(&mut self, event: &Event) {
        if let Body::Delta(delta) = &event.body {
            self.delta(event, delta, Arrival::Live);
        }
    }

    pub(in crate::console) fn apply(&mut self, record: &Record, now: Timestamp) {
        self.moment = Moment { at: record.at, now };
        let mut changes = self.run.apply(record);
        if self.run.ended().is_some() {
            // The digest is the last thing that is shown.
            changes.drain(..).for_each(|change| self.changed(&change));
        }
        match &record.event {
            RunEvent::Agent(event) => self.agent_event(event),
            RunEvent::Run(body) => self.run_event(body),
            RunEvent::Unknown(event) => self.unknown_event(event),
        }
        for change in &changes {
            self.changed(change);
        }
    }

    pub(super) fn set_speaker(&mut self, name: &str) {
        self.prefix.clear();
        let name = format!("{}:", one_line(name, 40));
        paint(&mut self.prefix, self.options.has_colours, Style::Speaker, &name);
        self.prefix.push(' ');
    }

    pub(super) fn error(&mut self, error: &ErrorInfo) {
        // Unreadable lines are counted and reported once.
        if error.class != ErrorClass::Protocol || error.position.is_none() {
            self.error_text(&describe_error(error));
        }
    }

    /// An interrupt is not an error, even if the agent reports one.
    pub(super) fn outcome_error(&mut self, outcome: Option<Outcome>, error: Option<&ErrorInfo>) {
        let is_interrupt = matches!(outcome, Some(Outcome::Interrupted | Outcome::Cancelled));
        if let Some(error) = error.filter(|_| !is_interrupt) {
            self.error(error);
        }
    }

    /// On both streams, and once if several events report it.
    pub(super) fn error_text(&mut self, text: &str) {
        let Some(text) = self.shown_errors.news(text) else {
            return;
        };
        let rows = self.look.rows(Style::Error, "Error", &text);
        self.push_rows(&rows);
        self.push_stderr("Error", &text);
    }

    /// A message of ralph itself.
    pub(in crate::console) fn own_notice(&mut self, text: &str) {
        let row = self.look.row(Style::Warning, "Notice", text);
        self.push_rows(&row);
        self.push_stderr("Notice", text);
    }

    pub(super) fn push_stderr(&mut self, label: &str, text: &str) {
        if !self.options.is_stderr_shared {
            let plain = Look {
                has_colours: false,
                wraps: false,
                ..self.look
            };
            self.page.err.push_str(&plain.rows(Style::Error, label, text));
        }
    }

    pub(super) fn note(&mut self, event: &Event, text: &str) {
        let mut row = String::new();
        paint(&mut row, self.options.has_colours, Style::Faint, text);
        row.push('\n');
        self.rows(event, &row);
    }

    pub(super) fn look_of(&self, event: &Event) -> Look {
        self.look_at(event.parent.is_some())
    }

    fn look_at(&self, is_inner: bool) -> Look {
        let indent = if is_inner { INDENT.len() } else { 0 };
        Look {
            columns: self.look.columns.saturating_sub(indent),
            ..self.look
        }
    }

    /// Whole lines about an event. Those of a subagent are indented and never split a text.
    pub(super) fn rows(&mut self, event: &Event, rows: &str) {
        if !rows.is_empty() {
            self.before_output();
            self.put_rows(event.parent.is_some(), rows);
        }
    }

    /// Whole lines.
    pub(super) fn push_rows(&mut self, rows: &str) {
        if !rows.is_empty() {
            self.before_output();
            self.page.push_rows(rows);
        }
    }

    /// Whole lines that wait for the end of a text.
    pub(super) fn push_aside(&mut self, rows: &str) {
        if !rows.is_empty() {
            self.before_output();
            self.flow.push_aside(rows, &mut self.page);
        }
    }

    /// Something else than the outcome of a call is shown next.
    pub(super) fn before_output(&mut self) {
        self.show_held_calls(None);
        self.last_call = None;
    }

    /// Shows calls that have run for a while by `now`, or all of them.
    pub(super) fn show_held_calls(&mut self, now: Option<Timestamp>) {
        for call in self.calls.take_held(now) {
            let look = self.look_at(call.is_inner);
            self.put_rows(call.is_inner, &render_call(look, &call.label, None));
            self.last_call = Some(call.item);
        }
    }

    pub(super) fn put_rows(&mut self, is_inner: bool, rows: &str) {
        if !is_inner {
            self.page.push_rows(rows);
            return;
        }
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

    /// Some time has passed.
    pub(in crate::console) fn tick(&mut self, now: Timestamp) {
        self.show_held_calls(Some(now));
    }

    /// A sign of life for a pipe.
    pub(in crate::console) fn heartbeat(&mut self, now: Timestamp) {
        let text = render_heartbeat(&self.run, now, self.look.columns);
        self.push_rows(&format!("{text}\n"));
    }

    /// No more records follow.
    pub(in crate::console) fn finish(&mut self) {
        self.flow.finish(&mut self.page);
        self.show_held_calls(None);
        self.page.end_line();
    }

    /// The agent's process has ended.
    pub(super) fn end_attempt(&mut self) {
        self.flow.finish(&mut self.page);
        self.before_output();
        self.calls.clear();
        self.open_requests.clear();
        self.ended_tasks.clear();
        self.has_noted_discard = false;
    }
}
