//! `View`: renders records to text. `Console` writes the text.

use std::collections::BTreeSet;

use agent_api::{Body, ErrorClass, ErrorInfo, Event, Outcome};
use ralph_run::model::RunModel;
use ralph_run::{Record, RunEvent};

use super::calls::Calls;
use super::open_requests::OpenRequests;
use super::shown_errors::ShownErrors;
use crate::console::flow::{Arrival, Flow};
use crate::console::one_line::one_line;
use crate::console::options::Options;
use crate::console::page::Page;
use crate::console::paragraph::Pace;
use crate::console::rows::{Look, describe_error};
use crate::console::style::{Style, paint};

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
    pub(super) open_requests: OpenRequests,
    /// Tasks whose end was shown: some agents report it twice.
    pub(super) ended_tasks: BTreeSet<String>,
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
}

impl View {
    pub(in crate::console) fn new(options: Options) -> Self {
        let pace = if options.is_terminal {
            Pace::Live
        } else {
            Pace::Lines
        };
        let mut view = Self {
            look: Look::new(&options),
            options,
            page: Page::default(),
            run: RunModel::new(),
            flow: Flow::new(pace),
            calls: Calls::default(),
            open_requests: OpenRequests::default(),
            ended_tasks: BTreeSet::new(),
            prefix: String::new(),
            thinking_prefix: String::new(),
            workspace: String::new(),
            run_id: String::new(),
            shown_errors: ShownErrors::default(),
            has_noted_discard: false,
            is_session: false,
            has_shown_how_to_send: false,
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
        self.look = Look::new(&self.options);
    }

    pub(in crate::console) fn run_id(&self) -> &str {
        &self.run_id
    }

    pub(in crate::console) fn options(&self) -> &Options {
        &self.options
    }

    /// A piece of text before it is recorded.
    pub(in crate::console) fn apply_delta(&mut self, event: &Event) {
        if let Body::Delta(delta) = &event.body {
            self.delta(event, delta, Arrival::Live);
        }
    }

    pub(in crate::console) fn apply(&mut self, record: &Record) {
        let changes = self.run.apply(record);
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
        if error.class != ErrorClass::Protocol {
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
        self.page.push_rows(&rows);
        self.push_stderr("Error", &text);
    }

    /// A message of ralph itself.
    pub(in crate::console) fn own_notice(&mut self, text: &str) {
        let row = self.look.row(Style::Warning, "Notice", text);
        self.page.push_rows(&row);
        self.push_stderr("Notice", text);
    }

    pub(super) fn push_stderr(&mut self, label: &str, text: &str) {
        if !self.options.is_stderr_shared {
            let plain = Look {
                has_colours: false,
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
        let indent = if event.parent.is_some() { INDENT.len() } else { 0 };
        Look {
            columns: self.look.columns.saturating_sub(indent),
            ..self.look
        }
    }

    /// Whole lines. Those of a subagent are indented and never split a text.
    pub(super) fn rows(&mut self, event: &Event, rows: &str) {
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

    /// The agent's process has ended.
    pub(super) fn end_attempt(&mut self) {
        self.flow.finish(&mut self.page);
        self.calls.clear();
        self.open_requests.clear();
        self.ended_tasks.clear();
        self.has_noted_discard = false;
    }
}
