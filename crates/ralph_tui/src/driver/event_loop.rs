//! `EventLoop`: gives inputs to `App`, and draws it when something has changed.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ralph_run::Home;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use terminal_input::{Key, TerminalControl, TerminalOutput, terminal_size};
use tokio::sync::mpsc;
use tokio::time::sleep_until;

use super::commands::CommandSender;
use super::effects::Report;
use super::screen::FrameWriter;
use super::signals::Signal;
use super::{Actions, Exit, Start, TuiOptions, run_scanner};
use crate::app::{App, MIN_COLUMNS, MIN_ROWS, Now};
use crate::effect::Effect;
use crate::input::Input;
use crate::theme::Theme;

/// Least time between frames that no key caused.
const FRAME_INTERVAL: Duration = Duration::from_millis(16);
/// Frames after a key are shown sooner.
const KEY_FRAME_INTERVAL: Duration = Duration::from_millis(4);
/// Deadlines of the screen are at least this far apart.
const MIN_TICK_INTERVAL: Duration = Duration::from_millis(10);
/// No screen is larger, whatever the terminal says.
const MAX_COLUMNS: u16 = 1_000;
const MAX_ROWS: u16 = 500;
/// Commands that were just sent are waited for this long when the user leaves.
const SETTLE_TIME: Duration = Duration::from_secs(1);
const FALLBACK_SIZE: (u16, u16) = (80, 24);

pub(super) struct EventLoop {
    pub(super) home: Home,
    pub(super) actions: Arc<dyn Actions>,
    pub(super) terminal: TerminalControl,
    pub(super) output: TerminalOutput,
    pub(super) writer: FrameWriter,
    pub(super) commands: CommandSender,
    pub(super) reports: mpsc::UnboundedSender<Report>,
    /// Whether another program has the terminal now, such as an editor.
    pub(super) is_terminal_away: bool,
    pub(super) open_run: Option<String>,
    /// Records of the open run, as they are read.
    pub(super) loader: Option<mpsc::Receiver<Input>>,
    /// Whether the list of runs is refreshed.
    pub(super) wants_runs: std::sync::mpsc::Sender<bool>,
    app: App,
    size: (u16, u16),
    received: Received,
    first_effects: Vec<Effect>,
    frame: FrameClock,
    tick_at: Option<Instant>,
    ticked_at: Instant,
}

struct Received {
    reports: mpsc::UnboundedReceiver<Report>,
    replies: mpsc::UnboundedReceiver<Input>,
    runs: mpsc::Receiver<Input>,
}

/// When the next frame is due.
#[derive(Debug, Default)]
struct FrameClock {
    drawn_at: Option<Instant>,
    /// When the last frame was drawn that a key had asked for.
    key_drawn_at: Option<Instant>,
    due_at: Option<Instant>,
    is_for_key: bool,
}

/// What a frame is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameCause {
    /// The user did something. Such a frame waits for others of its kind only, not for what runs have written.
    Key,
    Other,
}

impl FrameClock {
    /// Something has changed.
    fn request(&mut self, now: Instant, cause: FrameCause) {
        let (before, interval) = match cause {
            FrameCause::Key => (self.key_drawn_at, KEY_FRAME_INTERVAL),
            FrameCause::Other => (self.drawn_at, FRAME_INTERVAL),
        };
        let due = before.map_or(now, |drawn| now.max(drawn + interval));
        self.due_at = Some(self.due_at.map_or(due, |earlier| earlier.min(due)));
        self.is_for_key |= cause == FrameCause::Key;
    }

    fn note_drawn(&mut self, now: Instant) {
        self.drawn_at = Some(now);
        if std::mem::take(&mut self.is_for_key) {
            self.key_drawn_at = Some(now);
        }
        self.due_at = None;
    }
}

/// What woke the loop.
enum Event {
    Signal(Signal),
    Keys(Option<Vec<Key>>),
    Flushed(io::Result<()>),
    Report(Report),
    Input(Input),
    LoaderEnded,
    Deadline,
}

impl EventLoop {
    pub(super) fn new(options: &TuiOptions, theme: Theme, terminal: TerminalControl) -> io::Result<Self> {
        let (replies_sender, replies) = mpsc::unbounded_channel();
        let (reports_sender, reports) = mpsc::unbounded_channel();
        let (runs, wants_runs) = run_scanner::watch(options.home.clone())?;
        let run = match &options.start {
            Start::Home => {
                // It lives as long as this loop.
                let _ = wants_runs.send(true);
                None
            }
            Start::Run(run) => Some(run.clone()),
        };
        let (mut app, first_effects) = App::new(theme, run);
        app.set_workspace(options.workspace.display().to_string());
        app.set_keymap(options.keymap.clone());
        app.set_mouse(options.mouse, options.selection_modifier);
        if options.scheme.is_none() {
            app.follow_background();
        }
        Ok(Self {
            home: options.home.clone(),
            actions: Arc::clone(&options.actions),
            terminal,
            output: TerminalOutput::open()?,
            writer: FrameWriter::new(),
            commands: CommandSender::new(options.home.clone(), replies_sender),
            reports: reports_sender,
            is_terminal_away: false,
            open_run: None,
            loader: None,
            wants_runs,
            app,
            size: current_size(),
            received: Received {
                reports,
                replies,
                runs,
            },
            first_effects,
            frame: FrameClock::default(),
            tick_at: None,
            ticked_at: Instant::now(),
        })
    }

