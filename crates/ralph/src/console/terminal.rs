//! `Console`: renders a run's updates and writes them to stdout and stderr. `ConsoleThread` runs it.

use std::io::Write;

use agent_api::Event;
use jiff::{SignedDuration, Timestamp};
use ralph_run::{Record, RunBody, RunEvent, ViewUpdate};

use super::json::render_json;
use super::options::{Mode, Options};
use super::plain::terminal_width;
use super::status::render_status;
use super::stdio::{self, Output};
use super::style::{Style, paint};
use super::view::View;
use crate::current_process;

/// How often the status line moves: ten times per second at most.
const FRAME: SignedDuration = SignedDuration::from_millis(100);

/// Erases from the cursor to the end of the screen: the status line, however a resized terminal has wrapped it.
const ERASE: &str = "\u{1b}[J";

type Clock = Box<dyn Fn() -> Timestamp + Send>;
type Measure = Box<dyn Fn() -> Option<usize> + Send>;

/// Shows a run on stdout and its errors also on stderr. Writing waits for the reader, so it needs a thread of its own
/// wherever something else must not wait.
pub struct Console {
    view: View,
    out: Output,
    err: Output,
    clock: Clock,
    width: Measure,
    /// Whether the reader of stdout is gone, without writing to it.
    is_deserted: fn() -> bool,
    is_running: bool,
    is_status_shown: bool,
    frame: usize,
    drawn_at: Option<Timestamp>,
    update: String,
    exit_code: Option<u8>,
}

impl Console {
    /// On the streams of this process.
    pub fn on_stdio(options: Options) -> Self {
        let mut console = Self::new(options, stdio::stdout(), stdio::stderr()).with_width(terminal_width);
        console.is_deserted = current_process::is_stdout_closed;
        console
    }

    /// On any two streams.
    pub fn new(options: Options, out: impl Write + Send + 'static, err: impl Write + Send + 'static) -> Self {
        Self {
            view: View::new(options),
            out: Output::new(out),
            err: Output::new(err),
            clock: Box::new(Timestamp::now),
            width: Box::new(|| None),
            is_deserted: || false,
            is_running: false,
            is_status_shown: false,
            frame: 0,
            drawn_at: None,
            update: String::new(),
            exit_code: None,
        }
    }

    /// With another clock: a replay's own, or a test's.
    pub fn with_clock(mut self, clock: impl Fn() -> Timestamp + Send + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// In a terminal whose width can change.
    pub fn with_width(mut self, width: impl Fn() -> Option<usize> + Send + 'static) -> Self {
        self.width = Box::new(width);
        self
    }

    /// Shows an update.
    pub fn apply(&mut self, update: &ViewUpdate) {
        match update {
            ViewUpdate::Delta(event) => self.delta(event),
            ViewUpdate::Record(record) => self.record(record),
            ViewUpdate::Damage(damage) => {
                let run = self.view.run_id();
                self.err
                    .write(&format!("ralph: the journal of run {run}: {damage}\n"));
            }
        }
    }

    /// Shows a piece of text at once.
    pub fn delta(&mut self, event: &Event) {
        if self.shows_text() {
            self.view.apply_delta(event);
            self.show();
        }
    }

    /// Shows a record.
    pub fn record(&mut self, record: &Record) {
        match &record.event {
            RunEvent::Run(RunBody::RunStarted(_)) => self.is_running = true,
            RunEvent::Run(RunBody::RunEnded(ended)) => {
                self.is_running = false;
                self.exit_code = Some(ended.exit_code);
            }
            RunEvent::Run(_) | RunEvent::Agent(_) | RunEvent::Unknown(_) => {}
        }
        match self.view.options().mode {
            Mode::Quiet => {}
            Mode::Json => {
                if let Ok(line) = render_json(record) {
                    self.out.write(&line);
                }
            }
            Mode::Default | Mode::Verbose => {
                self.view.apply(record);
                self.show();
            }
        }
    }

    /// The exit code of the run, once its last record was shown.
    pub fn exit_code(&self) -> Option<u8> {
        self.exit_code
    }

    /// Shows a line of our own.
    pub fn notice(&mut self, text: &str) {
        match self.view.options().mode {
            Mode::Quiet => {}
            Mode::Json => self.err.write(&format!("ralph: {text}\n")),
            Mode::Default | Mode::Verbose => {
                self.view.own_notice(text);
                self.show();
            }
        }
    }

    /// Takes the status line away and ends an unfinished line.
    pub fn finish(&mut self) {
        self.is_running = false;
        self.show();
        self.erase_status();
    }

    /// Writes what the view has to show, in one piece, with the status line below it if there is one.
    fn show(&mut self) {
        let page = &mut self.view.page;
        if !page.err.is_empty() {
            self.err.write(&page.err);
            page.err.clear();
        }
        if page.out.is_empty() {
            return;
        }
        self.update.clear();
        if std::mem::take(&mut self.is_status_shown) {
            self.update.push_str(ERASE);
        }
        self.update.push_str(&page.out);
        page.out.clear();
        if self.drawn_at.is_some() && self.is_running {
            self.push_status();
        }
        self.out.write(&self.update);
    }

    /// Draws the status line below the text, and leaves the cursor where the text continues. A line without an end gets
    /// it on the row below, unless the cursor is at the edge, where terminals disagree about its place.
    fn push_status(&mut self) {
        const EDGE: usize = 2;
        let options = self.view.options();
        let now = (self.clock)();
        // A line that fills the terminal to its edge would wrap on some.
        let columns = options.width.saturating_sub(1);
        let text = render_status(&self.view.run, self.frame, now, columns);
        let open_columns = self.view.page.open_columns();
        self.drawn_at = Some(now);
        if open_columns == 0 {
            paint(&mut self.update, options.has_colours, Style::Faint, &text);
            self.update.push('\r');
        } else {
            let column = open_columns % options.width.max(1);
            if column == 0 || column + EDGE > options.width {
                return;
            }
            // Vertical tabs move down and scroll, but keep the column. The first makes room for a row.
            self.update.push_str("\u{b}\u{1b}[A\u{1b}7\u{b}\r");
            paint(&mut self.update, options.has_colours, Style::Faint, &text);
            self.update.push_str("\u{1b}8");
        }
        self.is_status_shown = true;
    }

    fn erase_status(&mut self) {
        if std::mem::take(&mut self.is_status_shown) {
            self.out.write(ERASE);
        }
    }

    fn shows_text(&self) -> bool {
        match self.view.options().mode {
            Mode::Default | Mode::Verbose => true,
            Mode::Quiet | Mode::Json => false,
        }
    }

    /// Some time has passed: draws the status line again.
    pub fn tick(&mut self) {
        if (self.is_deserted)() {
            self.out.close();
        }
        let is_shown = self.is_running && self.shows_text() && self.view.options().is_terminal;
        if is_shown && let Some(width) = (self.width)().filter(|width| *width > 0) {
            self.view.set_width(width);
        }
        if !is_shown {
            return;
        }
        let now = (self.clock)();
        // A clock that was set back must not stop the line.
        let is_due = self
            .drawn_at
            .is_none_or(|drawn_at| now.duration_since(drawn_at).abs() >= FRAME);
        if is_due {
            self.frame = self.frame.wrapping_add(1);
            self.update.clear();
            if std::mem::take(&mut self.is_status_shown) {
                self.update.push_str(ERASE);
            }
            self.push_status();
            self.out.write(&self.update);
        }
    }

    /// Whether nothing reads stdout any more.
    pub fn is_closed(&self) -> bool {
        self.out.is_closed()
    }
}
