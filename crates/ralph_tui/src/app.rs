//! `App`: the whole state of the terminal UI. Pure: inputs in, effects and screens out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use run_view::one_line;
use terminal_input::Key;

use crate::bindings::{Action, Context, Keymap};
use crate::dialog::{HelpDialog, PageDialog};
use crate::effect::Effect;
use crate::home::HomeScreen;
use crate::input::{Input, MouseMode, Reply};
use crate::notice::Notice;
use crate::pointer::{Pointer, PointerEvent};
use crate::run::RunScreen;
use crate::theme::{Role, Theme};
use crate::widgets::put;

/// A moment, by both clocks: the one that people read and the one that never jumps.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub at: Timestamp,
    pub instant: Instant,
}

/// The smallest terminal in which anything is drawn.
pub(crate) const MIN_COLUMNS: u16 = 60;
pub(crate) const MIN_ROWS: u16 = 15;

/// A second Ctrl-C leaves within this time.
const LEAVE_TIME: Duration = Duration::from_secs(1);
/// How often clocks of a window without focus are drawn.
const SLOW_CLOCK: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct App {
    theme: Theme,
    home: HomeScreen,
    /// The open run. Without one, the home screen is shown.
    run: Option<RunScreen>,
    reader: Option<Reader>,
    keymap: Arc<Keymap>,
    pointer: Pointer,
    /// What selects text while the mouse is ours, such as `shift`.
    selection_modifier: &'static str,
    /// Whether the theme follows the terminal's background.
    follows_background: bool,
    notice: Option<Notice>,
    /// Until when another Ctrl-C leaves.
    leave_until: Option<Instant>,
}

/// How often clocks are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockRate {
    EverySecond,
    /// The window is not focused.
    Slow,
}

impl ClockRate {
    pub(crate) fn at_least(self, time: Duration) -> Duration {
        match self {
            Self::EverySecond => time,
            Self::Slow => time.max(SLOW_CLOCK),
        }
    }
}

/// A text that covers either screen until it is closed.
#[derive(Debug)]
enum Reader {
    Help(HelpDialog),
    Page(PageDialog),
}

impl Now {
    /// This moment.
    #[must_use]
    pub fn current() -> Self {
        Self {
            at: Timestamp::now(),
            instant: Instant::now(),
        }
    }
}

impl App {
    /// Starts on the home screen, or in a run.
    #[must_use]
    pub fn new(theme: Theme, run: Option<String>) -> (Self, Vec<Effect>) {
        let effects = run.iter().map(|run| Effect::Open { run: run.clone() }).collect();
        let keymap = Arc::<Keymap>::default();
        let app = Self {
            theme,
            home: HomeScreen::default(),
            run: run.map(|run| RunScreen::new(run, Arc::clone(&keymap))),
            reader: None,
            keymap,
            pointer: Pointer::default(),
            selection_modifier: "shift",
            follows_background: false,
            notice: None,
            leave_until: None,
        };
        (app, effects)
    }

    /// Where the user is: the workspace of new runs and of the filter.
    pub fn set_workspace(&mut self, workspace: String) {
        self.home.set_workspace(workspace);
    }

    /// Uses these keys. To be called before anything else.
    pub fn set_keymap(&mut self, keymap: Keymap) {
        self.keymap = Arc::new(keymap);
        self.home.set_keymap(Arc::clone(&self.keymap));
        if let Some(run) = &mut self.run {
            run.keymap = Arc::clone(&self.keymap);
        }
    }

    /// What the mouse is used for, and the key that selects text while it is ours.
    pub fn set_mouse(&mut self, mode: MouseMode, selection_modifier: &'static str) {
        self.pointer.mode = mode;
        self.selection_modifier = selection_modifier;
    }

    /// Changes between dark and light with the terminal.
    pub fn follow_background(&mut self) {
        self.follows_background = true;
    }

    /// The open run, if it has not ended: what to say when the user leaves.
    #[must_use]
    pub fn continuing_run(&self) -> Option<&str> {
        let run = self.run.as_ref().filter(|run| !run.has_ended());
        run.map(RunScreen::id)
    }