    /// Runs until the user leaves or the terminal is gone.
    pub(super) async fn run(
        mut self,
        keys: mpsc::Receiver<Vec<Key>>,
        signals: mpsc::UnboundedReceiver<Signal>,
    ) -> Exit {
        let mut exit = self.run_to_exit(keys, signals).await;
        if let Exit::Left { problems, .. } = &mut exit {
            let replies = &mut self.received.replies;
            *problems = self.commands.settle(replies, SETTLE_TIME).await;
        }
        exit
    }

    async fn run_to_exit(
        &mut self,
        mut keys: mpsc::Receiver<Vec<Key>>,
        mut signals: mpsc::UnboundedReceiver<Signal>,
    ) -> Exit {
        let effects = std::mem::take(&mut self.first_effects);
        if let Some(exit) = self.perform_all(effects) {
            return exit;
        }
        let (columns, rows) = self.size;
        if let Some(exit) = self.update(Input::Resized { columns, rows }, FrameCause::Other) {
            return exit;
        }
        loop {
            let now = Instant::now();
            if self.tick_at.is_some_and(|due| due <= now) {
                self.ticked_at = now;
                if let Some(exit) = self.update(Input::Tick, FrameCause::Other) {
                    return exit;
                }
            }
            if self.can_draw() && self.frame.due_at.is_some_and(|due| due <= now) && !self.draw(now) {
                return Exit::TerminalClosed;
            }
            let exit = match self.next_event(&mut keys, &mut signals).await {
                Event::Signal(signal) => self.signal(signal),
                Event::Keys(Some(keys)) => self.keys(keys),
                Event::Keys(None) | Event::Flushed(Err(_)) => Some(Exit::TerminalClosed),
                Event::Flushed(Ok(())) | Event::Deadline => None,
                Event::Report(report) => self.report(report),
                Event::Input(input) => {
                    if let Input::Reply(reply) = &input {
                        self.commands.note_reply(reply);
                    }
                    self.update(input, FrameCause::Other)
                }
                Event::LoaderEnded => {
                    self.loader = None;
                    None
                }
            };
            if let Some(exit) = exit {
                return exit;
            }
        }
    }

