//! `Input`: everything that can happen to the terminal UI. The driver produces inputs, `App::update` takes them.

use std::sync::Arc;

use ralph_run::control::ControlCommand;
use ralph_run::model::RunModel;
use ralph_run::{RunFile, ViewUpdate};
use terminal_input::Key;

use crate::transcript::Transcript;

#[derive(Debug)]
pub enum Input {
    Key(Key),
    /// The terminal has another size.
    Resized {
        columns: u16,
        rows: u16,
    },
    /// The terminal is ours again, after an editor or Ctrl-Z: what is asked was not seen meanwhile.
    Resumed,
    /// A deadline of `App::next_tick` has passed: clocks are drawn again, requests are armed.
    Tick,
    /// All runs of this user, in no order. Sent when something about them has changed. A run that has not changed is the
    /// same object as before.
    Runs(Vec<Arc<RunSummary>>),
    /// How many runs are not among them because their `run.json` cannot be read.
    UnreadableRuns(usize),
    /// The answer to `Effect::Start` and `Effect::Resume`: the id of the new run, or why there is none.
    Started(Result<String, String>),
    /// The answer to `Effect::Preview`. If the run cannot be read, `PreviewFailed` comes instead.
    Preview {
        run: String,
        model: Box<RunModel>,
    },
    PreviewFailed {
        run: String,
        reason: String,
    },
    /// The end of a run's journal: what is shown until the whole run is loaded.
    Tail(Box<LoadedRun>),
    /// A run, read from its journal up to now. Replaces its tail.
    Loaded(Box<LoadedRun>),
    /// What followed, in order.
    Updates {
        run: String,
        updates: Vec<ViewUpdate>,
    },
    /// The journal cannot be read, or cannot be read any further.
    LoadFailed {
        run: String,
        reason: String,
    },
    /// The runner is gone without an end in the journal.
    RunnerGone {
        run: String,
    },
    Reply(Reply),
    /// A text to be read, such as the agent's own line of a record. It may contain anything.
    Page {
        title: String,
        text: String,
    },
    /// The user closed the editor. `None` if nothing was changed.
    Edited {
        text: Option<String>,
    },
    /// Something to show in the footer for a while: what was copied, why something failed.
    Notice(String),
}

/// What the terminal UI uses the mouse for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MouseMode {
    /// Nothing: text is selected as everywhere in the terminal.
    Off,
    /// The wheel, which the terminal turns into arrow keys. Text is selected as everywhere.
    Wheel,
    /// Wheel and clicks. Text is selected with a modifier, mostly Shift.
    #[default]
    Full,
}

/// A row of the home screen: `run.json`, and what only the file system knows.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    pub file: RunFile,
    /// Whether its runner is gone although the run has not ended.
    pub is_lost: bool,
    pub is_suspended: bool,
    /// How many bytes the journal grew in each of the last seconds, oldest first.
    pub activity: Vec<u64>,
}

/// A run, folded from its journal in another thread.
#[derive(Debug)]
pub struct LoadedRun {
    pub run: String,
    pub model: RunModel,
    pub transcript: Transcript,
}

/// The answer of a run to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub run: String,
    pub command: ControlCommand,
    /// A note, or why the command was refused.
    pub result: Result<Option<String>, String>,
}
