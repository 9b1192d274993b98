//! What is known of a run, and the ways to show something.

use agent_api::{Body, ErrorClass, ErrorInfo, Event, Outcome};
use ralph_run::{Record, RunEvent};

use super::calls::Calls;
use super::shown_errors::ShownErrors;
use crate::console::flow::Flow;
use crate::console::one_line::one_line;
use crate::console::options::Options;
use crate::console::page::Page;
use crate::console::paragraph::Pace;
use crate::console::rows::{Look, describe_error};
use crate::console::status::Status;
use crate::console::style::{Style, paint};

/// How far lines of a subagent are indented.
const INDENT: &str = "  ";

/// What a person is shown of a run.
#[derive(Debug)]
pub(in crate::console) struct View {
    pub(super) options: Options,
    pub(super) look: Look,
    pub(in crate::console) page: Page,
    pub(in crate::console) status: Status,
    pub(super) flow: Flow,
    /// Calls that have not ended.
    pub(super) calls: Calls,
    /// `Claude: `, painted.
    pub(super) prefix: String,
    /// `[Thinking] `, painted.
    pub(super) thinking_prefix: String,
    pub(super) workspace: String,
    /// Whether pieces of text come before they are recorded: their records say nothing new then.
    pub(super) is_fed_live: bool,
    pub(super) run_id: String,
    pub(super) model: Option<String>,
    /// What was shown in this iteration: several events tell of the same trouble.
    pub(super) shown_errors: ShownErrors,
    pub(super) has_noted_discard: bool,
    /// Whether it waits for messages.
    pub(super) is_session: bool,
    pub(super) has_told_how_to_send: bool,
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
            status: Status::default(),
            flow: Flow::new(pace),
            calls: Calls::default(),
            prefix: String::new(),
            thinking_prefix: String::new(),
            workspace: String::new(),
            is_fed_live: false,
            run_id: String::new(),
            model: None,
            shown_errors: ShownErrors::default(),
            has_noted_discard: false,
            is_session: false,
            has_told_how_to_send: false,
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

    pub(in crate::console) fn options(&self) -> &Options {
        &self.options
    }

    /// An event as it comes. Only pieces of text are taken from here, the rest when it is recorded.
    pub(in crate::console) fn apply_live(&mut self, event: &Event) {
        if let Body::Delta(delta) = &event.body {
            self.is_fed_live = true;
            self.delta(event, delta);
        }
    }

    pub(in crate::console) fn apply(&mut self, record: &Record) {
        match &record.event {
            RunEvent::Agent(event) => self.agent_event(event),
            RunEvent::Run(body) => self.run_event(record, body),
        }
    }

    pub(super) fn set_speaker(&mut self, name: &str) {
        self.prefix.clear();
        let name = format!("{}:", one_line(name, 40));
        paint(&mut self.prefix, self.options.has_colours, Style::Speaker, &name);
        self.prefix.push(' ');
    }

    pub(super) fn error(&mut self, error: &ErrorInfo) {
        // Lines that cannot be read are counted, and told once.
        if error.class != ErrorClass::Protocol {
            self.error_text(&describe_error(error));
        }
    }

    /// An interrupt is no error, whatever the vendor says about it.
    pub(super) fn outcome_error(&mut self, outcome: Outcome, error: Option<&ErrorInfo>) {
        match outcome {
            Outcome::Interrupted | Outcome::Cancelled => {}
            Outcome::Succeeded
            | Outcome::Failed
            | Outcome::LimitReached(_)
            | Outcome::Refused
            | Outcome::TimedOut
            | Outcome::Stalled
            | Outcome::Crashed
            | Outcome::NoResult
            | Outcome::Lost => {
                if let Some(error) = error {
                    self.error(error);
                }
            }
        }
    }

    /// On both streams, and once if several events tell of it.
    pub(super) fn error_text(&mut self, text: &str) {
        let Some(text) = self.shown_errors.news(text) else {
            return;
        };
        let rows = self.look.rows(Style::Error, "Error", &text);
        self.page.push_rows(&rows);
        self.push_stderr("Error", &text);
    }

    /// What this program has to say by itself.
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

    /// How lines about an event look, as far as they are cut.
    pub(super) fn look_of(&self, event: &Event) -> Look {
        let indent = if event.parent.is_some() { INDENT.len() } else { 0 };
        Look {
            columns: self.look.columns.saturating_sub(indent),
            ..self.look
        }
    }

    /// Whole lines; those of a subagent indented and never in the midst of a text.
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

    /// Nothing more comes from this process.
    pub(super) fn end_attempt(&mut self) {
        self.flow.finish(&mut self.page);
        self.calls.clear();
        self.has_noted_discard = false;
    }
}
