//! `Effect`: what the terminal UI wants to be done. `App::update` returns effects, the driver performs them.

use ralph_run::control::ControlCommand;

use crate::input::MouseMode;

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Load this run and follow its journal. Ends following any other run.
    Open {
        run: String,
    },
    /// Read a run for the home screen, without following it. Comes back as `Input::Preview`.
    Preview {
        run: String,
    },
    /// Stop following the open run.
    Close,
    /// Send a command to a run's control socket. Its answer comes back as `Input::Reply`.
    Command {
        run: String,
        command: ControlCommand,
    },
    /// Start a run in the background.
    Start(Box<StartRequest>),
    /// Continue a run's conversation in a new run, or branch off from it.
    Resume {
        run: String,
        is_fork: bool,
    },
    /// Show a run on the page of `ralph serve`.
    OpenInBrowser {
        run: String,
    },
    /// Open a text in the user's editor. What is saved comes back as `Input::Edited`.
    EditText {
        text: String,
    },
    /// Open a file in the user's editor, at a line.
    EditFile {
        path: String,
        line: Option<u64>,
    },
    /// Put a text into the clipboard.
    Copy {
        text: String,
    },
    /// Build a run's transcript as Markdown from its journal, in the background, and do this with it.
    Transcript {
        run: String,
        destination: Destination,
    },
    /// Show the agent's own line of a record: the attempt's raw log, and the place in it.
    ShowRaw {
        run: String,
        attempt: u32,
        offset: u64,
        length: u64,
    },
    /// Use the mouse for this from now on.
    SetMouse(MouseMode),
    /// Ctrl-Z.
    Suspend,
    /// Draw everything again.
    Redraw,
    Quit,
}

/// Where a transcript goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A new file in the current directory.
    File {
        name: String,
    },
    /// The terminal's own screen: leave the alternate screen, write it, wait for Enter and come back.
    Scrollback,
    Editor,
}

/// A run that the user described on the home screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartRequest {
    pub workspace: String,
    pub prompt: String,
    pub backend: Option<String>,
    pub mode: Option<String>,
    pub model: Option<String>,
    /// As typed, such as `50` and `2.50`. Checked when the run is started.
    pub max_iterations: Option<String>,
    pub max_cost: Option<String>,
    pub verify: Option<String>,
    /// Whether the agent asks before it acts.
    pub asks: bool,
    /// Whether it is a conversation instead of a loop.
    pub is_conversation: bool,
}
