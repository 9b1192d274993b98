//! `Binding`: what a key does where, and the look-ups in the table of all keys.

use terminal_input::Key;

use super::table::BINDINGS;

/// Where a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Context {
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
    pub(crate) const ALL: [Self; 5] = [Self::Anywhere, Self::Home, Self::Run, Self::Request, Self::Queue];

    /// The heading in the help.
    #[must_use]
    pub(crate) fn title(self) -> &'static str {
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
        pub(crate) enum Action {
            $($action,)+
        }

        #[cfg(test)]
        impl Action {
            pub(crate) const ALL: &[Self] = &[$(Self::$action,)+];
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
pub(crate) struct Binding {
    pub(crate) context: Context,
    pub(crate) action: Action,
    /// The key as people write it, such as `ctrl-l`.
    pub(crate) label: &'static str,
    /// One or two words for the footer.
    pub(crate) hint: &'static str,
    /// One sentence for the help overlay.
    pub(crate) help: &'static str,
    /// The footer drops hints with a higher number first. `None` is never in the footer.
    pub(crate) footer: Option<u8>,
    pub(crate) keys: &'static [Pressed],
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
pub(crate) enum Pressed {
    Character(char),
    Control(char),
    Enter,
    Escape,
    Up,
    Down,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
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
            | (Self::Right, Key::Right)
            | (Self::PageUp, Key::PageUp)
            | (Self::PageDown, Key::PageDown)
            | (Self::Home, Key::Home)
            | (Self::End, Key::End)
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
            Self::Right => Key::Right,
            Self::PageUp => Key::PageUp,
            Self::PageDown => Key::PageDown,
            Self::Home => Key::Home,
            Self::End => Key::End,
            Self::Tab => Key::Character('\t'),
            Self::DeleteToStart => Key::DeleteToStart,
            Self::EndOfInput => Key::EndOfInput,
        }
    }
}

/// What a key does in a context.
#[must_use]
pub(crate) fn action_for(context: Context, key: &Key) -> Option<Action> {
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
            let is_bound = BINDINGS.iter().any(|binding| binding.action == *action);
            assert!(is_bound, "{action:?}");
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
