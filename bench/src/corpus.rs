//! What is parsed.

use std::ops::Range;
use std::path::{Path, PathBuf};

use bytes::Bytes;

/// The captured lines in the repository.
pub const FIXTURES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/test_support/fixtures/claude"
);

const LONGEST_FIXTURE_LINE_BYTES: usize = 64 * 1024;
const BIG_TEXT_BYTES: usize = 2_000_000;

/// A mixed corpus repeats itself after this much.
const MIXED_PERIOD_BYTES: usize = 20_000_000;

/// A real answer has hundreds of pieces, a captured one a handful.
const PIECES_PER_CAPTURED_PIECE: usize = 100;

/// How often the middle of a captured run is repeated to make a long one.
const STEPS_PER_CAPTURED_STEP: usize = 50;

/// Lines in memory, each with its newline.
pub struct Corpus {
    pub name: &'static str,
    pub bytes: Bytes,
    pub line_count: usize,
    /// What each process wrote: names mean something within it only.
    pub runs: Vec<Range<usize>>,
}

/// The lines of one process.
type Run = Vec<Vec<u8>>;

impl Corpus {
    /// All captured lines up to 64 KiB, over and over.
    pub fn of_fixtures(directory: &Path, size_bytes: usize) -> Result<Self, String> {
        Ok(Self::repeat(
            "captured lines up to 64 KiB",
            &captured_runs(directory)?,
            size_bytes,
        ))
    }

    /// Long runs: between start and result of each capture the same again and again, under new names.
    pub fn of_long_sessions(directory: &Path, size_bytes: usize) -> Result<Self, String> {
        let runs: Vec<Run> = captured_runs(directory)?
            .into_iter()
            .filter_map(lengthened)
            .collect();
        Ok(Self::repeat("long sessions, steps 50 times", &runs, size_bytes))
    }

    /// The captures that were made with partial messages.
    pub fn of_partial_streams(directory: &Path, size_bytes: usize) -> Result<Self, String> {
        Ok(Self::repeat(
            "partial streams as captured",
            &partial_runs(directory)?,
            size_bytes,
        ))
    }

    /// The same with many more pieces, as real answers have them.
    pub fn of_long_partial_streams(directory: &Path, size_bytes: usize) -> Result<Self, String> {
        let lengthen = |line: Vec<u8>| {
            let count = if is_piece(&line) {
                PIECES_PER_CAPTURED_PIECE
            } else {
                1
            };
            std::iter::repeat_n(line, count)
        };
        let runs = partial_runs(directory)?.into_iter();
        let runs: Vec<Run> = runs
            .map(|run| run.into_iter().flat_map(lengthen).collect())
            .collect();
        Ok(Self::repeat(
            "partial streams, pieces 100 times",
            &runs,
            size_bytes,
        ))
    }

    /// Everything that was captured of another agent.
    pub fn of_agent(name: &'static str, directory: &Path, size_bytes: usize) -> Result<Self, String> {
        Ok(Self::repeat(name, &captured_runs(directory)?, size_bytes))
    }

    /// What a tool that writes a 2 MB text file leaves behind, as captured: the call, and the result with its
    /// structured twin.
    pub fn of_big_lines(size_bytes: usize) -> Self {
        Self::repeat("lines of 2 MB", &[big_run()], size_bytes)
    }

    /// Half of the bytes are captured lines, half are lines of 2 MB.
    pub fn of_mixed(directory: &Path, size_bytes: usize) -> Result<Self, String> {
        let size = |run: &Run| run.iter().map(Vec::len).sum::<usize>();
        let big = big_run();
        let (mut runs, mut captured_bytes, mut big_bytes) = (Vec::new(), 0, 0);
        for run in captured_runs(directory)?.iter().cycle() {
            if captured_bytes + big_bytes >= size_bytes.min(MIXED_PERIOD_BYTES) {
                break;
            }
            captured_bytes += size(run);
            runs.push(run.clone());
            while big_bytes < captured_bytes {
                big_bytes += size(&big);
                runs.push(big.clone());
            }
        }
        Ok(Self::repeat(
            "captured lines and lines of 2 MB",
            &runs,
            size_bytes,
        ))
    }

