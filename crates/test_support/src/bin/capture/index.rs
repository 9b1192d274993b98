//! `index.json`: how each fixture came to be.

use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use test_support::fixtures::Capture;

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
    // JSON-RPC: requests and notifications have a method, answers a result or an error.
    if let Some(method) = event["method"].as_str() {
        return match event["params"]["update"]["sessionUpdate"].as_str() {
            Some(update) => format!("{method}/{update}"),
            None => method.to_owned(),
        };
    }
    if let Some(answer) = ["result", "error"]
        .into_iter()
        .find(|key| event.get("id").is_some() && event.get(key).is_some())
    {
        return format!("({answer})");
    }
    let kind = event["type"].as_str().unwrap_or("(no type)");
    let detail = [
        &event["subtype"],
        &event["request"]["subtype"],
        &event["response"]["subtype"],
        // Codex and Gemini.
        &event["item"]["type"],
        &event["role"],
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
