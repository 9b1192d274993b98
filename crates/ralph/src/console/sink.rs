//! The console: what a person sees in the terminal.

use std::io::IsTerminal as _;

use agent_api::Event;
use jiff::{SignedDuration, Timestamp};
use ralph_run::{Record, RunBody, RunEvent, Sink};

use super::hurry::Hurry;
use super::json::render_json;
use super::options::{Mode, Options};
use super::plain::terminal_width;
use super::port::Port;
use super::queue::Gap;
use super::stdio;
use super::style::{Style, paint};
use super::view::View;

/// How often the status line moves: ten times per second at most.
const FRAME: SignedDuration = SignedDuration::from_millis(100);

/// Back to the start of the line, and nothing in it.
const ERASE: &str = "\r\u{1b}[K";

type Clock = Box<dyn Fn() -> Timestamp + Send>;
type Measure = Box<dyn Fn() -> Option<usize> + Send>;

/// Shows a run on stdout and its errors also on stderr. The only thing that writes there.
pub struct Console {
    view: View,
    out: Box<dyn Port + Send>,
    err: Box<dyn Port + Send>,
    clock: Clock,
    width: Measure,
    is_running: bool,
    is_status_shown: bool,
    frame: usize,
    drawn_at: Option<Timestamp>,
    update: String,
}

impl Console {
    /// On the streams of this process. Nothing is left out in a pipe, a file or JSON, however long their reader takes,
    /// until `hurry` is set.
    #[must_use]
    pub fn on_stdio(options: Options, hurry: Hurry) -> Self {
        let gap = if options.mode == Mode::Json {
            Gap::Silent
        } else {
            Gap::Told
        };
        let stdout = stdio::stdout(gap);
        // A terminal may be put on hold and forgotten.
        let may_miss = options.mode != Mode::Json && std::io::stdout().is_terminal();
        let stdout = if may_miss {
            stdout
        } else {
            stdout.patient_until(hurry)
        };
        Self::new(options, stdout, stdio::stderr()).with_width(terminal_width)
    }

    /// On any two streams.
    #[must_use]
    pub fn new(options: Options, out: impl Port + Send + 'static, err: impl Port + Send + 'static) -> Self {
        Self {
            view: View::new(options),
            out: Box::new(out),
            err: Box::new(err),
            clock: Box::new(Timestamp::now),
            width: Box::new(|| None),
            is_running: false,
            is_status_shown: false,
            frame: 0,
            drawn_at: None,
            update: String::new(),
        }
    }

    /// With another clock: a replay's own, or a test's.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Fn() -> Timestamp + Send + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// In a terminal whose width can change: it is asked for again and again.
    #[must_use]
    pub fn with_width(mut self, width: impl Fn() -> Option<usize> + Send + 'static) -> Self {
        self.width = Box::new(width);
        self
    }

    /// Shows a line of our own, at once.
    pub fn notice(&mut self, text: &str) {
        match self.view.options().mode {
            Mode::Quiet => {}
            Mode::Json => self.err.send(&format!("ralph: {text}\n")),
            Mode::Default | Mode::Verbose => {
                self.view.own_notice(text);
                self.show();
            }
        }
    }

    /// Takes the status line away and writes what is left, within a deadline. The destructor does it too.
    pub fn finish(&mut self) {
        self.is_running = false;
        self.show();
        self.erase_status();
        self.out.finish();
        self.err.finish();
    }

    /// Writes what the view has to show, in one piece, with the status line below it if there is one.
    fn show(&mut self) {
        let page = &mut self.view.page;
        if !page.err.is_empty() {
            self.err.send(&page.err);
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
        let has_status = self.drawn_at.is_some();
        if has_status && self.is_running && !self.view.page.is_line_open() {
            self.push_status();
        }
        self.out.send(&self.update);
    }

    fn push_status(&mut self) {
        let options = self.view.options();
        let now = (self.clock)();
        // A line that fills the terminal to its edge would wrap on some.
        let text = self
            .view
            .status
            .render(self.frame, now, options.width.saturating_sub(1));
        paint(&mut self.update, options.has_colours, Style::Faint, &text);
        self.drawn_at = Some(now);
        self.is_status_shown = true;
    }

    fn erase_status(&mut self) {
        if std::mem::take(&mut self.is_status_shown) {
            self.out.send(ERASE);
        }
    }

    fn shows_text(&self) -> bool {
        match self.view.options().mode {
            Mode::Default | Mode::Verbose => true,
            Mode::Quiet | Mode::Json => false,
        }
    }
}

impl Sink for Console {
    fn live(&mut self, event: &Event) {
        if self.shows_text() {
            self.view.apply_live(event);
            self.show();
        }
    }

    fn record(&mut self, record: &Record) {
        match self.view.options().mode {
            Mode::Quiet => {}
            Mode::Json => {
                self.update.clear();
                render_json(record, &mut self.update);
                self.out.send(&self.update);
            }
            Mode::Default | Mode::Verbose => {
                match &record.event {
                    RunEvent::Run(RunBody::RunStarted(_)) => self.is_running = true,
                    RunEvent::Run(RunBody::RunEnded(_)) => self.is_running = false,
                    RunEvent::Run(_) | RunEvent::Agent(_) => {}
                }
                self.view.apply(record);
                self.show();
            }
        }
    }

    fn tick(&mut self) {
        let is_shown = self.is_running && self.shows_text() && self.view.options().is_terminal;
        if is_shown && let Some(width) = (self.width)().filter(|width| *width > 0) {
            self.view.set_width(width);
        }
        if !is_shown || self.view.page.is_line_open() || self.out.is_behind() {
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
            self.update.push('\r');
            self.push_status();
            self.update.push_str("\u{1b}[K");
            self.out.send(&self.update);
        }
    }

    fn is_closed(&self) -> bool {
        self.out.is_closed()
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.finish();
    }
}
