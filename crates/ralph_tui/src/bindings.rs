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
    // The home screen.
    NewRun,
    StopSelected,
    ResumeSelected,
    ForkSelected,
    BrowseSelected,
    AnswerSelected,
    Snooze,
    EditFilter,
    NextStateGroup,
    ToggleWorkspace,
    ClearFilter,
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
    // The home screen.
    Binding {
        context: Context::Home,
        action: Action::Open,
        label: "enter",
        hint: "open",
        help: "Open the selected run.",
        footer: Some(2),
        keys: &[Pressed::Enter, Pressed::Right, Pressed::Character('l')],
    },
    Binding {
        context: Context::Home,
        action: Action::AnswerSelected,
        label: "y",
        hint: "answer",
        help: "Show the permission request of the selected run and answer it.",
        footer: Some(3),
        keys: &[Pressed::Character('y'), Pressed::Character('n')],
    },
    Binding {
        context: Context::Home,
        action: Action::NewRun,
        label: "c",
        hint: "new run",
        help: "Describe and start a run.",
        footer: Some(4),
        keys: &[Pressed::Character('c')],
    },
    Binding {
        context: Context::Home,
        action: Action::EditFilter,
        label: "/",
        hint: "filter",
        help: "Filter by words in title, workspace, id or agent.",
        footer: Some(5),
        keys: &[Pressed::Character('/')],
    },
    Binding {
        context: Context::Home,
        action: Action::StopSelected,
        label: "s",
        hint: "stop",
        help: "Stop the selected run. Asks first.",
        footer: Some(6),
        keys: &[Pressed::Character('s')],
    },
    Binding {
        context: Context::Home,
        action: Action::ResumeSelected,
        label: "r",
        hint: "resume",
        help: "Continue the conversation of the selected run in a new run.",
        footer: Some(7),
        keys: &[Pressed::Character('r')],
    },
    Binding {
        context: Context::Home,
        action: Action::ForkSelected,
        label: "f",
        hint: "fork",
        help: "Branch off from the selected run in a new run.",
        footer: Some(10),
        keys: &[Pressed::Character('f')],
    },
    Binding {
        context: Context::Home,
        action: Action::BrowseSelected,
        label: "b",
        hint: "browser",
        help: "Open the selected run in the browser.",
        footer: Some(11),
        keys: &[Pressed::Character('b')],
    },
    Binding {
        context: Context::Home,
        action: Action::Snooze,
        label: "z",
        hint: "snooze",
        help: "Move a run that waits below the active ones until its state changes, or back.",
        footer: Some(12),
        keys: &[Pressed::Character('z')],
    },
    Binding {
        context: Context::Home,
        action: Action::NextStateGroup,
        label: "tab",
        hint: "state",
        help: "List only runs that wait for you, that are active, that ended, or all.",
        footer: Some(8),
        keys: &[Pressed::Tab],
    },
    Binding {
        context: Context::Home,
        action: Action::ToggleWorkspace,
        label: "w",
        hint: "workspace",
        help: "List only runs of this workspace, or of all.",
        footer: Some(9),
        keys: &[Pressed::Character('w')],
    },
    Binding {
        context: Context::Home,
        action: Action::ClearFilter,
        label: "esc",
        hint: "clear filter",
        help: "List all runs again.",
        footer: None,
        keys: &[Pressed::Escape],
    },
    Binding {
        context: Context::Home,
        action: Action::Up,
        label: "k",
        hint: "up",
        help: "Select the run above.",
        footer: None,
        keys: &[Pressed::Up, Pressed::Character('k')],
    },
    Binding {
        context: Context::Home,
        action: Action::Down,
        label: "j",
        hint: "down",
        help: "Select the run below.",
        footer: None,
        keys: &[Pressed::Down, Pressed::Character('j')],
    },
    Binding {
        context: Context::Home,
        action: Action::HalfPageUp,
        label: "ctrl-u",
        hint: "half a page up",
        help: "Move half a page up.",
        footer: None,
        keys: &[Pressed::DeleteToStart],
    },
    Binding {
        context: Context::Home,
        action: Action::HalfPageDown,
        label: "ctrl-d",
        hint: "half a page down",
        help: "Move half a page down.",
        footer: None,
        keys: &[Pressed::EndOfInput],
    },
    Binding {
        context: Context::Home,
        action: Action::PageUp,
        label: "page up",
        hint: "page up",
        help: "Move a page up.",
        footer: None,
        keys: &[Pressed::PageUp],
    },
    Binding {
        context: Context::Home,
        action: Action::PageDown,
        label: "page down",
        hint: "page down",
        help: "Move a page down.",
        footer: None,
        keys: &[Pressed::PageDown, Pressed::Character(' ')],
    },
    Binding {
        context: Context::Home,
        action: Action::Top,
        label: "g",
        hint: "first",
        help: "Select the first run.",
        footer: None,
        keys: &[Pressed::Character('g'), Pressed::Home],
    },
    Binding {
        context: Context::Home,
        action: Action::Bottom,
        label: "G",
        hint: "last",
        help: "Select the last run.",
        footer: None,
        keys: &[Pressed::Character('G'), Pressed::End],
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
