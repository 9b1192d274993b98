//! `Console`: renders a run's updates and writes them to stdout and stderr. `ConsoleThread` runs it.

use std::io::Write;
use std::path::PathBuf;

use agent_api::Event;
use jiff::{SignedDuration, Timestamp};
use ralph_run::model::RunModel;
use ralph_run::{Record, RunBody, RunEvent, ViewUpdate};

use super::footer::{Footer, InputArea};
use super::json::render_json;
use super::options::{Mode, Options};
use super::plain::{terminal_height, terminal_width};
use super::status::{Typing, render_status};
use super::stdio::{self, Output};
use super::style::{Style, paint};
use super::view::View;
use crate::current_process;
use crate::keyboard::KeyboardSession;
use ralph_run::git::Commits;
use run_view::width;

/// How often a run shows that it is alive when it prints nothing else to a pipe.
const HEARTBEAT_INTERVAL: SignedDuration = SignedDuration::from_secs(60);

/// The status line names keys only if this much is left for the rest of it.
const MIN_STATUS_COLUMNS: usize = 45;

/// The height of a terminal that does not tell.
const DEFAULT_ROWS: usize = 24;

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
    /// Whether this process may use the whole terminal. A job in the background only writes text.
    is_in_foreground: fn() -> bool,
    is_running: bool,
    /// The status line appears with the first tick.
    has_ticked: bool,
    footer: Footer,
    input: InputArea,
    /// The keys that the status line names, if there is room.
    hint: String,
    /// Another program uses the terminal.
    is_paused: bool,
    is_background_job: bool,
    update: String,
    /// When something was last written to a pipe.
    written_at: Option<Timestamp>,
    exit_code: Option<u8>,
}

