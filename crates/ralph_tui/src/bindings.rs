//! `Binding`: the one table of keys. Dispatch, the footer, the help overlay and the docs are made from it.

use terminal_input::Key;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// Everywhere but in text fields and dialogs.
    Anywhere,
    Home,
    Run,
    /// A request of the agent is shown. Its keys come before those of the run.
    Request,
    /// The list of messages that are on their way.
    Queue,
}

impl Context {
    pub const ALL: [Self; 5] = [Self::Anywhere, Self::Home, Self::Run, Self::Request, Self::Queue];

    /// The heading in the help.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Anywhere => "Everywhere",
            Self::Home => "All runs",
            Self::Run => "Run",
            Self::Request => "Request",
            Self::Queue => "Messages on their way",
        }
    }
}

macro_rules! actions {
    ($($action:ident,)+) => {
        /// What a key does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $($action,)+
        }

        impl Action {
            pub const ALL: &[Self] = &[$(Self::$action,)+];
        }
    };
}

actions! {
    Quit,
    Help,
    Redraw,
    Suspend,
    Back,
    Message,
    QueueMessage,
    ShowQueue,
    Interrupt,
    Stop,
    TopUp,
    ChangeModel,
    ChangePermissionMode,
    ShowRequest,
    Follow,
    Down,
    Up,
    HalfPageDown,
    HalfPageUp,
    PageDown,
    PageUp,
    Top,
    Bottom,
    SelectNext,
    SelectPrevious,
    NextError,
    PreviousError,
    NextEdit,
    PreviousEdit,
    NextRequest,
    PreviousRequest,
    NextIteration,
    PreviousIteration,
    FoldSelected,
    FoldAll,
    FoldThinking,
    FoldTools,
    CycleFilter,
    Search,
    NextHit,
    PreviousHit,
    Copy,
    Export,
    PrintToScrollback,
    EditTranscript,
    OpenFile,
    ShowRaw,
    SideList,
    SideBySide,
    Wrap,
    Allow,
    AllowAlways,
    AllowEdited,
    Deny,
    ChooseOption,
    AnswerText,
    SendAnswers,
    RequestDown,
    RequestUp,
    HideRequest,
    MessageDown,
    MessageUp,
    EditMessage,
    WithdrawMessage,
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

impl Binding {
    /// Requests and lists have only their own keys; screens also have those that work everywhere.
    fn works_in(&self, context: Context) -> bool {
        let has_common = match context {
            Context::Anywhere | Context::Home | Context::Run => true,
            Context::Request | Context::Queue => false,
        };
        self.context == context || (has_common && self.context == Context::Anywhere)
    }
}

#[cfg(test)]
impl Binding {
    pub(crate) fn pressed_keys(&self) -> Vec<Key> {
        self.keys.iter().map(|pressed| pressed.key()).collect()
    }
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

#[cfg(test)]
impl Pressed {
    fn key(self) -> Key {
        match self {
            Self::Character(character) => Key::Character(character),
            Self::Control(character) => Key::Control(character),
            Self::Enter => Key::Enter,
            Self::Escape => Key::Escape,
            Self::Up => Key::Up,
            Self::Down => Key::Down,
            Self::Left => Key::Left,
            Self::Right => Key::Right,
            Self::PageUp => Key::PageUp,
            Self::PageDown => Key::PageDown,
            Self::Home => Key::Home,
            Self::End => Key::End,
            Self::Tab => Key::Character('\t'),
            Self::BackTab => Key::BackTab,
            Self::DeleteToStart => Key::DeleteToStart,
            Self::EndOfInput => Key::EndOfInput,
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
    Binding {
        context: Context::Anywhere,
        action: Action::Redraw,
        label: "ctrl-l",
        hint: "redraw",
        help: "Draw the screen again.",
        footer: None,
        keys: &[Pressed::Control('l')],
    },
    Binding {
        context: Context::Anywhere,
        action: Action::Suspend,
        label: "ctrl-z",
        hint: "suspend",
        help: "Suspend the terminal UI. Runs continue.",
        footer: None,
        keys: &[Pressed::Control('z')],
    },
    Binding {
        context: Context::Run,
        action: Action::Back,
        label: "esc",
        hint: "home",
        help: "Clear the search, then go back to all runs.",
        footer: Some(3),
        keys: &[Pressed::Escape],
    },
    Binding {
        context: Context::Run,
        action: Action::Message,
        label: "m",
        hint: "message",
        help: "Write a message that the agent sees as soon as possible.",
        footer: Some(2),
        keys: &[Pressed::Character('m')],
    },
    Binding {
        context: Context::Run,
        action: Action::QueueMessage,
        label: "M",
        hint: "queue",
        help: "Write a message that the agent sees when it is done with what it does.",
        footer: Some(14),
        keys: &[Pressed::Character('M')],
    },
    Binding {
        context: Context::Run,
        action: Action::ShowQueue,
        label: "Q",
        hint: "messages",
        help: "Show messages that are on their way; edit or withdraw them.",
        footer: Some(15),
        keys: &[Pressed::Character('Q')],
    },
    Binding {
        context: Context::Run,
        action: Action::Interrupt,
        label: "x",
        hint: "interrupt",
        help: "Interrupt the agent's turn. Asks first where that ends the run.",
        footer: Some(8),
        keys: &[Pressed::Character('x')],
    },
    Binding {
        context: Context::Run,
        action: Action::Stop,
        label: "X",
        hint: "stop",
        help: "Stop the run. Asks first.",
        footer: Some(4),
        keys: &[Pressed::Character('X')],
    },
    Binding {
        context: Context::Run,
        action: Action::TopUp,
        label: "+",
        hint: "raise limits",
        help: "Raise the limits of the run: cost, iterations, time, tokens.",
        footer: Some(16),
        keys: &[Pressed::Character('+')],
    },
    Binding {
        context: Context::Run,
        action: Action::ChangeModel,
        label: "L",
        hint: "model",
        help: "Change the model.",
        footer: Some(18),
        keys: &[Pressed::Character('L')],
    },
    Binding {
        context: Context::Run,
        action: Action::ChangePermissionMode,
        label: "p",
        hint: "permissions",
        help: "Change what the agent may do without asking.",
        footer: Some(17),
        keys: &[Pressed::Character('p')],
    },
    Binding {
        context: Context::Run,
        action: Action::ShowRequest,
        label: "tab",
        hint: "request",
        help: "Show or hide the request that waits for an answer.",
        footer: None,
        keys: &[Pressed::Tab],
    },
    Binding {
        context: Context::Run,
        action: Action::Follow,
        label: "f",
        hint: "follow",
        help: "Follow new output, or pause.",
        footer: Some(5),
        keys: &[Pressed::Character('f')],
    },
    Binding {
        context: Context::Run,
        action: Action::Down,
        label: "j ↓",
        hint: "down",
        help: "Scroll down one row.",
        footer: None,
        keys: &[Pressed::Character('j'), Pressed::Down],
    },
    Binding {
        context: Context::Run,
        action: Action::Up,
        label: "k ↑",
        hint: "up",
        help: "Scroll up one row.",
        footer: None,
        keys: &[Pressed::Character('k'), Pressed::Up],
    },
    Binding {
        context: Context::Run,
        action: Action::HalfPageDown,
        label: "ctrl-d",
        hint: "half page",
        help: "Scroll down half a page.",
        footer: None,
        keys: &[Pressed::EndOfInput],
    },
    Binding {
        context: Context::Run,
        action: Action::HalfPageUp,
        label: "ctrl-u",
        hint: "half page",
        help: "Scroll up half a page.",
        footer: None,
        keys: &[Pressed::DeleteToStart],
    },
    Binding {
        context: Context::Run,
        action: Action::PageDown,
        label: "space pgdn",
        hint: "page",
        help: "Scroll down a page.",
        footer: None,
        keys: &[Pressed::Character(' '), Pressed::PageDown],
    },
    Binding {
        context: Context::Run,
        action: Action::PageUp,
        label: "b pgup",
        hint: "page",
        help: "Scroll up a page.",
        footer: None,
        keys: &[Pressed::Character('b'), Pressed::PageUp],
    },
    Binding {
        context: Context::Run,
        action: Action::Top,
        label: "g home",
        hint: "top",
        help: "Go to the start.",
        footer: None,
        keys: &[Pressed::Character('g'), Pressed::Home],
    },
    Binding {
        context: Context::Run,
        action: Action::Bottom,
        label: "G end",
        hint: "bottom",
        help: "Go to the end and follow new output.",
        footer: None,
        keys: &[Pressed::Character('G'), Pressed::End],
    },
    Binding {
        context: Context::Run,
        action: Action::SelectNext,
        label: "J",
        hint: "select",
        help: "Select the next entry.",
        footer: None,
        keys: &[Pressed::Character('J')],
    },
    Binding {
        context: Context::Run,
        action: Action::SelectPrevious,
        label: "K",
        hint: "select",
        help: "Select the previous entry.",
        footer: None,
        keys: &[Pressed::Character('K')],
    },
    Binding {
        context: Context::Run,
        action: Action::NextError,
        label: "e",
        hint: "error",
        help: "Go to the next error.",
        footer: Some(10),
        keys: &[Pressed::Character('e')],
    },
    Binding {
        context: Context::Run,
        action: Action::PreviousError,
        label: "E",
        hint: "error",
        help: "Go to the previous error.",
        footer: None,
        keys: &[Pressed::Character('E')],
    },
    Binding {
        context: Context::Run,
        action: Action::NextEdit,
        label: "d",
        hint: "edit",
        help: "Go to the next edit.",
        footer: Some(11),
        keys: &[Pressed::Character('d')],
    },
    Binding {
        context: Context::Run,
        action: Action::PreviousEdit,
        label: "D",
        hint: "edit",
        help: "Go to the previous edit.",
        footer: None,
        keys: &[Pressed::Character('D')],
    },
    Binding {
        context: Context::Run,
        action: Action::NextRequest,
        label: "r",
        hint: "request",
        help: "Go to the next request or question.",
        footer: None,
        keys: &[Pressed::Character('r')],
    },
    Binding {
        context: Context::Run,
        action: Action::PreviousRequest,
        label: "R",
        hint: "request",
        help: "Go to the previous request or question.",
        footer: None,
        keys: &[Pressed::Character('R')],
    },
    Binding {
        context: Context::Run,
        action: Action::NextIteration,
        label: "i",
        hint: "iteration",
        help: "Go to the next iteration.",
        footer: Some(12),
        keys: &[Pressed::Character('i')],
    },
    Binding {
        context: Context::Run,
        action: Action::PreviousIteration,
        label: "I",
        hint: "iteration",
        help: "Go to the previous iteration.",
        footer: None,
        keys: &[Pressed::Character('I')],
    },
    Binding {
        context: Context::Run,
        action: Action::FoldSelected,
        label: "enter o",
        hint: "fold",
        help: "Fold or unfold the selected entry.",
        footer: Some(7),
        keys: &[Pressed::Enter, Pressed::Character('o')],
    },
    Binding {
        context: Context::Run,
        action: Action::FoldAll,
        label: "z",
        hint: "fold all",
        help: "Fold or unfold all entries.",
        footer: None,
        keys: &[Pressed::Character('z')],
    },
    Binding {
        context: Context::Run,
        action: Action::FoldThinking,
        label: "t",
        hint: "thinking",
        help: "Fold or unfold thinking.",
        footer: None,
        keys: &[Pressed::Character('t')],
    },
    Binding {
        context: Context::Run,
        action: Action::FoldTools,
        label: "T",
        hint: "tools",
        help: "Fold or unfold tool calls.",
        footer: None,
        keys: &[Pressed::Character('T')],
    },
    Binding {
        context: Context::Run,
        action: Action::CycleFilter,
        label: "F",
        hint: "filter",
        help: "Show everything, the conversation, tool calls, edits, or errors.",
        footer: Some(9),
        keys: &[Pressed::Character('F')],
    },
    Binding {
        context: Context::Run,
        action: Action::Search,
        label: "/",
        hint: "search",
        help: "Search the transcript.",
        footer: Some(6),
        keys: &[Pressed::Character('/')],
    },
    Binding {
        context: Context::Run,
        action: Action::NextHit,
        label: "n",
        hint: "next hit",
        help: "Go to the next search hit.",
        footer: None,
        keys: &[Pressed::Character('n')],
    },
    Binding {
        context: Context::Run,
        action: Action::PreviousHit,
        label: "N",
        hint: "previous hit",
        help: "Go to the previous search hit.",
        footer: None,
        keys: &[Pressed::Character('N')],
    },
    Binding {
        context: Context::Run,
        action: Action::Copy,
        label: "c",
        hint: "copy",
        help: "Copy the text of the selected entry.",
        footer: Some(13),
        keys: &[Pressed::Character('c')],
    },
    Binding {
        context: Context::Run,
        action: Action::Export,
        label: "w",
        hint: "export",
        help: "Write the transcript to a Markdown file in the current directory.",
        footer: None,
        keys: &[Pressed::Character('w')],
    },
    Binding {
        context: Context::Run,
        action: Action::PrintToScrollback,
        label: "W",
        hint: "scrollback",
        help: "Write the transcript to the terminal's scrollback.",
        footer: None,
        keys: &[Pressed::Character('W')],
    },
    Binding {
        context: Context::Run,
        action: Action::EditTranscript,
        label: "v",
        hint: "editor",
        help: "Open the transcript in your editor.",
        footer: None,
        keys: &[Pressed::Character('v')],
    },
    Binding {
        context: Context::Run,
        action: Action::OpenFile,
        label: "V",
        hint: "open file",
        help: "Open the file of the selected entry in your editor, at its line.",
        footer: None,
        keys: &[Pressed::Character('V')],
    },
    Binding {
        context: Context::Run,
        action: Action::ShowRaw,
        label: "u",
        hint: "raw",
        help: "Show the agent's own line of the selected entry.",
        footer: None,
        keys: &[Pressed::Character('u')],
    },
    Binding {
        context: Context::Run,
        action: Action::SideList,
        label: "s",
        hint: "side list",
        help: "Show or hide the list of iterations and changed files.",
        footer: Some(19),
        keys: &[Pressed::Character('s')],
    },
    Binding {
        context: Context::Run,
        action: Action::SideBySide,
        label: "|",
        hint: "side by side",
        help: "Show diffs side by side or inline.",
        footer: None,
        keys: &[Pressed::Character('|')],
    },
    Binding {
        context: Context::Run,
        action: Action::Wrap,
        label: "l",
        hint: "wrap",
        help: "Wrap long lines or cut them.",
        footer: None,
        keys: &[Pressed::Character('l')],
    },
    Binding {
        context: Context::Request,
        action: Action::Allow,
        label: "y",
        hint: "once",
        help: "Allow it once, or approve the plan.",
        footer: Some(0),
        keys: &[Pressed::Character('y')],
    },
    Binding {
        context: Context::Request,
        action: Action::AllowAlways,
        label: "a",
        hint: "always",
        help: "Allow it, and add the rules shown. Only if they are nothing but rules.",
        footer: Some(1),
        keys: &[Pressed::Character('a')],
    },
    Binding {
        context: Context::Request,
        action: Action::AllowEdited,
        label: "e",
        hint: "edit",
        help: "Edit the arguments as JSON in your editor, and allow the result once.",
        footer: Some(3),
        keys: &[Pressed::Character('e')],
    },
    Binding {
        context: Context::Request,
        action: Action::Deny,
        label: "n",
        hint: "deny",
        help: "Deny it, reject the plan or decline to answer, with a reason.",
        footer: Some(2),
        keys: &[Pressed::Character('n')],
    },
    Binding {
        context: Context::Request,
        action: Action::ChooseOption,
        label: "1-9",
        hint: "choose",
        help: "Choose an answer by its number.",
        footer: Some(4),
        keys: &[
            Pressed::Character('1'),
            Pressed::Character('2'),
            Pressed::Character('3'),
            Pressed::Character('4'),
            Pressed::Character('5'),
            Pressed::Character('6'),
            Pressed::Character('7'),
            Pressed::Character('8'),
            Pressed::Character('9'),
        ],
    },
    Binding {
        context: Context::Request,
        action: Action::AnswerText,
        label: "t",
        hint: "text",
        help: "Answer a question in your own words.",
        footer: Some(5),
        keys: &[Pressed::Character('t')],
    },
    Binding {
        context: Context::Request,
        action: Action::SendAnswers,
        label: "enter",
        hint: "send",
        help: "Send the chosen answers.",
        footer: Some(6),
        keys: &[Pressed::Enter],
    },
    Binding {
        context: Context::Request,
        action: Action::RequestDown,
        label: "↓",
        hint: "down",
        help: "Scroll the request down.",
        footer: None,
        keys: &[Pressed::Down, Pressed::PageDown],
    },
    Binding {
        context: Context::Request,
        action: Action::RequestUp,
        label: "↑",
        hint: "up",
        help: "Scroll the request up.",
        footer: None,
        keys: &[Pressed::Up, Pressed::PageUp],
    },
    Binding {
        context: Context::Request,
        action: Action::HideRequest,
        label: "tab",
        hint: "hide",
        help: "Show or hide the request that waits for an answer.",
        footer: Some(7),
        keys: &[Pressed::Tab],
    },
    Binding {
        context: Context::Queue,
        action: Action::MessageDown,
        label: "j ↓",
        hint: "down",
        help: "Select the next message.",
        footer: None,
        keys: &[Pressed::Character('j'), Pressed::Down],
    },
    Binding {
        context: Context::Queue,
        action: Action::MessageUp,
        label: "k ↑",
        hint: "up",
        help: "Select the previous message.",
        footer: None,
        keys: &[Pressed::Character('k'), Pressed::Up],
    },
    Binding {
        context: Context::Queue,
        action: Action::EditMessage,
        label: "e",
        hint: "edit",
        help: "Edit the selected message.",
        footer: Some(0),
        keys: &[Pressed::Character('e'), Pressed::Enter],
    },
    Binding {
        context: Context::Queue,
        action: Action::WithdrawMessage,
        label: "d",
        hint: "withdraw",
        help: "Withdraw the selected message.",
        footer: Some(1),
        keys: &[Pressed::Character('d')],
    },
];

/// What a key does in a context.
#[must_use]
pub fn action_for(context: Context, key: &Key) -> Option<Action> {
    BINDINGS
        .iter()
        .filter(|binding| binding.works_in(context))
        .find(|binding| binding.keys.iter().any(|pressed| pressed.is(key)))
        .map(|binding| binding.action)
}

/// The rows of a context in the order of their importance, for a footer.
pub(crate) fn footer_hints(context: Context) -> Vec<&'static Binding> {
    let mut rows: Vec<&Binding> = BINDINGS
        .iter()
        .filter(|binding| binding.works_in(context) && binding.footer.is_some())
        .collect();
    rows.sort_by_key(|binding| (binding.footer, binding.context != Context::Anywhere));
    rows
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Action, BINDINGS, Context, action_for};

    #[test]
    fn a_key_has_one_meaning_in_a_context() {
        for context in Context::ALL {
            let mut seen = HashSet::new();
            for binding in BINDINGS.iter().filter(|binding| binding.works_in(context)) {
                for key in binding.pressed_keys() {
                    assert!(seen.insert(format!("{key:?}")), "{context:?}: {}", binding.label);
                    assert_eq!(
                        action_for(context, &key),
                        Some(binding.action),
                        "{}",
                        binding.label
                    );
                }
            }
        }
    }

    #[test]
    fn every_row_has_a_key_a_label_a_hint_and_a_sentence() {
        for binding in BINDINGS {
            assert!(!binding.keys.is_empty(), "{}", binding.label);
            assert!(!binding.label.is_empty() && !binding.hint.is_empty());
            assert!(binding.help.ends_with('.'), "{}", binding.help);
        }
    }

    #[test]
    fn every_action_has_a_key() {
        for action in Action::ALL {
            // The home screen has it.
            let is_bound = BINDINGS.iter().any(|binding| binding.action == *action);
            assert!(is_bound || *action == Action::Open, "{action:?}");
        }
    }

    #[test]
    fn an_action_is_in_the_table_once_for_each_context() {
        let mut seen: HashSet<(Context, Action)> = HashSet::new();
        for binding in BINDINGS {
            assert!(
                seen.insert((binding.context, binding.action)),
                "{}",
                binding.label
            );
        }
    }
}
