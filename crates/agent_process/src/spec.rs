//! What to run, and how.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;

use crate::lines::DEFAULT_MAX_LINE_BYTES;

/// The environment variable that carries [`SpawnSpec::marker`] into the child and everything it starts.
pub const MARKER_VARIABLE: &str = "RALPH_RUN_ID";

/// Everything that is needed to start one child. [`SpawnSpec::new`] fills in the defaults.
#[derive(Debug, Clone)]
pub struct SpawnSpec {
    /// A path, or a bare name that is looked up in the child's own `PATH`.
    pub program: PathBuf,
    /// The arguments after the program's name.
    pub args: Vec<OsString>,
    /// Where the child starts; `None` is the caller's current directory.
    pub cwd: Option<PathBuf>,
    /// What the child's environment is made of.
    pub env: EnvPolicy,
    /// What the child reads.
    pub stdin: StdinMode,
    /// What the child writes to.
    pub stdout: StdoutMode,
    /// Whether stderr can be read while the child runs.
    pub stderr: StderrMode,
    /// Keeps stdout verbatim. The file must not exist yet; it is created with mode 0600.
    pub raw_log: Option<PathBuf>,
    /// Keeps stderr verbatim, likewise.
    pub stderr_log: Option<PathBuf>,
    /// Deadlines and sizes.
    pub limits: Limits,
    /// Whether the child gets a process namespace of its own.
    pub isolation: Isolation,
    /// Set as [`MARKER_VARIABLE`] in the child, so that [`sweep`](crate::sweep) can find what a killed guard left.
    /// Best one for each child: should its guard be killed, everything with this marker is.
    pub marker: Option<String>,
}

impl SpawnSpec {
    /// A child without arguments that inherits the environment, reads nothing and writes to a pipe.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: EnvPolicy::default(),
            stdin: StdinMode::Null,
            stdout: StdoutMode::Pipe,
            stderr: StderrMode::default(),
            raw_log: None,
            stderr_log: None,
            limits: Limits::default(),
            isolation: Isolation::None,
            marker: None,
        }
    }
}

/// What the child's environment is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvPolicy {
    /// The caller's environment with changes.
    Inherit {
        /// Variables to add or replace.
        set: Vec<(OsString, OsString)>,
        /// Variables the child must not see; removal comes before `set`.
        remove: Vec<OsString>,
    },
    /// Nothing but these variables.
    Clear {
        /// The whole environment.
        set: Vec<(OsString, OsString)>,
    },
}

impl Default for EnvPolicy {
    fn default() -> Self {
        Self::Inherit {
            set: Vec::new(),
            remove: Vec::new(),
        }
    }
}

/// What the child reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StdinMode {
    /// Nothing: end of file at once.
    #[default]
    Null,
    /// These bytes, then end of file. They are written while output is read, so their size does not matter.
    Bytes(Bytes),
    /// Whatever is written to [`Process::stdin`](crate::Process::stdin).
    Piped,
}

/// What the child writes to. All of them deliver the same bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StdoutMode {
    /// A pipe, enlarged where the system allows it.
    #[default]
    Pipe,
    /// The raw log itself, which is followed as it grows. Nothing is lost when the child dies in mid-write, and
    /// the child never waits for a reader. Needs [`SpawnSpec::raw_log`].
    Spool,
    /// A pseudo-terminal in raw mode. Only stdout: stdin stays a pipe and stderr separate.
    Pty {
        /// Width in characters.
        columns: u16,
        /// Height in lines.
        rows: u16,
    },
}

/// Whether stderr can be read while the child runs. In any case it is drained, logged, and its end is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StderrMode {
    /// Only its end is kept.
    #[default]
    Tail,
    /// It is delivered as [`Process::stderr`](crate::Process::stderr).
    Stream,
}

/// Whether the child gets a process namespace of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// The child lives among all other processes; the guard finds its descendants.
    #[default]
    None,
    /// The child lives in a PID namespace with its own `/proc` (inside a user namespace when unprivileged): the
    /// kernel ends everything in it, even when the guard is killed. Refused where the system does not allow it.
    PidNamespace,
}

/// Deadlines and sizes of one child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// From spawn to exit; then the stop ladder runs and the exit is [`Exit::TimedOut`](crate::Exit::TimedOut).
    pub timeout: Option<Duration>,
    /// Longer lines are counted and skipped; the raw log keeps them.
    pub max_line_bytes: usize,
    /// How much of the end of stderr is kept for diagnostics.
    pub stderr_tail_bytes: usize,
    /// Stop ladder: how long after the interrupt the child is asked to terminate.
    pub interrupt_grace: Duration,
    /// Stop ladder: how long after that everything is killed.
    pub terminate_grace: Duration,
    /// How long output is still awaited after the exit, when a descendant keeps it open.
    pub drain: Duration,
    /// How long a child may live on after it closed its output; then it is stopped. The spool cannot tell: it has
    /// no end.
    pub exit_after_end_of_output: Duration,
    /// What a guard that lost its runner allows the child between terminate and kill.
    pub orphan_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: None,
            max_line_bytes: DEFAULT_MAX_LINE_BYTES,
            stderr_tail_bytes: 16 * 1024,
            interrupt_grace: Duration::from_secs(5),
            terminate_grace: Duration::from_secs(6),
            drain: Duration::from_secs(2),
            exit_after_end_of_output: Duration::from_secs(30),
            orphan_grace: Duration::from_millis(150),
        }
    }
}