    /// Keys come before everything that a run writes.
    async fn next_event(
        &mut self,
        keys: &mut mpsc::Receiver<Vec<Key>>,
        signals: &mut mpsc::UnboundedReceiver<Signal>,
    ) -> Event {
        let frame_at = self.frame.due_at.filter(|_| self.can_draw());
        let deadline = frame_at.into_iter().chain(self.tick_at).min();
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => Event::Signal(signal),
            keys = keys.recv() => Event::Keys(keys),
            flushed = self.output.flush(), if self.output.is_pending() => Event::Flushed(flushed),
            Some(report) = self.received.reports.recv() => Event::Report(report),
            Some(reply) = self.received.replies.recv() => Event::Input(reply),
            () = sleep_until(deadline.unwrap_or_else(Instant::now).into()), if deadline.is_some() => Event::Deadline,
            input = next_of(&mut self.loader), if self.loader.is_some() => match input {
                Some(input) => Event::Input(input),
                None => Event::LoaderEnded,
            },
            Some(runs) = self.received.runs.recv() => Event::Input(runs),
        }
    }

    fn can_draw(&self) -> bool {
        !self.is_terminal_away && !self.output.is_pending() && self.terminal.is_held()
    }

    /// Draws the screen. `false` if the terminal is gone.
    fn draw(&mut self, at: Instant) -> bool {
        let (columns, rows) = self.size;
        let area = Rect::new(0, 0, columns, rows);
        let mut buffer = Buffer::empty(area);
        let now = Now::current();
        let cursor = self.app.render(area, &mut buffer, now);
        self.frame.note_drawn(at);
        // What was drawn for the first time, such as a request, may have set a deadline.
        self.schedule_tick(now);
        let cursor: Option<Position> = cursor.filter(|place| area.contains(*place));
        let frame = self.writer.render(buffer, cursor, &self.app.title());
        frame.is_ok_and(|bytes| bytes.is_empty() || self.output.write(&bytes).is_ok())
    }

    /// Gives an input to the app and does what it wants. The exit, if it wants to end.
    pub(super) fn update(&mut self, input: Input, cause: FrameCause) -> Option<Exit> {
        let now = Now::current();
        let effects = self.app.update(input, now);
        self.frame.request(now.instant, cause);
        self.schedule_tick(now);
        self.perform_all(effects)
    }

    fn schedule_tick(&mut self, now: Now) {
        let earliest = self.ticked_at + MIN_TICK_INTERVAL;
        self.tick_at = self.app.next_tick(now).map(|due| due.max(earliest));
    }

    fn perform_all(&mut self, effects: Vec<Effect>) -> Option<Exit> {
        effects.into_iter().find_map(|effect| self.perform(effect))
    }

    fn keys(&mut self, keys: Vec<Key>) -> Option<Exit> {
        for key in keys {
            if key == Key::Control('z') {
                // Everywhere, also where every key is text.
                if let Some(exit) = self.suspend() {
                    return Some(exit);
                }
                continue;
            }
            if is_too_small(self.size) {
                // Another key would act on a screen that is not shown.
                if matches!(key, Key::Character('q') | Key::Control('c')) {
                    return Some(self.leave());
                }
                continue;
            }
            let cause = match key {
                Key::Mouse(_) => FrameCause::Other,
                _ => FrameCause::Key,
            };
            if let Some(exit) = self.update(Input::Key(key), cause) {
                return Some(exit);
            }
        }
        None
    }

    fn signal(&mut self, signal: Signal) -> Option<Exit> {
        match signal {
            Signal::End(number) => Some(Exit::Signalled(number)),
            // It is for the program that has the terminal.
            Signal::Interrupt(_) if self.is_terminal_away => None,
            Signal::Interrupt(number) => Some(Exit::Signalled(number)),
            Signal::Resized => self.take_size(),
            Signal::Continued if self.is_terminal_away => None,
            Signal::Continued => self.take_back(),
        }
    }

    fn report(&mut self, report: Report) -> Option<Exit> {
        match report {
            Report::Input(input) => self.update(input, FrameCause::Other),
            Report::TerminalReturned(input) => {
                self.is_terminal_away = false;
                let exit = self.take_back();
                exit.or_else(|| self.update(input?, FrameCause::Other))
            }
            Report::TranscriptReady { run, reader, text } => {
                self.show_transcript(&run, reader, text);
                None
            }
        }
    }

    /// Tells the app the terminal's size, if it has changed.
    fn take_size(&mut self) -> Option<Exit> {
        let size = current_size();
        if size == self.size {
            return None;
        }
        self.size = size;
        let (columns, rows) = size;
        // Until it is drawn, the terminal shows broken rows.
        self.update(Input::Resized { columns, rows }, FrameCause::Key)
    }

    /// Sets the terminal's mode again, and draws everything.
    pub(super) fn take_back(&mut self) -> Option<Exit> {
        self.terminal.resume();
        self.redraw();
        let exit = self.take_size();
        exit.or_else(|| self.update(Input::Resumed, FrameCause::Key))
    }

    pub(super) fn redraw(&mut self) {
        self.output.discard();
        self.writer.forget();
        self.frame.due_at = Some(Instant::now());
    }

    /// The user leaves.
    pub(super) fn leave(&self) -> Exit {
        Exit::Left {
            open_run: self.app.continuing_run().map(str::to_owned),
            problems: Vec::new(),
        }
    }
}

/// Never resolves without a loader.
async fn next_of(loader: &mut Option<mpsc::Receiver<Input>>) -> Option<Input> {
    match loader {
        Some(loader) => loader.recv().await,
        None => std::future::pending().await,
    }
}

fn current_size() -> (u16, u16) {
    let (columns, rows) = terminal_size().unwrap_or(FALLBACK_SIZE);
    (columns.min(MAX_COLUMNS), rows.min(MAX_ROWS))
}

fn is_too_small((columns, rows): (u16, u16)) -> bool {
    columns < MIN_COLUMNS || rows < MIN_ROWS
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{FrameCause, FrameClock};

    #[test]
    fn frames_are_coalesced_and_keys_are_shown_sooner() {
        let start = Instant::now();
        let after = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut clock = FrameClock::default();
        clock.request(start, FrameCause::Other);
        assert_eq!(clock.due_at, Some(start));
        clock.note_drawn(start);
        assert_eq!(clock.due_at, None);
        clock.request(after(1), FrameCause::Other);
        clock.request(after(2), FrameCause::Other);
        assert_eq!(clock.due_at, Some(after(16)));
        // What a run wrote a moment ago does not delay a key.
        clock.request(after(3), FrameCause::Key);
        assert_eq!(clock.due_at, Some(after(3)));
        clock.note_drawn(after(3));
        clock.request(after(5), FrameCause::Key);
        assert_eq!(clock.due_at, Some(after(7)));
        clock.request(after(6), FrameCause::Other);
        assert_eq!(clock.due_at, Some(after(7)));
        clock.note_drawn(after(7));
        clock.request(after(100), FrameCause::Other);
        assert_eq!(clock.due_at, Some(after(100)));
    }
}
