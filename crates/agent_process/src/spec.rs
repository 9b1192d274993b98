//! `SpawnSpec`: what to run, and how.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;

/// Everything that is needed to start a child. Create it with [`SpawnSpec::new`] and set the fields you need.
///
/// `Debug` shows neither arguments nor input nor the values of variables: prompts and keys are among them.
#[derive(Clone)]
#[non_exhaustive]
pub struct SpawnSpec {
    /// A path, or a bare name that is looked up in the child's own `PATH`.
    pub program: PathBuf,
    /// The arguments, without the program's name.
    pub args: Vec<OsString>,
    /// The child's working directory; by default the caller's.
    pub cwd: Option<PathBuf>,
    /// The child's environment; by default the caller's.
    pub env: EnvPolicy,
    /// The child's stdin; by default empty.
    pub stdin: StdinMode,
    /// The transport for the child's stdout; by default a pipe.
    pub stdout: StdoutMode,
    /// Whether stderr can be read while the child runs; by default only its end is kept.
    pub stderr: StderrMode,
    /// A file that receives stdout verbatim. It must not exist yet and is created with mode 0600.
    pub raw_log: Option<PathBuf>,
    /// The same for stderr.
    pub stderr_log: Option<PathBuf>,
    /// Deadlines and sizes.
    pub limits: Limits,
    /// Whether the child gets a PID namespace of its own.
    pub isolation: Isolation,
    /// An environment variable by which [`sweep`](crate::sweep) finds the child and its descendants. Use a value of its
    /// own for each child: if a guard is killed, everything with its child's marker is killed.
    pub marker: Option<Marker>,
}

impl SpawnSpec {
    /// A child without arguments that inherits the environment, has no input and writes to a pipe.
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

/// An environment variable that marks a child and everything it starts; see [`SpawnSpec::marker`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    variable: String,
    value: String,
}

impl Marker {
    /// The variable's name is yours to choose, for example `MYAPP_RUN_ID`; the value should be unique for each child.
    pub fn new(variable: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            variable: variable.into(),
            value: value.into(),
        }
    }

    /// The variable's name.
    #[must_use]
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// The variable's value.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }
}

impl fmt::Debug for SpawnSpec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            program,
            args,
            cwd,
            env,
            stdin,
            stdout,
            stderr,
            raw_log,
            stderr_log,
            limits,
            isolation,
            marker,
        } = self;
        formatter
            .debug_struct("SpawnSpec")
            .field("program", program)
            .field("args", &format_args!("{} hidden", args.len()))
            .field("cwd", cwd)
            .field("env", env)
            .field("stdin", stdin)
            .field("stdout", stdout)
            .field("stderr", stderr)
            .field("raw_log", raw_log)
            .field("stderr_log", stderr_log)
            .field("limits", limits)
            .field("isolation", isolation)
            .field("marker", marker)
            .finish()
    }
}

/// How the child's environment is built. On Windows the case of variable names is ignored. `Debug` hides the values.
#[derive(Clone, PartialEq, Eq)]
pub enum EnvPolicy {
    /// The caller's environment with changes.
    Inherit {
        /// Variables to add or replace.
        set: Vec<(OsString, OsString)>,
        /// Variables to remove, before `set` is applied.
        remove: Vec<OsString>,
    },
    /// Only these variables.
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

impl fmt::Debug for EnvPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |set: &[(OsString, OsString)]| set.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match self {
            Self::Inherit { set, remove } => formatter
                .debug_struct("Inherit")
                .field("set", &names(set))
                .field("remove", remove)
                .finish(),
            Self::Clear { set } => formatter.debug_struct("Clear").field("set", &names(set)).finish(),
        }
    }
}

/// The child's stdin. `Debug` hides its content.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum StdinMode {
    /// Empty.
    #[default]
    Null,
    /// These bytes. They are written while output is read, so their size does not matter.
    Bytes(Bytes),
    /// A pipe that you write to through [`Process::stdin`](crate::Process::stdin).
    Piped,
}

impl fmt::Debug for StdinMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("Null"),
            Self::Bytes(bytes) => write!(formatter, "Bytes({} hidden)", bytes.len()),
            Self::Piped => formatter.write_str("Piped"),
        }
    }
}

