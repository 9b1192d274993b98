use crate::script::Data;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// One thing that `fake_claude` does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Writes bytes, cut at the given positions into one write call each.
    Write {
        /// Where to.
        stream: Stream,
        /// What.
        data: Data,
        /// Positions in `data`, ascending.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        splits: Vec<usize>,
    },
    /// Writes [`flood_line`](crate::script::flood_line)s numbered from 1, as fast as the reader takes them.
    Flood {
        /// How many.
        lines: u64,
        /// Length of each, newline included.
        line_bytes: usize,
    },
    /// Writes lines with the monotonic clock's nanoseconds in them, one per interval, for latency measurements.
    Tick {
        /// How many.
        lines: u64,
        /// Pause between two.
        interval_micros: u64,
    },
    /// Writes a flood without waiting for the reader and drops what does not fit, as Node does before `exit()`.
    Burst {
        /// Length of the one line.
        bytes: usize,
    },
    /// Writes a file's content, in chunks of the given sizes (taken in turn; none = 256 KiB).
    WriteFile {
        /// Which file.
        path: PathBuf,
        /// Sizes of the write calls.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        chunk_bytes: Vec<usize>,
        /// How often.
        times: u32,
    },
    /// Writes that many bytes to stderr, in lines of 100.
    FloodStderr {
        /// How many.
        bytes: u64,
    },
    /// Writes a line whose `${…}` are filled in: `${/a/b}` from the last line read (a JSON pointer, strings without
    /// quotes), `${argument:--name}` from `--name=value` or `--name value`.
    Answer {
        /// The line, without newline.
        template: String,
    },
    /// Reads one line from stdin; it must include the given JSON (see [`includes`]).
    ReadLine {
        /// What must be in it.
        expect: Option<Value>,
    },
    /// Reads stdin to its end and writes `{"type":"fake_input","bytes":…,"lines":…}`.
    ReadToEnd,
    /// Copies stdin to stdout as it comes, to its end.
    Echo,
    /// Reads lines to the end of stdin and plays the first case that each line includes.
    Converse {
        /// The cases, in order; lines without a case are ignored.
        cases: Vec<Case>,
    },
    /// Fails the script unless this is one of the arguments.
    ExpectArgument {
        /// The whole argument.
        argument: String,
    },
    /// Fails the script if this is one of the arguments.
    ExpectNoArgument {
        /// The whole argument.
        argument: String,
    },
    /// Fails the script unless the variable is set (to this value, if one is given).
    ExpectVariable {
        /// Its name.
        name: String,
        /// Its value.
        value: Option<String>,
    },
    /// Fails the script if the variable is set.
    ExpectNoVariable {
        /// Its name.
        name: String,
    },
    /// Writes a line `{"type":"fake_report",…}` with ids, descriptors, arguments, names of variables, directory.
    Report,
    /// From here on these signals do nothing.
    IgnoreSignals {
        /// Which.
        signals: Vec<Signal>,
    },
    /// From here on the signal plays these steps, whatever the script is doing; it goes on unless they exit.
    OnSignal {
        /// Which.
        signal: Signal,
        /// What then.
        steps: Vec<Step>,
    },
    /// Waits until the signal has arrived (since the start: it is never too late to wait).
    WaitForSignal {
        /// Which.
        signal: Signal,
    },
    /// Waits until the file exists; a named pipe: until somebody opened it for writing and closed it.
    WaitForFile {
        /// Which.
        path: PathBuf,
    },
    /// Creates an empty file, so that a test knows that the script came here.
    CreateFile {
        /// Which.
        path: PathBuf,
    },
    /// Gives up stdout and goes on living.
    CloseStdout,
    /// Records this process as `<directory>/<name>.pid` (see [`crate::recorded`]).
    RecordProcess {
        /// Where.
        directory: PathBuf,
        /// As what.
        name: String,
    },
    /// Starts a process that records itself and sleeps; goes on when it has recorded itself.
    SpawnChild {
        /// How it is related to this one.
        kind: ChildKind,
        /// Where it records itself.
        directory: PathBuf,
    },
    /// Lets time pass: pacing for people, not for tests.
    Pause {
        /// How long.
        milliseconds: u64,
    },
    /// Ends with this code.
    Exit {
        /// The code.
        code: u8,
    },
    /// Dies by this signal.
    Die {
        /// Which.
        signal: Signal,
    },
    /// Stops itself (SIGSTOP).
    StopSelf,
    /// Does nothing any more (for ten minutes, so that a failed test leaves nothing behind for ever).
    SleepForever,
}

/// What to do with a line of stdin that includes something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What the line must include.
    pub includes: Value,
    /// What then.
    pub steps: Vec<Step>,
}

/// One of the two output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The signals that scripts deal with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// SIGHUP
    HangUp,
    /// SIGINT
    Interrupt,
    /// SIGQUIT
    Quit,
    /// SIGABRT
    Abort,
    /// SIGKILL (only to die by)
    Kill,
    /// SIGSEGV (only to die by)
    SegmentationFault,
    /// SIGUSR1
    User1,
    /// SIGTERM
    Terminate,
}

/// How a process started by the script is related to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildKind {
    /// A child in the same group and session.
    Plain,
    /// A child in a session of its own.
    Setsid,
    /// An orphan: its parent has exited.
    DoubleFork,
    /// A child with a child with a child (`chain`, `chain-2`, `chain-3`).
    Chain,
    /// An orphan in a session of its own, in `/`, with nothing open.
    Daemon,
    /// A child that ignores SIGTERM, SIGINT and SIGHUP.
    Stubborn,
    /// A grandchild whose parent has exited and which keeps stdout open.
    HoldsStdout,
}

impl ChildKind {
    /// The kinds of the six-process tree that supervision is measured with; the sixth is the script itself.
    pub const TREE: [Self; 5] = [
        Self::Plain,
        Self::Setsid,
        Self::DoubleFork,
        Self::Chain,
        Self::Daemon,
    ];

    /// The name under which it records itself.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Setsid => "setsid",
            Self::DoubleFork => "double_fork",
            Self::Chain => "chain",
            Self::Daemon => "daemon",
            Self::Stubborn => "stubborn",
            Self::HoldsStdout => "holds_stdout",
        }
    }

    /// The kind with that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Plain,
            Self::Setsid,
            Self::DoubleFork,
            Self::Chain,
            Self::Daemon,
            Self::Stubborn,
            Self::HoldsStdout,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
    }
}

/// Whether `value` has everything that `part` has: objects by key, arrays by position, the rest by equality.
#[must_use]
pub fn includes(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => part
            .iter()
            .all(|(key, part)| value.get(key).is_some_and(|value| includes(value, part))),
        (Value::Array(value), Value::Array(part)) => {
            value.len() >= part.len() && value.iter().zip(part).all(|(value, part)| includes(value, part))
        }
        (value, part) => value == part,
    }
}

#[cfg(test)]
mod tests {
    use super::includes;
    use serde_json::json;

    #[test]
    fn a_part_is_included_at_any_depth() {
        let line =
            json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]}});
        assert!(includes(
            &line,
            &json!({"message": {"content": [{"text": "hi"}]}})
        ));
        assert!(!includes(
            &line,
            &json!({"message": {"content": [{"text": "ho"}]}})
        ));
        assert!(!includes(&line, &json!({"message": {"content": [{}, {}]}})));
        assert!(!includes(&line, &json!({"uuid": null})));
    }
}
