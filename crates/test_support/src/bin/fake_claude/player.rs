//! Plays steps, one after another.

use crate::report::Report;
use crate::signals::Signals;
use crate::{children, input, output, system};
use serde_json::Value;
use std::env;
use std::fs::{self, File};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use test_support::recorded;
use test_support::script::{Case, SCRIPT_FAILED, Signal, Step, Stream, fill_template, includes};

/// A failed test must not leave a process behind for ever.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(600);

/// How a list of steps ended.
pub(crate) enum End {
    /// One of them was an exit.
    Exit(u8),
    /// There are no more.
    Steps,
}

#[derive(Clone)]
pub(crate) struct Player {
    signals: Signals,
    report: Report,
    arguments: Vec<String>,
    last_line: Value,
}

impl Player {
    pub(crate) fn new(signals: Signals, report: Report, arguments: Vec<String>) -> Self {
        Self {
            signals,
            report,
            arguments,
            last_line: Value::Null,
        }
    }

    /// Plays all of them; the error says which one failed.
    pub(crate) fn play(&mut self, steps: &[Step]) -> Result<End, String> {
        for (index, step) in steps.iter().enumerate() {
            let end = self
                .step(step)
                .map_err(|message| format!("step {}: {message}", index + 1))?;
            if let End::Exit(code) = end {
                return Ok(End::Exit(code));
            }
        }
        Ok(End::Steps)
    }

    fn step(&mut self, step: &Step) -> Result<End, String> {
        match step {
            Step::Write { stream, data, splits } => output::write_split(*stream, &data.0, splits)?,
            Step::Flood { lines, line_bytes } => output::flood(*lines, *line_bytes),
            Step::Tick {
                lines,
                interval_micros,
            } => tick(*lines, Duration::from_micros(*interval_micros)),
            Step::Burst { bytes } => output::burst(*bytes).map_err(|error| error.to_string())?,
            Step::WriteFile {
                path,
                chunk_bytes,
                times,
            } => {
                output::write_file(path, chunk_bytes, *times)
                    .map_err(|error| format!("cannot copy {}: {error}", path.display()))?;
            }
            Step::FloodStderr { bytes } => output::flood_stderr(*bytes),
            Step::Answer { template } => {
                let line = fill_template(template, &self.last_line, &self.arguments)?;
                output::write(Stream::Stdout, format!("{line}\n").as_bytes());
            }
            Step::ReadLine { expect } => self.read_line(expect.as_ref())?,
            Step::ReadToEnd => output::write(Stream::Stdout, input::drain()?.as_bytes()),
            Step::Echo => input::echo()?,
            Step::Converse { cases } => return self.converse(cases),
            Step::ExpectArgument { argument } => self.expect_argument(argument)?,
            Step::ExpectNoArgument { argument } => self.expect_no_argument(argument)?,
            Step::ExpectVariable { name, value } => expect_variable(name, value.as_deref())?,
            Step::ExpectNoVariable { name } => expect_no_variable(name)?,
            Step::Report => output::write(Stream::Stdout, self.report.line(&self.arguments).as_bytes()),
            Step::IgnoreSignals { signals } => self.signals.ignore(signals)?,
            Step::OnSignal { signal, steps } => self.signals.play_on(*signal, steps)?,
            Step::WaitForSignal { signal } => self.signals.wait(*signal)?,
            Step::WaitForFile { path } => {
                wait_for_file(path)
                    .map_err(|error| format!("cannot wait for {}: {error}", path.display()))?;
            }
            Step::CreateFile { path } => {
                File::create(path).map_err(|error| format!("cannot create {}: {error}", path.display()))?;
            }
            Step::CloseStdout => system::close_stdout().map_err(|error| error.to_string())?,
            Step::RecordProcess { directory, name } => {
                let file = recorded::record(directory, name).map_err(|error| error.to_string())?;
                // Its lock is the sign of life, so it stays open until the very end.
                std::mem::forget(file);
            }
            Step::SpawnChild { kind, directory } => {
                children::spawn(*kind, directory).map_err(|error| error.to_string())?;
            }
            Step::Pause { milliseconds } => thread::sleep(Duration::from_millis(*milliseconds)),
            Step::Exit { code } => return Ok(End::Exit(*code)),
            Step::Die { signal } => die(*signal)?,
            Step::StopSelf => system::stop_self().map_err(|error| error.to_string())?,
            Step::SleepForever => {
                thread::sleep(FOR_EVER);
                return Ok(End::Exit(SCRIPT_FAILED));
            }
        }
        Ok(End::Steps)
    }

    fn read_line(&mut self, expect: Option<&Value>) -> Result<(), String> {
        let line = input::line()?.ok_or("stdin ended where a line was expected")?;
        self.last_line = serde_json::from_str(&line).unwrap_or(Value::String(line));
        match expect {
            Some(part) if !includes(&self.last_line, part) => {
                Err(format!("expected a line with {part}, got {}", self.last_line))
            }
            _ => Ok(()),
        }
    }

    fn converse(&mut self, cases: &[Case]) -> Result<End, String> {
        while let Some(line) = input::line()? {
            self.last_line = serde_json::from_str(&line).unwrap_or(Value::String(line));
            let Some(case) = cases
                .iter()
                .find(|case| includes(&self.last_line, &case.includes))
            else {
                continue;
            };
            if let End::Exit(code) = self.play(&case.steps)? {
                return Ok(End::Exit(code));
            }
        }
        Ok(End::Steps)
    }

    fn expect_argument(&self, argument: &str) -> Result<(), String> {
        if self.arguments.iter().any(|given| given == argument) {
            return Ok(());
        }
        Err(format!(
            "expected the argument `{argument}` among {:?}",
            self.arguments
        ))
    }

    fn expect_no_argument(&self, argument: &str) -> Result<(), String> {
        if self.arguments.iter().any(|given| given == argument) {
            return Err(format!("did not expect the argument `{argument}`"));
        }
        Ok(())
    }
}

/// Values are never shown: a test's environment may hold what nobody should print.
fn expect_variable(name: &str, value: Option<&str>) -> Result<(), String> {
    match (env::var_os(name), value) {
        (None, _) => Err(format!("expected the variable `{name}`")),
        (Some(given), Some(value)) if given != value => {
            Err(format!("the variable `{name}` has another value"))
        }
        (Some(_), _) => Ok(()),
    }
}

fn expect_no_variable(name: &str) -> Result<(), String> {
    match env::var_os(name) {
        Some(_) => Err(format!("did not expect the variable `{name}`")),
        None => Ok(()),
    }
}

fn tick(lines: u64, interval: Duration) {
    let mut next = Instant::now();
    for number in 1..=lines {
        thread::sleep(next.saturating_duration_since(Instant::now()));
        let now = system::monotonic_nanoseconds();
        let line = format!("{{\"type\":\"tick\",\"number\":{number},\"monotonic_ns\":{now}}}\n");
        output::write(Stream::Stdout, line.as_bytes());
        next += interval;
    }
}

/// Polls, because a file can appear on any filesystem; a named pipe needs no polling.
fn wait_for_file(path: &Path) -> std::io::Result<()> {
    loop {
        match fs::metadata(path) {
            Ok(metadata) if system::is_named_pipe(metadata.file_type()) => {
                return system::wait_for_writer(path);
            }
            Ok(_) => return Ok(()),
            Err(_) => thread::sleep(Duration::from_millis(2)),
        }
    }
}

fn die(signal: Signal) -> Result<(), String> {
    system::die_by(signal).map_err(|error| error.to_string())
}
