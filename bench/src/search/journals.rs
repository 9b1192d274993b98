//! Journals as agents write them: the texts are pieces of this repository, with names and numbers nobody else has.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use ralph_store::RunSummary;

use super::{Random, summary};
use crate::process::explain;

const RECORDS_OF_RUN: usize = 2_000;
/// Runs that go on at the same time.
const ABREAST: usize = 4;
const STEP_MS: u64 = 900;
const START_MS: u64 = 1_790_000_000_000;
pub const TOOLS: [&str; 6] = ["Bash", "Read", "Edit", "Grep", "Write", "WebFetch"];
pub const WORKSPACES: usize = 20;
const BACKENDS: [&str; 3] = ["claude", "codex", "gemini"];

/// What texts are made of.
pub struct Corpus {
    pub lines: Vec<String>,
}

/// What was written.
pub struct Written {
    pub runs: Vec<(RunSummary, u64)>,
    pub journal_bytes: u64,
    /// Records with words, and their words.
    pub texts: u64,
    pub text_bytes: u64,
}

impl Corpus {
    pub fn load() -> Result<Self, String> {
        let mut lines = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for name in ["crates", "docs"] {
            collect(&root.join(name), &mut lines)?;
        }
        Ok(Self { lines })
    }

    /// Some text of about this many bytes.
    pub fn text(&self, random: &mut Random, size_bytes: usize) -> String {
        let mut text = String::with_capacity(size_bytes + 200);
        let mut at = random.below(self.lines.len());
        while text.len() < size_bytes {
            for (index, word) in self.lines[at % self.lines.len()].split(' ').enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                match random.below(100) {
                    0 if !word.is_empty() => text.push_str(&format!("{:07x}", random.below(1 << 28))),
                    1 if !word.is_empty() => text.push_str(&random.below(1_000_000).to_string()),
                    2 if !word.is_empty() => text.push_str(&format!("name{}", random.below(50_000))),
                    _ => text.push_str(word),
                }
            }
            text.push('\n');
            at += 1;
        }
        let end = text.floor_char_boundary(size_bytes.max(1));
        text.truncate(end);
        text
    }
}

/// Writes journals with so many records in all; pieces of text that come besides do not count.
pub fn write(corpus: &Corpus, directory: &Path, records: usize) -> Result<Written, String> {
    let mut written = Written {
        runs: Vec::new(),
        journal_bytes: 0,
        texts: 0,
        text_bytes: 0,
    };
    let mut left = records;
    while left > 0 {
        let number = written.runs.len();
        let mut journal = Journal::create(directory, number)?;
        let count = left.min(RECORDS_OF_RUN);
        for _ in 1..count {
            journal.record(corpus)?;
        }
        left -= count;
        written.texts += journal.texts;
        written.text_bytes += journal.text_bytes;
        written.journal_bytes += journal.offset;
        written.runs.push((journal.summary.clone(), journal.offset));
        journal.flush()?;
    }
    Ok(written)
}

/// A journal that is being written.
pub struct Journal {
    pub summary: RunSummary,
    pub offset: u64,
    pub texts: u64,
    pub text_bytes: u64,
    file: BufWriter<File>,
    random: Random,
    seq: u64,
    /// Records without the pieces of text: which kind comes next.
    step: u64,
    at_ms: u64,
    calls: u64,
    tool: &'static str,
}

impl Journal {
    pub fn create(directory: &Path, number: usize) -> Result<Self, String> {
        let id = format!("20261115-{:06}-{number:06x}", number % 1_000_000);
        let folder = directory.join(&id);
        fs::create_dir_all(&folder).map_err(explain)?;
        let file = File::create(folder.join("journal.ndjson")).map_err(explain)?;
        let at_ms = START_MS + (number / ABREAST * RECORDS_OF_RUN) as u64 * STEP_MS;
        let (workspace, backend) = (number % WORKSPACES, BACKENDS[number % BACKENDS.len()]);
        let first = format!(
            r#"{{"seq":1,"at":"{}","iteration":0,"attempt":0,"event":{{"type":"run_started","data":{{"format_version":1,"run_id":"{id}","ralph_version":"0.1.0","workspace":"/home/somebody/project-{workspace}","backend":"{backend}","display_name":"{backend}","max_iterations":5}}}}}}"#,
            time(at_ms)
        );
        let mut journal = Self {
            summary: summary(first.as_bytes())?,
            offset: 0,
            texts: 0,
            text_bytes: 0,
            file: BufWriter::with_capacity(1 << 16, file),
            random: Random(number as u64),
            seq: 1,
            step: 1,
            at_ms,
            calls: 0,
            tool: TOOLS[0],
        };
        journal.line(&first)?;
        Ok(journal)
    }

