//! Writes a fixture's files.

use crate::conversation::{Ending, Entry, Outcome};
use crate::index::{self, Capture};
use crate::scenario::{Input, Scenario};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;
use test_support::normalise::Normaliser;

pub(crate) fn write(
    directory: &Path,
    version: &str,
    scenario: &Scenario,
    outcome: &Outcome,
    normaliser: &mut Normaliser,
) -> io::Result<Capture> {
    let directory = directory.join(version);
    fs::create_dir_all(&directory)?;
    let arguments: Vec<String> = scenario
        .run
        .arguments
        .iter()
        .map(|text| normaliser.text(text))
        .collect();
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
    put(&file("stderr.txt"), &normaliser.text(&outcome.stderr))?;
    put(
        &file("io.ndjson"),
        if matches!(scenario.run.input, Input::Steps) {
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
        variables: scenario
            .run
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={}", value.unwrap_or("(removed)")))
            .collect(),
        input: match &scenario.run.input {
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
