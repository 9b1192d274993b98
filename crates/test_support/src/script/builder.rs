use crate::script::{Case, ChildKind, Data, InstallError, ScriptedAgent, Signal, Step, Stream};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the scripted agent does from its start to its end; without an end it exits with 0 after the last step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// What `--version` answers instead of playing the steps; `None`: the steps are played.
    pub version: Option<String>,
    /// The steps.
    pub steps: Vec<Step>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            version: Some("2.1.325 (Claude Code)".to_owned()),
            steps: Vec::new(),
        }
    }
}

impl Script {
    /// An agent that exits at once with 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds any step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds the steps of another script.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self
    }

    /// Answers `--version` with this text.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Plays the steps even for `--version`.
    #[must_use]
    pub fn without_version(mut self) -> Self {
        self.version = None;
        self
    }

    /// Writes the script to a temporary directory and finds `fake_claude`.
    pub fn install(&self) -> Result<ScriptedAgent, InstallError> {
        ScriptedAgent::in_temporary_directory(self)
    }

    /// The same, as `script.json` in a directory of the caller's.
    pub fn install_in(&self, directory: &Path) -> Result<ScriptedAgent, InstallError> {
        ScriptedAgent::in_directory(self, directory)
    }

    /// Writes a line and its newline with one write call.
    #[must_use]
    pub fn emit(self, line: impl Into<Vec<u8>>) -> Self {
        let mut bytes = line.into();
        bytes.push(b'\n');
        self.emit_bytes(bytes)
    }

    /// Writes several lines, one write call each.
    #[must_use]
    pub fn emit_lines<L: Into<Vec<u8>>>(self, lines: impl IntoIterator<Item = L>) -> Self {
        lines.into_iter().fold(self, Self::emit)
    }

    /// Writes bytes as they are.
    #[must_use]
    pub fn emit_bytes(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.emit_split(bytes, [])
    }

    /// Writes bytes, cut at these positions into one write call each.
    #[must_use]
    pub fn emit_split(self, bytes: impl Into<Vec<u8>>, splits: impl IntoIterator<Item = usize>) -> Self {
        let splits = splits.into_iter().collect();
        self.step(Step::Write {
            stream: Stream::Stdout,
            data: Data(bytes.into()),
            splits,
        })
    }

    /// Writes numbered lines, see [`flood_line`](crate::script::flood_line).
    #[must_use]
    pub fn flood(self, lines: u64, line_bytes: usize) -> Self {
        self.step(Step::Flood { lines, line_bytes })
    }

    /// Writes one line of that length, newline included.
    #[must_use]
    pub fn long_line(self, line_bytes: usize) -> Self {
        self.flood(1, line_bytes)
    }

    /// See [`Step::Tick`].
    #[must_use]
    pub fn tick(self, lines: u64, interval: Duration) -> Self {
        let interval_micros = u64::try_from(interval.as_micros()).unwrap_or(u64::MAX);
        self.step(Step::Tick {
            lines,
            interval_micros,
        })
    }

    /// See [`Step::Burst`].
    #[must_use]
    pub fn burst(self, bytes: usize) -> Self {
        self.step(Step::Burst { bytes })
    }

    /// Writes a file's content once, see [`Step::WriteFile`].
    #[must_use]
    pub fn emit_file(self, path: impl Into<PathBuf>, chunk_bytes: impl Into<Vec<usize>>) -> Self {
        self.step(Step::WriteFile {
            path: path.into(),
            chunk_bytes: chunk_bytes.into(),
            times: 1,
        })
    }

    /// Writes to stderr.
    #[must_use]
    pub fn stderr(self, text: impl Into<Vec<u8>>) -> Self {
        self.step(Step::Write {
            stream: Stream::Stderr,
            data: Data(text.into()),
            splits: Vec::new(),
        })
    }

    /// Writes that many bytes to stderr.
    #[must_use]
    pub fn flood_stderr(self, bytes: u64) -> Self {
        self.step(Step::FloodStderr { bytes })
    }

    /// Reads one line from stdin.
    #[must_use]
    pub fn read_line(self) -> Self {
        self.step(Step::ReadLine { expect: None })
    }

    /// Reads one line from stdin, which must include this.
    #[must_use]
    pub fn expect_line(self, part: Value) -> Self {
        self.step(Step::ReadLine { expect: Some(part) })
    }

    /// Writes a line made from the last line read, see [`Step::Answer`].
    #[must_use]
    pub fn answer(self, template: impl Into<String>) -> Self {
        self.step(Step::Answer {
            template: template.into(),
        })
    }

    /// Reads stdin to its end and reports how much it was.
    #[must_use]
    pub fn read_to_end(self) -> Self {
        self.step(Step::ReadToEnd)
    }

    /// Copies stdin to stdout, to its end.
    #[must_use]
    pub fn echo(self) -> Self {
        self.step(Step::Echo)
    }

    /// Reads lines to the end of stdin; each plays the first case whose part it includes.
    #[must_use]
    pub fn converse(self, cases: impl IntoIterator<Item = (Value, Script)>) -> Self {
        let cases = cases
            .into_iter()
            .map(|(includes, script)| Case {
                includes,
                steps: script.steps,
            })
            .collect();
        self.step(Step::Converse { cases })
    }

    /// See [`Step::ExpectArgument`].
    #[must_use]
    pub fn expect_argument(self, argument: impl Into<String>) -> Self {
        self.step(Step::ExpectArgument {
            argument: argument.into(),
        })
    }

    /// See [`Step::ExpectNoArgument`].
    #[must_use]
    pub fn expect_no_argument(self, argument: impl Into<String>) -> Self {
        self.step(Step::ExpectNoArgument {
            argument: argument.into(),
        })
    }

    /// The variable must be set, whatever its value.
    #[must_use]
    pub fn expect_variable(self, name: impl Into<String>) -> Self {
        self.step(Step::ExpectVariable {
            name: name.into(),
            value: None,
        })
    }

    /// The variable must have this value.
    #[must_use]
    pub fn expect_variable_value(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.step(Step::ExpectVariable {
            name: name.into(),
            value: Some(value.into()),
        })
    }

    /// See [`Step::ExpectNoVariable`].
    #[must_use]
    pub fn expect_no_variable(self, name: impl Into<String>) -> Self {
        self.step(Step::ExpectNoVariable { name: name.into() })
    }

    /// See [`Step::Report`].
    #[must_use]
    pub fn report(self) -> Self {
        self.step(Step::Report)
    }

    /// See [`Step::IgnoreSignals`].
    #[must_use]
    pub fn ignore_signals(self, signals: impl Into<Vec<Signal>>) -> Self {
        self.step(Step::IgnoreSignals {
            signals: signals.into(),
        })
    }

    /// See [`Step::OnSignal`].
    #[must_use]
    pub fn on_signal(self, signal: Signal, script: Script) -> Self {
        self.step(Step::OnSignal {
            signal,
            steps: script.steps,
        })
    }

    /// See [`Step::WaitForSignal`].
    #[must_use]
    pub fn wait_for_signal(self, signal: Signal) -> Self {
        self.step(Step::WaitForSignal { signal })
    }

    /// See [`Step::WaitForFile`].
    #[must_use]
    pub fn wait_for_file(self, path: impl Into<PathBuf>) -> Self {
        self.step(Step::WaitForFile { path: path.into() })
    }

    /// See [`Step::CreateFile`].
    #[must_use]
    pub fn create_file(self, path: impl Into<PathBuf>) -> Self {
        self.step(Step::CreateFile { path: path.into() })
    }

    /// See [`Step::CloseStdout`].
    #[must_use]
    pub fn close_stdout(self) -> Self {
        self.step(Step::CloseStdout)
    }

    /// See [`Step::RecordProcess`].
    #[must_use]
    pub fn record_process(self, directory: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        self.step(Step::RecordProcess {
            directory: directory.into(),
            name: name.into(),
        })
    }

    /// See [`Step::SpawnChild`].
    #[must_use]
    pub fn spawn_child(self, kind: ChildKind, directory: impl Into<PathBuf>) -> Self {
        self.step(Step::SpawnChild {
            kind,
            directory: directory.into(),
        })
    }

    /// The six-process tree: this process (`main`, ignores SIGTERM), and one child of each [`ChildKind::TREE`].
    #[must_use]
    pub fn spawn_tree(self, directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        let script = self
            .ignore_signals([Signal::Terminate])
            .record_process(directory.clone(), "main");
        ChildKind::TREE
            .into_iter()
            .fold(script, |script, kind| script.spawn_child(kind, directory.clone()))
    }

    /// Lets time pass: pacing for people, not for tests.
    #[must_use]
    pub fn pause(self, pause: Duration) -> Self {
        self.step(Step::Pause {
            milliseconds: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Ends with this code.
    #[must_use]
    pub fn exit(self, code: u8) -> Self {
        self.step(Step::Exit { code })
    }

    /// Dies by this signal.
    #[must_use]
    pub fn die(self, signal: Signal) -> Self {
        self.step(Step::Die { signal })
    }

    /// Stops itself (SIGSTOP).
    #[must_use]
    pub fn stop_self(self) -> Self {
        self.step(Step::StopSelf)
    }

    /// Does nothing any more.
    #[must_use]
    pub fn sleep_forever(self) -> Self {
        self.step(Step::SleepForever)
    }
}
