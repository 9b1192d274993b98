//! What is parsed.

use std::path::{Path, PathBuf};

use bytes::Bytes;

/// The captured lines in the repository.
pub const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/test_support/fixtures/claude");

const LONGEST_FIXTURE_LINE_BYTES: usize = 64 * 1024;
const BIG_TEXT_BYTES: usize = 2_000_000;

/// Lines in memory, each with its newline.
pub struct Corpus {
    pub name: &'static str,
    pub bytes: Bytes,
    pub line_count: usize,
}

impl Corpus {
    /// All captured lines up to 64 KiB, over and over.
    pub fn of_fixtures(directory: &Path, size_bytes: usize) -> Result<Self, String> {
        let mut files = Vec::new();
        find_captures(directory, &mut files)?;
        files.sort();
        let mut lines = Vec::new();
        for file in &files {
            let content = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
            let fit = content.split(|byte| *byte == b'\n').filter(|line| line.len() <= LONGEST_FIXTURE_LINE_BYTES);
            lines.extend(fit.filter(|line| line.starts_with(b"{")).map(<[u8]>::to_vec));
        }
        if lines.is_empty() {
            return Err(format!("no captured lines under `{}`", directory.display()));
        }
        Ok(Self::repeat("captured lines up to 64 KiB", &lines, size_bytes))
    }

    /// What a tool that writes a 2 MB text file leaves behind, as captured: the call, and the result with its
    /// structured twin.
    pub fn of_big_lines(size_bytes: usize) -> Self {
        let text = json_text(|_| "The quick brown fox.\n".to_owned());
        let lines = [
            assistant(&format!(
                r#"{{"type":"tool_use","id":"toolu_01","name":"Write","input":{{"file_path":"/workspace/big.txt","content":{text}}}}}"#
            )),
            format!(
                r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_01","type":"tool_result","content":"File created successfully at: /workspace/big.txt"}}]}},{TAIL},"tool_use_result":{{"type":"create","filePath":"/workspace/big.txt","content":{text},"structuredPatch":[],"originalFile":null}}}}"#
            ),
        ];
        Self::repeat("lines of 2 MB", &lines.map(String::into_bytes), size_bytes)
    }

    /// 2 MB of source code as an answer: full of escapes, and all of it must be decoded.
    pub fn of_big_answers(size_bytes: usize) -> Self {
        let text = json_text(|number| {
            format!("    let value_{number} = map.get(\"key {number}\"); // größer als {number}\n")
        });
        let line = assistant(&format!(r#"{{"type":"text","text":{text}}}"#));
        Self::repeat("answers of 2 MB", &[line.into_bytes()], size_bytes)
    }

    fn repeat(name: &'static str, lines: &[Vec<u8>], size_bytes: usize) -> Self {
        let mut bytes = Vec::with_capacity(size_bytes + 4_000_000);
        let mut line_count = 0;
        for line in lines.iter().cycle() {
            if bytes.len() >= size_bytes {
                break;
            }
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
            line_count += 1;
        }
        Self { name, bytes: Bytes::from(bytes), line_count }
    }
}

/// What all lines end with.
const TAIL: &str = r#""parent_tool_use_id":null,"session_id":"904d7bf7-af57-4680-81dc-050eab5d720d","uuid":"e65ef018-7b86-4d39-9b16-01b71d64a554""#;

/// 2 MB of numbered lines, as a JSON string.
fn json_text(line: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(BIG_TEXT_BYTES + 128);
    let mut number = 0;
    while text.len() < BIG_TEXT_BYTES {
        number += 1;
        text.push_str(&line(number));
    }
    serde_json::to_string(&text).unwrap_or_default()
}

fn assistant(block: &str) -> String {
    let usage = r#"{"input_tokens":12,"cache_creation_input_tokens":2048,"cache_read_input_tokens":1024,"output_tokens":1}"#;
    format!(
        r#"{{"type":"assistant","message":{{"id":"msg_01","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{usage}}},{TAIL}}}"#
    )
}

/// Streams as captured from the CLI; `.io.ndjson` files hold both directions in a shape of their own.
fn find_captures(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.to_string_lossy();
        if path.is_dir() {
            find_captures(&path, files)?;
        } else if name.ends_with(".ndjson") && !name.ends_with(".io.ndjson") && !name.contains("/transcript_") {
            files.push(path);
        }
    }
    Ok(())
}