    /// The title of the terminal window.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.run {
            Some(run) => one_line(&format!("{} · ralph", run.title()), 80),
            None => "ralph".to_owned(),
        }
    }

    #[cfg(test)]
    pub(crate) fn theme(&self) -> Theme {
        self.theme
    }

    #[cfg(test)]
    pub(crate) fn run_mut(&mut self) -> Option<&mut RunScreen> {
        self.run.as_mut()
    }

    /// Takes an input and says what is to be done.
    pub fn update(&mut self, input: Input, now: Now) -> Vec<Effect> {
        let effects = match input {
            Input::Key(key) => self.key(&key, now),
            Input::Runs(runs) => self.home.set_runs(runs, now),
            Input::UnreadableRuns(count) => {
                self.home.set_unreadable(count);
                Vec::new()
            }
            Input::Preview { run, model } => self.home.set_preview(&run, model, now),
            Input::PreviewFailed { run, reason } => {
                self.home.preview_failed(&run, &reason, now);
                Vec::new()
            }
            Input::Started(result) => self.started(result),
            Input::Tail(loaded) | Input::Loaded(loaded) => {
                if let Some(run) = self.open_run(&loaded.run) {
                    run.set_loaded(*loaded, now);
                }
                Vec::new()
            }
            Input::Updates { run, updates } => {
                if let Some(run) = self.open_run(&run) {
                    run.apply(updates, now);
                }
                Vec::new()
            }
            Input::LoadFailed { run, reason } => {
                if let Some(run) = self.open_run(&run) {
                    run.load_failed(&reason);
                }
                Vec::new()
            }
            Input::RunnerGone { run } => {
                if let Some(run) = self.open_run(&run) {
                    run.runner_gone();
                }
                Vec::new()
            }
            Input::Reply(reply) => {
                self.reply(&reply, now);
                Vec::new()
            }
            Input::Page { title, text } => {
                self.reader = Some(Reader::Page(PageDialog::new(&title, &text)));
                Vec::new()
            }
            Input::Edited { text } => match &mut self.run {
                Some(run) => run.edited(text, now),
                None => self.home.edited(text, now),
            },
            Input::Notice(text) => {
                self.show_notice(&text, now);
                Vec::new()
            }
            Input::Resized { columns, .. } => self.home.resized(columns, now),
            Input::Resumed => {
                self.leave_until = None;
                // It was about what has been done meanwhile.
                self.notice = None;
                match &mut self.run {
                    Some(run) => run.rearm(now),
                    None => self.home.rearm(now),
                }
                Vec::new()
            }
            Input::Tick if self.run.is_none() => self.home.tick(now),
            Input::Tick => {
                if let Some(run) = &mut self.run {
                    run.tick(now);
                }
                Vec::new()
            }
        };
        self.expire(now);
        let of_home = self.home.take_notice();
        let of_run = self.run.as_mut().and_then(RunScreen::take_notice);
        if let Some(text) = of_run.or(of_home) {
            self.show_notice(&text, now);
        }
        self.follow(effects)
    }

    /// A new run is opened where it was asked for. A user who has opened something else only gets a notice.
    fn started(&mut self, result: Result<String, String>) -> Vec<Effect> {
        let is_shown = self.run.is_none() && self.reader.is_none();
        let run = result.clone().unwrap_or_default();
        match self.home.started(result, is_shown) {
            true => vec![Effect::Open { run }],
            false => Vec::new(),
        }
    }

    fn open_run(&mut self, id: &str) -> Option<&mut RunScreen> {
        self.run.as_mut().filter(|run| run.id() == id)
    }

    /// Switches screens as the effects say.
    fn follow(&mut self, effects: Vec<Effect>) -> Vec<Effect> {
        for effect in &effects {
            match effect {
                Effect::Open { run } => {
                    self.run = Some(RunScreen::new(run.clone(), Arc::clone(&self.keymap)));
                }
                Effect::Close => self.run = None,
                _ => {}
            }
        }
        effects
    }

    fn reply(&mut self, reply: &Reply, now: Now) {
        match self.open_run(&reply.run) {
            Some(run) => run.reply(reply, now),
            None => self.home.reply(reply),
        }
    }

    fn show_notice(&mut self, text: &str, now: Now) {
        self.notice = Notice::new(text, now.instant);
    }

    fn expire(&mut self, now: Now) {
        if self
            .notice
            .as_ref()
            .is_some_and(|notice| notice.until <= now.instant)
        {
            self.notice = None;
        }
        if self.leave_until.is_some_and(|until| until <= now.instant) {
            self.leave_until = None;
        }
    }

    fn key(&mut self, key: &Key, now: Now) -> Vec<Effect> {
        if let Some(event) = self.pointer.key(key, now.instant) {
            return event.map_or_else(Vec::new, |event| self.point(event, now));
        }
        if let Key::Background(background) = key {
            if self.follows_background {
                self.theme = self.theme.on(*background);
            }
            return Vec::new();
        }
        if *key == Key::Control('c') {
            return self.control_c(now);
        }
        self.leave_until = None;
        // A notice is about what was done before. Keys that are dropped were typed before it was seen.
        if !self.run.as_ref().is_some_and(|run| run.drops_keys(now)) {
            self.notice = None;
        }
        if let Some(reader) = &mut self.reader {
            let is_open = match reader {
                Reader::Help(help) => help.key(key, &self.keymap),
                Reader::Page(page) => page.key(key, &self.keymap),
            };
            if !is_open {
                self.reader = None;
            }
            if let Some(run) = &mut self.run {
                run.rearm(now);
            }
            return Vec::new();
        }
        let (context, takes_all_keys) = match &self.run {
            Some(run) => (Context::Run, run.takes_all_keys(now)),
            None => (Context::Home, self.home.has_dialog()),
        };
        let action = self.keymap.action(context, key).filter(|_| !takes_all_keys);
        match action {
            Some(Action::Quit) => return vec![Effect::Quit],
            Some(Action::Redraw) => return vec![Effect::Redraw],
            Some(Action::Suspend) => return vec![Effect::Suspend],
            Some(Action::ToggleMouse) => return self.toggle_mouse(now),
            Some(Action::Help) => {
                self.reader = Some(Reader::Help(HelpDialog::new(context)));
                return Vec::new();
            }
            _ => {}
        }
        match &mut self.run {
            Some(run) => run.key(key, now),
            None => self.home.key(key, now),
        }
    }

    /// The mouse did something.
    fn point(&mut self, event: PointerEvent, now: Now) -> Vec<Effect> {
        let place = |mouse: terminal_input::Mouse| Position::new(mouse.column, mouse.row);
        match (event, &mut self.reader, &mut self.run) {
            (PointerEvent::Drag, ..) => {
                let modifier = self.selection_modifier;
                let text =
                    format!("hold {modifier} to select text, or press S to leave the mouse to the terminal");
                self.show_notice(&text, now);
            }
            (PointerEvent::Wheel(rows, _), Some(Reader::Help(help)), _) => help.wheel(rows),
            (PointerEvent::Wheel(rows, _), Some(Reader::Page(page)), _) => page.wheel(rows),
            (PointerEvent::Click(_), Some(_), _) => {}
            (PointerEvent::Wheel(rows, mouse), None, Some(run)) => run.wheel(rows, place(mouse)),
            (PointerEvent::Click(mouse), None, Some(run)) => run.click(place(mouse)),
            (PointerEvent::Wheel(rows, _), None, None) => return self.home.wheel(rows, now),
            (PointerEvent::Click(mouse), None, None) => return self.home.click(place(mouse), now),
        }
        Vec::new()
    }

    fn toggle_mouse(&mut self, now: Now) -> Vec<Effect> {
        let (mode, text) = match self.pointer.mode {
            MouseMode::Full => (
                MouseMode::Wheel,
                "mouse: wheel only; select text as usual".to_owned(),
            ),
            MouseMode::Wheel => (MouseMode::Off, "mouse: off".to_owned()),
            MouseMode::Off => (
                MouseMode::Full,
                format!("mouse: on; hold {} to select text", self.selection_modifier),
            ),
        };
        self.pointer.mode = mode;
        self.show_notice(&text, now);
        vec![Effect::SetMouse(mode)]
    }

    /// Cancels a field or a dialog; otherwise the second one within a second leaves.
    fn control_c(&mut self, now: Now) -> Vec<Effect> {
        let was_open = match &mut self.run {
            _ if self.reader.take().is_some() => true,
            Some(run) => run.cancel(now),
            None => self.home.cancel(now),
        };
        if was_open {
            self.leave_until = None;
            return Vec::new();
        }
        if self.leave_until.is_some_and(|until| now.instant < until) {
            return vec![Effect::Quit];
        }
        self.leave_until = Some(now.instant + LEAVE_TIME);
        let text = match (&self.run, self.continuing_run()) {
            (None, _) => "press Ctrl-C again within 1 s to leave; runs continue",
            (Some(_), Some(_)) => "press Ctrl-C again within 1 s to leave; the run continues",
            (Some(_), None) => "press Ctrl-C again within 1 s to leave",
        };
        self.notice = Notice::lasting(text, now.instant + LEAVE_TIME);
        Vec::new()
    }

    /// When something on the screen changes by itself; `None` if nothing does.
    #[must_use]
    pub fn next_tick(&self, now: Now) -> Option<Instant> {
        let clock = match self.pointer.is_unfocused() {
            true => ClockRate::Slow,
            false => ClockRate::EverySecond,
        };
        let screen = match &self.run {
            Some(run) => run.next_tick(now, clock),
            None => self.home.next_tick(now, clock),
        };
        let notice = self.notice.as_ref().map(|notice| notice.until);
        screen.into_iter().chain(notice).min()
    }

    /// Draws the screen, and says where the cursor stands.
    pub fn render(&mut self, area: Rect, buffer: &mut Buffer, now: Now) -> Option<Position> {
        if area.width < MIN_COLUMNS || area.height < MIN_ROWS {
            let text = format!(
                "The terminal is too small: {}×{}, ralph needs {MIN_COLUMNS}×{MIN_ROWS}. Enlarge it, or press q to leave; runs continue.",
                area.width, area.height
            );
            let text = run_view::wrap(&text, 0, usize::from(area.width));
            for (row, line) in (0..).zip(text.lines()) {
                put(buffer, area, row, line, self.theme.style(Role::Warning));
            }
            return None;
        }
        let notice = self.notice.as_ref().filter(|notice| now.instant < notice.until);
        let notice_rows = notice.map_or(0, |notice| notice.extra_rows(area.width));
        let screen = Rect {
            height: area.height - notice_rows,
            ..area
        };
        let mut cursor = match &mut self.run {
            Some(run) => run.render(screen, buffer, self.theme, now),
            None => self.home.render(screen, buffer, self.theme, now),
        };
        if let Some(reader) = &mut self.reader {
            match reader {
                Reader::Help(help) => help.render(&self.keymap, screen, buffer, self.theme),
                Reader::Page(page) => page.render(&self.keymap, screen, buffer, self.theme),
            }
            cursor = None;
        }
        if let Some(notice) = notice {
            notice.render(area, buffer, self.theme);
        }
        cursor
    }
}
