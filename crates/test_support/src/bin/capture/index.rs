//! `index.json`: how each fixture came to be.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One fixture's origin.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Capture {
    pub(crate) version: String,
    pub(crate) name: String,
    pub(crate) what: String,
    pub(crate) arguments: Vec<String>,
    /// On top of the isolated environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) variables: Vec<String>,
    /// Written to stdin at once, then closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) signal: Option<i32>,
    /// Kinds in order, runs of the same kind counted.
    pub(crate) events: String,
}

pub(crate) struct Index {
    path: PathBuf,
    captures: Vec<Capture>,
}

impl Index {
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        let path = directory.join("index.json");
        let captures = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { path, captures })
    }

    pub(crate) fn put(&mut self, capture: Capture) {
        self.captures
            .retain(|known| (&known.version, &known.name) != (&capture.version, &capture.name));
        self.captures.push(capture);
        self.captures
            .sort_by(|one, other| (&one.version, &one.name).cmp(&(&other.version, &other.name)));
    }

    pub(crate) fn save(&self) -> io::Result<()> {
        fs::write(&self.path, serde_json::to_string_pretty(&self.captures)? + "\n")
    }
}

/// `type` and what tells more about it.
pub(crate) fn kind_of(line: &str) -> String {
    let Ok(event) = serde_json::from_str::<Value>(line) else {
        return "(not JSON)".to_owned();
    };
    let kind = event["type"].as_str().unwrap_or("(no type)");
    let detail = [
        &event["subtype"],
        &event["request"]["subtype"],
        &event["response"]["subtype"],
    ];
    match detail.into_iter().find_map(Value::as_str) {
        Some(detail) => format!("{kind}/{detail}"),
        None => kind.to_owned(),
    }
}

pub(crate) fn condense(kinds: &[String]) -> String {
    let runs = kinds.chunk_by(|one, next| one == next).map(|run| match run {
        [kind] => kind.clone(),
        [kind, ..] => format!("{kind}×{}", run.len()),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(" ")
}