impl Console {
    /// On the streams of this process.
    pub fn on_stdio(options: Options) -> Self {
        let mut console = Self::new(options, stdio::stdout(), stdio::stderr()).with_width(terminal_width);
        console.is_deserted = current_process::is_stdout_closed;
        console.is_in_foreground = terminal_input::is_in_foreground;
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
            is_in_foreground: || true,
            is_running: false,
            has_ticked: false,
            footer: Footer::default(),
            input: InputArea::default(),
            hint: String::new(),
            is_paused: false,
            is_background_job: false,
            update: String::new(),
            written_at: None,
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
            RunEvent::Run(RunBody::Continued(_)) => self.is_paused = false,
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
                self.view.apply(record, (self.clock)());
                self.show();
            }
        }
    }

    /// What to ask git for before this update is shown: the commits of a workspace after one and until a time.
    pub fn wants_commits(&self, update: &ViewUpdate) -> Option<(PathBuf, String, Timestamp)> {
        let ViewUpdate::Record(record) = update else {
            return None;
        };
        let is_end = matches!(record.event, RunEvent::Run(RunBody::RunEnded(_)));
        let is_wanted = is_end && self.shows_text() && self.view.options().asks_git;
        let started = self.view.run.started().filter(|_| is_wanted)?;
        let start = started.start_commit.clone()?;
        Some((PathBuf::from(&started.workspace), start, record.at))
    }

    /// The answer of git, for the end of the run.
    pub fn set_commits(&mut self, commits: Option<Commits>) {
        self.view.commits = commits;
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

    /// The run as far as it was shown.
    pub(super) fn run(&self) -> &RunModel {
        &self.view.run
    }

    /// Takes the status line away until [`Self::resume`].
    pub(super) fn pause(&mut self) {
        self.is_paused = true;
        self.redraw();
    }

    pub(super) fn resume(&mut self) {
        self.is_paused = false;
        self.is_background_job = !(self.is_in_foreground)();
        self.redraw();
    }

    /// Shows what is typed below the status line, and which keys work.
    pub(super) fn draw_input(&mut self, keyboard: &mut KeyboardSession) {
        let width = self.view.options().width;
        let columns = width.saturating_sub(1);
        // Below a line of text and the status line.
        let height = terminal_height();
        keyboard.resize(width, height.unwrap_or(DEFAULT_ROWS));
        let rows = height.map_or(usize::MAX, |rows| rows.saturating_sub(2).max(1));
        let (input, hint) = keyboard.render((columns, rows));
        if input != self.input || hint != self.hint {
            self.hint = hint;
            self.set_input(input);
        }
    }

    /// Shows what is typed below the status line. Only a terminal has a place for it.
    pub fn set_input(&mut self, input: InputArea) {
        self.input = input;
        self.redraw();
    }

    fn redraw(&mut self) {
        self.update.clear();
        self.push_footer();
        self.out.write(&self.update);
    }

    /// Takes the status line away and ends an unfinished line.
    pub fn finish(&mut self) {
        self.is_running = false;
        if self.shows_text() {
            self.view.finish();
        }
        self.show();
        self.update.clear();
        self.footer.erase(&mut self.update);
        self.out.write(&self.update);
    }

    /// Writes what the view has to show, in one piece, with the footer below it if there is one.
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
        self.written_at = Some((self.clock)());
        self.footer.push_text(&page.out, &mut self.update);
        page.out.clear();
        self.push_footer();
        self.out.write(&self.update);
    }

    fn push_footer(&mut self) {
        if !self.has_footer() {
            self.footer.erase(&mut self.update);
            return;
        }
        let options = self.view.options();
        // A line that fills the terminal to its edge would wrap on some.
        let columns = options.width.saturating_sub(1);
        let hint = match self.hint.as_str() {
            "" => String::new(),
            hint => format!(" · {hint}"),
        };
        let room = columns.saturating_sub(width(&hint));
        let now = (self.clock)();
        let typing = match options.has_keyboard {
            true => Typing::Here,
            false => Typing::Elsewhere,
        };
        let text = if hint.is_empty() || room < MIN_STATUS_COLUMNS {
            render_status(&self.view.run, now, columns, typing)
        } else {
            format!("{}{hint}", render_status(&self.view.run, now, room, typing))
        };
        let mut status = String::new();
        paint(&mut status, options.has_colours, Style::Faint, &text);
        let is_line_open = self.view.page.is_line_open();
        // While a text is streamed, the next piece of it fills the gap.
        let has_gap = self.footer.leaves_gap(is_line_open) && !self.view.is_text_open();
        if has_gap || !self.footer.shows(&status, &self.input) {
            self.footer
                .draw(&status, &self.input, is_line_open, &mut self.update);
        }
    }

    fn has_footer(&self) -> bool {
        self.is_running
            && self.has_ticked
            && !self.is_paused
            && !self.is_background_job
            && self.shows_text()
            && self.view.options().is_terminal
    }

    fn shows_text(&self) -> bool {
        match self.view.options().mode {
            Mode::Default | Mode::Verbose => true,
            Mode::Quiet | Mode::Json => false,
        }
    }

    /// Some time has passed: the clock of the status line moves.
    pub fn tick(&mut self) {
        if (self.is_deserted)() {
            self.out.close();
        }
        self.has_ticked = true;
        self.is_background_job = !(self.is_in_foreground)();
        if !self.is_running || !self.shows_text() {
            return;
        }
        let now = (self.clock)();
        self.view.tick(now);
        if !self.view.options().is_terminal {
            self.beat(now);
            self.show();
            return;
        }
        let is_resized = self.follow_width();
        if self.view.page.out.is_empty() {
            self.update.clear();
            if is_resized {
                self.footer.erase(&mut self.update);
            }
            self.push_footer();
            self.out.write(&self.update);
        } else {
            self.show();
        }
    }

    /// Whether the terminal has another width now: it may have moved what it showed.
    fn follow_width(&mut self) -> bool {
        let width = (self.width)().filter(|width| *width > 0);
        let is_resized = width.is_some_and(|width| width != self.view.options().width);
        if let Some(width) = width {
            self.view.set_width(width);
        }
        is_resized
    }

    /// Shows once a minute that a run without a status line is alive.
    fn beat(&mut self, now: Timestamp) {
        let written_at = *self.written_at.get_or_insert(now);
        // A clock that was set back must not stop it.
        if now.duration_since(written_at).abs() >= HEARTBEAT_INTERVAL {
            self.view.heartbeat(now);
        }
    }

    /// Whether nothing reads stdout any more.
    pub fn is_closed(&self) -> bool {
        self.out.is_closed()
    }
}