    /// Writes one record, and sometimes pieces of text before it.
    pub fn record(&mut self, corpus: &Corpus) -> Result<(), String> {
        self.at_ms += self.random.below(2 * STEP_MS as usize) as u64;
        let step = self.step % 10;
        self.step += 1;
        match step {
            0 | 5 => self.event("status_changed", r#"{"status":"requesting"}"#),
            1 => self.event("usage", r#"{"scope":"step","tokens":{"input":12,"cache_read":14000,"cache_write":640,"output":1,"reasoning":0},"model":"x","context":{"used":14652}}"#),
            2 => {
                self.count("framing\ncontent_block_stop".len());
                self.event("notice", r#"{"severity":"debug","code":"framing","message":"content_block_stop"}"#)
            }
            3 => self.said("thinking_block", corpus, 250),
            4 => {
                for _ in 0..5 {
                    let data = format!(r#"{{"item":"m/0","part":"text","text":{}}}"#, json(&corpus.text(&mut self.random, 40)));
                    self.event("delta", &data)?;
                }
                self.said("text_block", corpus, 300)
            }
            6 | 8 => {
                self.calls += 1;
                self.tool = TOOLS[self.random.below(TOOLS.len())];
                let command = corpus.text(&mut self.random, 300);
                self.count(self.tool.len() + 1 + command.len());
                let data = format!(
                    r#"{{"item":"toolu_{}","name":"{}","kind":"execute","input":{{"command":{}}},"state":"running"}}"#,
                    self.calls, self.tool, json(&command)
                );
                self.event("tool_started", &data)
            }
            _ => {
                let size_bytes = match self.random.below(100) {
                    0..20 => 200,
                    20..80 => 1_000,
                    80..98 => 3_000,
                    _ => 20_000,
                };
                let output = corpus.text(&mut self.random, size_bytes);
                self.count(output.len());
                let data = format!(
                    r#"{{"item":"toolu_{}","status":"completed","output":{}}}"#,
                    self.calls, json(&output)
                );
                self.event("tool_finished", &data)
            }
        }
    }

    pub fn flush(&mut self) -> Result<(), String> {
        self.file.flush().map_err(explain)
    }

    fn said(&mut self, kind: &str, corpus: &Corpus, size_bytes: usize) -> Result<(), String> {
        let text = corpus.text(&mut self.random, size_bytes);
        self.count(text.len());
        self.event(
            kind,
            &format!(r#"{{"item":"msg_{}/0","text":{}}}"#, self.seq, json(&text)),
        )
    }

    fn count(&mut self, bytes: usize) {
        self.texts += 1;
        self.text_bytes += bytes as u64;
    }

    fn event(&mut self, kind: &str, data: &str) -> Result<(), String> {
        self.seq += 1;
        let line = format!(
            r#"{{"seq":{},"at":"{}","iteration":1,"attempt":1,"event":{{"agent_kind":"{}","raw":{{"line":2,"offset":400,"length":703}},"type":"{kind}","data":{data}}}}}"#,
            self.seq,
            time(self.at_ms),
            self.summary.backend
        );
        self.line(&line)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        self.offset += line.len() as u64 + 1;
        writeln!(self.file, "{line}").map_err(explain)
    }
}

fn collect(folder: &Path, lines: &mut Vec<String>) -> Result<(), String> {
    for entry in fs::read_dir(folder).map_err(explain)? {
        let path = entry.map_err(explain)?.path();
        if path.is_dir() {
            collect(&path, lines)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "md")
        {
            lines.extend(
                fs::read_to_string(&path)
                    .map_err(explain)?
                    .lines()
                    .map(str::to_owned),
            );
        }
    }
    Ok(())
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// A time as journals have it.
pub fn time(at_ms: u64) -> String {
    jiff::Timestamp::from_millisecond(at_ms as i64)
        .map(|at| at.to_string())
        .unwrap_or_default()
}

/// When the last record of so many runs was written, about.
pub fn end_ms(runs: usize) -> u64 {
    START_MS + (runs / ABREAST * RECORDS_OF_RUN) as u64 * STEP_MS
}