/// The transport for the child's stdout. All of them deliver the same bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StdoutMode {
    /// A pipe, enlarged where the system allows it.
    #[default]
    Pipe,
    /// The child writes to the raw log itself, which is followed as it grows. No output is lost if the child dies in
    /// the middle of a write, and the child never blocks on a slow reader. Needs [`SpawnSpec::raw_log`].
    Spool,
    /// A pseudo-terminal in raw mode, for stdout only: stdin stays a pipe, and stderr stays separate.
    Pty {
        /// Width in characters.
        columns: u16,
        /// Height in lines.
        rows: u16,
    },
}

/// Whether stderr can be read while the child runs. In both cases it is read to its end, logged, and its end is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StderrMode {
    /// Keep only the end, for the exit report.
    #[default]
    Tail,
    /// Also deliver it through [`Process::stderr`](crate::Process::stderr).
    Stream,
}

/// Whether the child gets a PID namespace of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Isolation {
    /// No namespace. The guard finds the child's descendants among all processes.
    #[default]
    None,
    /// A PID namespace with its own `/proc`, inside a user namespace if the caller is unprivileged. The kernel ends
    /// every process in it, even if the guard is killed. An error where the system does not allow it.
    PidNamespace,
}

/// Deadlines and sizes of a child. Start from `Limits::default()` and chain the setters you need:
///
/// ```
/// # use agent_process::Limits;
/// # use std::time::Duration;
/// let limits = Limits::default().interrupt_grace(Duration::from_secs(2)).drain(Duration::ZERO);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Time from spawn to exit, after which the child is stopped with [`Exit::TimedOut`](crate::Exit::TimedOut). No
    /// limit by default.
    pub timeout: Option<Duration>,
    /// For callers that cut the output into lines: the longest line they accept. This crate does not use it.
    pub max_line_bytes: usize,
    /// How much of the end of stderr is kept for the exit report.
    pub stderr_tail_bytes: usize,
    /// Stop ladder: time between SIGINT and SIGTERM.
    pub interrupt_grace: Duration,
    /// Stop ladder: time between SIGTERM and the kill.
    pub terminate_grace: Duration,
    /// How long to wait for more output after the child's exit if a descendant keeps stdout or stderr open.
    pub drain: Duration,
    /// How long the child may run after it closed stdout. Has no effect with the spool, where closing is not visible.
    pub exit_after_end_of_output: Duration,
    /// Time between SIGTERM and the kill if this process dies and the guard stops the child.
    pub orphan_grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: None,
            max_line_bytes: 64 << 20,
            stderr_tail_bytes: 16 * 1024,
            interrupt_grace: Duration::from_secs(5),
            terminate_grace: Duration::from_secs(6),
            drain: Duration::from_secs(2),
            exit_after_end_of_output: Duration::from_secs(30),
            orphan_grace: Duration::from_millis(150),
        }
    }
}

macro_rules! setters {
    ($($field:ident: $type:ty => $value:expr;)*) => {
        impl Limits {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $value;
                    self
                }
            )*
        }
    };
}

setters! {
    timeout: Duration => Some(timeout);
    max_line_bytes: usize => max_line_bytes;
    stderr_tail_bytes: usize => stderr_tail_bytes;
    interrupt_grace: Duration => interrupt_grace;
    terminate_grace: Duration => terminate_grace;
    drain: Duration => drain;
    exit_after_end_of_output: Duration => exit_after_end_of_output;
    orphan_grace: Duration => orphan_grace;
}

#[cfg(test)]
mod tests {
    use super::{EnvPolicy, SpawnSpec, StdinMode};

    #[test]
    fn debug_shows_no_prompt_and_no_key() {
        let mut spec = SpawnSpec::new("agent");
        spec.args = vec!["--prompt=secret".into()];
        spec.stdin = StdinMode::Bytes("secret".into());
        let set = vec![("API_KEY".into(), "secret".into())];
        for env in [
            EnvPolicy::Clear { set: set.clone() },
            EnvPolicy::Inherit { set, remove: vec![] },
        ] {
            spec.env = env;
            let shown = format!("{spec:?}");
            assert!(!shown.contains("secret"), "{shown}");
            assert!(shown.contains("API_KEY") && shown.contains("6 hidden"), "{shown}");
        }
    }
}
