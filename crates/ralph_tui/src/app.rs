//! `App`: the whole state of the terminal UI. Pure: inputs in, effects and screens out.

use std::time::Instant;

use jiff::Timestamp;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use terminal_input::Key;

use crate::bindings::{Action, Context, action_for};
use crate::effect::Effect;
use crate::home::HomeScreen;
use crate::input::Input;
use crate::run::RunScreen;
use crate::theme::Theme;

/// A moment, by both clocks: the one that people read and the one that never jumps.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub at: Timestamp,
    pub instant: Instant,
}

/// The smallest terminal in which anything is drawn.
pub(crate) const MIN_COLUMNS: u16 = 60;
pub(crate) const MIN_ROWS: u16 = 15;

#[derive(Debug)]
pub struct App {
    theme: Theme,
    home: HomeScreen,
    /// The open run. Without one, the home screen is shown.
    run: Option<RunScreen>,
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
        let app = Self {
            theme,
            home: HomeScreen::default(),
            run: run.map(RunScreen::new),
        };
        (app, effects)
    }

    /// Takes an input and says what is to be done.
    pub fn update(&mut self, input: Input, now: Now) -> Vec<Effect> {
        match input {
            Input::Key(key) => self.key(&key, now),
            Input::Runs(runs) => {
                self.home.set_runs(runs);
                Vec::new()
            }
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
            Input::Started { run } => {
                self.run = Some(RunScreen::new(run.clone()));
                vec![Effect::Open { run }]
            }
            Input::Page { .. }
            | Input::Resized { .. }
            | Input::Tick
            | Input::LoadFailed { .. }
            | Input::RunnerGone { .. }
            | Input::Reply(_)
            | Input::Edited { .. }
            | Input::Notice(_) => Vec::new(),
        }
    }

    fn open_run(&mut self, id: &str) -> Option<&mut RunScreen> {
        self.run.as_mut().filter(|run| run.id() == id)
    }

    fn key(&mut self, key: &Key, now: Now) -> Vec<Effect> {
        match &mut self.run {
            Some(run) => match action_for(Context::Run, key) {
                Some(Action::Quit) => vec![Effect::Quit],
                _ => run.key(key, now),
            },
            None => match action_for(Context::Home, key) {
                Some(Action::Quit) => vec![Effect::Quit],
                _ => self.home.key(key, now),
            },
        }
    }

    /// When something on the screen changes by itself; `None` if nothing does.
    #[must_use]
    pub fn next_tick(&self, now: Now) -> Option<Instant> {
        match &self.run {
            Some(run) => run.next_tick(now),
            None => self.home.next_tick(now),
        }
    }

    /// Draws the screen, and says where the cursor stands.
    pub fn render(&mut self, area: Rect, buffer: &mut Buffer, now: Now) -> Option<Position> {
        match &mut self.run {
            Some(run) => run.render(area, buffer, self.theme, now),
            None => self.home.render(area, buffer, self.theme, now),
        }
    }
}
