//! Writes a fixture's files.

use crate::conversation::{Ending, Entry, Outcome};
use crate::index;
use crate::scenario::{Input, Run, Scenario};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;
use test_support::fixtures::Capture;
use test_support::normalise::Normaliser;
use test_support::real_cli::Agent;

/// What there is to write.
pub(crate) struct Written<'a> {
    pub(crate) version: &'a str,
    pub(crate) scenario: &'a Scenario,
    /// As it was run, with everything filled in.
    pub(crate) run: &'a Run,
    pub(crate) outcome: &'a Outcome,
}

/// Of what other agents than Claude Code write to stderr: the first and the last lines, and not all of long ones. The
/// rest is help texts and traces.
const STDERR_FIRST: usize = 4;
const STDERR_LAST: usize = 8;
const STDERR_LINE_CHARS: usize = 160;

pub(crate) fn write(
    directory: &Path,
    written: &Written<'_>,
    normaliser: &mut Normaliser,
) -> io::Result<Capture> {
    let Written {
        version,
        scenario,
        run,
        outcome,
    } = *written;
    let directory = directory.join(version);
    fs::create_dir_all(&directory)?;
    let arguments: Vec<String> = run.arguments.iter().map(|text| normaliser.text(text)).collect();
    let (mut output, mut order, mut events) = (String::new(), String::new(), Vec::new());
    for entry in &outcome.entries {
        match entry {
            Entry::In(line) => {
                let line = normaliser.text(line);
                let line = serde_json::from_str(&line).unwrap_or(Value::String(line));
                order.push_str(&format!("{}\n", json!({"direction": "in", "line": line})));
            }
            Entry::InEnd => order.push_str(&format!("{}\n", json!({"direction": "in", "end": true}))),
            Entry::Out(line) => {
                let line = normaliser.line(&String::from_utf8_lossy(line));
                let line = line.trim_end_matches('\n');
                events.push(index::kind_of(line));
                output.push_str(line);
                output.push('\n');
                order.push_str(&format!(
                    "{}\n",
                    json!({"direction": "out", "number": events.len()})
                ));
            }
        }
    }
    let is_json = output
        .lines()
        .all(|line| serde_json::from_str::<Value>(line).is_ok());
    let file = |suffix: &str| directory.join(format!("{}.{suffix}", scenario.name));
    put(&file("ndjson"), if is_json { &output } else { "" })?;
    put(&file("stdout.txt"), if is_json { "" } else { &output })?;
    let stderr = match scenario.agent {
        Agent::Claude => normaliser.text(&outcome.stderr),
        Agent::Codex | Agent::Gemini | Agent::Qwen | Agent::Opencode | Agent::Copilot => {
            excerpt(&normaliser.text(&outcome.stderr))
        }
    };
    put(&file("stderr.txt"), &stderr)?;
    put(
        &file("io.ndjson"),
        if matches!(run.input, Input::Steps) {
            &order
        } else {
            ""
        },
    )?;
    Ok(Capture {
        version: version.to_owned(),
        name: scenario.name.to_owned(),
        what: scenario.what.to_owned(),
        arguments,
        variables: run
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={}", value.unwrap_or("(removed)")))
            .collect(),
        input: match &run.input {
            Input::Text(text) => Some(text.clone()),
            Input::Nothing | Input::Steps => None,
        },
        code: match outcome.ending {
            Ending::Code(code) => Some(code),
            Ending::Signal(_) => None,
        },
        signal: match outcome.ending {
            Ending::Code(_) => None,
            Ending::Signal(signal) => Some(signal),
        },
        events: index::condense(&events),
    })
}

fn excerpt(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("at "))
        .collect();
    let (first, last) = if lines.len() > STDERR_FIRST + STDERR_LAST {
        (&lines[..STDERR_FIRST], &lines[lines.len() - STDERR_LAST..])
    } else {
        (lines.as_slice(), [].as_slice())
    };
    let gap = (!last.is_empty()).then_some("…");
    first
        .iter()
        .copied()
        .chain(gap)
        .chain(last.iter().copied())
        .map(|line| {
            line.chars()
                .take(STDERR_LINE_CHARS)
                .chain(['\n'])
                .collect::<String>()
        })
        .collect()
}

/// A file that would be empty is not there.
fn put(path: &Path, text: &str) -> io::Result<()> {
    if !text.is_empty() {
        return fs::write(path, text);
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
