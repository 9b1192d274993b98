//! `Binding`: the one table of keys. Dispatch, the footer, the help overlay and the docs are made from it.

use terminal_input::Key;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// Everywhere but in text fields and dialogs.
    Anywhere,
    Home,
    Run,
}

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Quit,
    Back,
    Help,
    Redraw,
    Suspend,
    Up,
    Down,
    PageUp,
    PageDown,
    HalfPageUp,
    HalfPageDown,
    Top,
    Bottom,
    Open,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    pub context: Context,
    pub action: Action,
    /// The key as people write it, such as `ctrl-l`.
    pub label: &'static str,
    /// One or two words for the footer.
    pub hint: &'static str,
    /// One sentence for the help overlay.
    pub help: &'static str,
    /// The footer drops hints with a higher number first. `None` is never in the footer.
    pub footer: Option<u8>,
    keys: &'static [Pressed],
}

/// A key in the table: [`Key`] without what has data of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pressed {
    Character(char),
    Control(char),
    Enter,
    Escape,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
    BackTab,
    DeleteToStart,
    EndOfInput,
}

impl Pressed {
    fn is(self, key: &Key) -> bool {
        match (self, key) {
            (Self::Tab, Key::Character('\t')) => true,
            (Self::Character(wanted), Key::Character(typed)) => wanted == *typed,
            (Self::Control(wanted), Key::Control(typed)) => wanted == *typed,
            (Self::Enter, Key::Enter)
            | (Self::Escape, Key::Escape)
            | (Self::Up, Key::Up)
            | (Self::Down, Key::Down)
            | (Self::Left, Key::Left)
            | (Self::Right, Key::Right)
            | (Self::PageUp, Key::PageUp)
            | (Self::PageDown, Key::PageDown)
            | (Self::Home, Key::Home)
            | (Self::End, Key::End)
            | (Self::BackTab, Key::BackTab)
            | (Self::DeleteToStart, Key::DeleteToStart)
            | (Self::EndOfInput, Key::EndOfInput) => true,
            _ => false,
        }
    }
}

/// Every key of the terminal UI. A key has one meaning in a context; a test checks it.
pub const BINDINGS: &[Binding] = &[
    Binding {
        context: Context::Anywhere,
        action: Action::Quit,
        label: "q",
        hint: "quit",
        help: "Leave the terminal UI. Runs continue.",
        footer: Some(0),
        keys: &[Pressed::Character('q')],
    },
    Binding {
        context: Context::Anywhere,
        action: Action::Help,
        label: "?",
        hint: "help",
        help: "Show all keys.",
        footer: Some(1),
        keys: &[Pressed::Character('?')],
    },
];

/// What a key does in a context.
#[must_use]
pub fn action_for(context: Context, key: &Key) -> Option<Action> {
    BINDINGS
        .iter()
        .filter(|binding| binding.context == context || binding.context == Context::Anywhere)
        .find(|binding| binding.keys.iter().any(|pressed| pressed.is(key)))
        .map(|binding| binding.action)
}