    /// 2 MB of source code as an answer: full of escapes, and all of it must be decoded.
    pub fn of_big_answers(size_bytes: usize) -> Self {
        let text = json_text(|number| {
            format!("    let value_{number} = map.get(\"key {number}\"); // größer als {number}\n")
        });
        let line = assistant(&format!(r#"{{"type":"text","text":{text}}}"#));
        Self::repeat("answers of 2 MB", &[vec![line.into_bytes()]], size_bytes)
    }

    fn repeat(name: &'static str, runs: &[Run], size_bytes: usize) -> Self {
        let mut bytes = Vec::with_capacity(size_bytes + 5_000_000);
        let mut line_count = 0;
        let mut places = Vec::new();
        for run in runs.iter().cycle() {
            if bytes.len() >= size_bytes {
                break;
            }
            let start = bytes.len();
            for line in run {
                bytes.extend_from_slice(line);
                bytes.push(b'\n');
            }
            line_count += run.len();
            places.push(start..bytes.len());
        }
        Self {
            name,
            bytes: Bytes::from(bytes),
            line_count,
            runs: places,
        }
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

/// The call and the result.
fn big_run() -> Run {
    let text = json_text(|_| "The quick brown fox.\n".to_owned());
    let lines = [
        assistant(&format!(
            r#"{{"type":"tool_use","id":"toolu_01","name":"Write","input":{{"file_path":"/workspace/big.txt","content":{text}}}}}"#
        )),
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_01","type":"tool_result","content":"File created successfully at: /workspace/big.txt"}}]}},{TAIL},"tool_use_result":{{"type":"create","filePath":"/workspace/big.txt","content":{text},"structuredPatch":[],"originalFile":null}}}}"#
        ),
    ];
    lines.map(String::into_bytes).to_vec()
}

fn assistant(block: &str) -> String {
    let usage = r#"{"input_tokens":12,"cache_creation_input_tokens":2048,"cache_read_input_tokens":1024,"output_tokens":1}"#;
    format!(
        r#"{{"type":"assistant","message":{{"id":"msg_01","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{usage}}},{TAIL}}}"#
    )
}

/// The lines of each capture that are objects and not too long.
fn captured_runs(directory: &Path) -> Result<Vec<Run>, String> {
    let mut files = Vec::new();
    find_captures(directory, &mut files)?;
    files.sort();
    let mut runs = Vec::new();
    for file in &files {
        let content = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let lines = content
            .split(|byte| *byte == b'\n')
            .filter(|line| line.len() <= LONGEST_FIXTURE_LINE_BYTES);
        runs.push(
            lines
                .filter(|line| line.starts_with(b"{"))
                .map(<[u8]>::to_vec)
                .collect::<Run>(),
        );
    }
    runs.retain(|run| !run.is_empty());
    if runs.is_empty() {
        return Err(format!("no captured lines under `{}`", directory.display()));
    }
    Ok(runs)
}

fn partial_runs(directory: &Path) -> Result<Vec<Run>, String> {
    let mut runs = captured_runs(directory)?;
    runs.retain(|run| run.iter().any(|line| is_piece(line)));
    if runs.is_empty() {
        return Err(format!(
            "no captured partial messages under `{}`",
            directory.display()
        ));
    }
    Ok(runs)
}

fn lengthened(run: Run) -> Option<Run> {
    let is_start = |line: &&Vec<u8>| line.starts_with(br#"{"type":"system","subtype":"init""#);
    let start = run.first().filter(is_start)?;
    let is_end = |line: &Vec<u8>| memchr::memmem::find(line, br#""type":"result""#).is_some();
    let end = run.iter().position(is_end)?;
    let steps = run.get(1..end).filter(|steps| !steps.is_empty())?;
    let renamed = |number| steps.iter().map(move |line| renumbered(line, number));
    let steps = (0..STEPS_PER_CAPTURED_STEP).flat_map(renamed);
    Some(
        std::iter::once(start.clone())
            .chain(steps)
            .chain([run[end].clone()])
            .collect(),
    )
}

/// Messages and calls have names of 24 digits that differ at the end only.
fn renumbered(line: &[u8], number: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    text.replace(
        "_0100000000000000000000",
        &format!("_0100000000000000{number:06}"),
    )
    .into_bytes()
}

fn is_piece(line: &[u8]) -> bool {
    line.starts_with(br#"{"type":"stream_event","event":{"type":"content_block_delta""#)
}

/// Streams as captured from the CLI; `.io.ndjson` files hold both directions in a shape of their own.
fn find_captures(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.to_string_lossy();
        if path.is_dir() {
            find_captures(&path, files)?;
        } else if name.ends_with(".ndjson") && !name.ends_with(".io.ndjson") && !name.contains("/transcript_")
        {
            files.push(path);
        }
    }
    Ok(())
}
