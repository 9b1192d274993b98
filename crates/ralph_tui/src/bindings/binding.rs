//! `Binding`: one row of the table of keys: what an action is called, where it works and which keys it has by default.

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
    /// A message to the agent is being written.
    Message,
    /// The words to search the transcript for are being typed.
    Search,
    /// The filter of the home screen is being typed.
    Filter,
    /// The form of a new run.
    NewRun,
    /// Asks before a run is ended.
    Stop,
    Limits,
    Model,
    PermissionMode,
    /// The help, or another text to be read.
    Reader,
}

impl Context {
    pub(crate) const ALL: [Self; 14] = [
        Self::Anywhere,
        Self::Home,
        Self::Run,
        Self::Request,
        Self::Queue,
        Self::Message,
        Self::Search,
        Self::Filter,
        Self::NewRun,
        Self::Stop,
        Self::Limits,
        Self::Model,
        Self::PermissionMode,
        Self::Reader,
    ];

    /// The heading in the help.
    #[must_use]
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Anywhere => "Everywhere",
            Self::Home => "All runs",
            Self::Run => "Run",
            Self::Request => "Request",
            Self::Queue => "Messages on their way",
            Self::Message => "Writing a message",
            Self::Search => "Searching",
            Self::Filter => "Filtering runs",
            Self::NewRun => "New run",
            Self::Stop => "Stopping a run",
            Self::Limits => "Raising limits",
            Self::Model => "Changing the model",
            Self::PermissionMode => "Changing permissions",
            Self::Reader => "Help and pages",
        }
    }

    /// The first part of an action's name in the setting `keys`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Anywhere => "anywhere",
            Self::Home => "home",
            Self::Run => "run",
            Self::Request => "request",
            Self::Queue => "messages",
            Self::Message => "message",
            Self::Search => "search",
            Self::Filter => "filter",
            Self::NewRun => "new-run",
            Self::Stop => "stop",
            Self::Limits => "limits",
            Self::Model => "model",
            Self::PermissionMode => "permissions",
            Self::Reader => "reader",
        }
    }

    /// Whether characters are text here.
    pub(super) fn is_text(self) -> bool {
        matches!(
            self,
            Self::Message | Self::Search | Self::Filter | Self::NewRun | Self::Limits | Self::Model
        )
    }

    /// Whether keys that work everywhere work here.
    pub(super) fn has_common_keys(self) -> bool {
        matches!(self, Self::Anywhere | Self::Home | Self::Run)
    }
}

macro_rules! actions {
    ($($action:ident,)+) => {
        /// What a key does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Action {
            $($action,)+
        }

        impl Action {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$action,)+];

            /// The second part of its name in the setting `keys`: `stop`, `next-error`.
            pub(super) fn name(self) -> String {
                let name = match self {
                    $(Self::$action => stringify!($action),)+
                };
                let mut words = String::new();
                for letter in name.chars() {
                    if letter.is_ascii_uppercase() && !words.is_empty() {
                        words.push('-');
                    }
                    words.push(letter.to_ascii_lowercase());
                }
                words
            }
        }
    };
}

actions! {
    Quit,
    Help,
    Redraw,
    Suspend,
    ToggleMouse,
    // Lists, transcripts and texts.
    Down,
    Up,
    HalfPageDown,
    HalfPageUp,
    PageDown,
    PageUp,
    Top,
    Bottom,
    // The home screen.
    Open,
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
    // A run.
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
    ScrollLeft,
    ScrollRight,
    BrowseRun,
    // A request.
    Allow,
    AllowAlways,
    AllowEdited,
    Deny,
    ChooseOption,
    AnswerText,
    SendAnswers,
    RequestDown,
    RequestUp,
    RequestPageDown,
    RequestPageUp,
    RequestEnd,
    RequestTop,
    HideRequest,
    // Dialogs, forms and fields.
    Submit,
    Close,
    NextField,
    PreviousField,
    EditPrompt,
    StartRun,
    ConfirmStop,
    Kill,
    SendMessage,
    BreakLine,
    SwitchSendMode,
    OlderMessage,
    NewerMessage,
    MessageDown,
    MessageUp,
    EditMessage,
    WithdrawMessage,
}

impl Action {
    /// Those that do not run through the table: digits are counted, and Enter belongs to the editor of a text field.
    fn is_fixed(self) -> bool {
        matches!(
            self,
            Self::ChooseOption | Self::Submit | Self::SendMessage | Self::BreakLine
        )
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding {
    pub(crate) context: Context,
    pub(crate) action: Action,
    /// As `parse_key` reads them. The footer names the first one.
    pub(super) keys: &'static [&'static str],
    /// One or two words for the footer.
    pub(crate) hint: &'static str,
    /// One sentence for the help.
    pub(crate) help: &'static str,
    /// The footer drops hints with a higher number first. `None` is never in the footer.
    pub(crate) footer: Option<u8>,
}

pub(super) const fn bind(
    context: Context,
    action: Action,
    keys: &'static [&'static str],
    hint: &'static str,
    help: &'static str,
    footer: Option<u8>,
) -> Binding {
    Binding {
        context,
        action,
        keys,
        hint,
        help,
        footer,
    }
}

impl Binding {
    /// Its name in the setting `keys`: `run.stop`.
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.context.name(), self.action.name())
    }

    /// Whether it has the same keys for everybody. What answers a request is the same everywhere: a person who allows
    /// something must not press a key that a file has given another meaning.
    pub(super) fn is_fixed(&self) -> bool {
        self.context == Context::Request || self.action.is_fixed()
    }
}
