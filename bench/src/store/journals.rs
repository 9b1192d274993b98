//! Journals as agents leave them: half of the lines are pieces of text, a few lines are long.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use crate::process::explain;

/// Lines of a run. Real ones have a few hundred to a few hundred thousand.
const LINES: u64 = 10_000;
const SOURCE: &str = include_str!("journals.rs");

/// What was written.
#[derive(Debug, Default, Clone, Copy)]
pub struct Written {
    pub runs: usize,
    pub lines: u64,
    pub bytes: u64,
}

/// Writes runs until they have so many bytes together.
pub fn write(runs: &Path, bytes: u64) -> Result<Written, String> {
    let mut written = Written::default();
    while written.bytes < bytes {
        let name = format!("20261116-{:06x}-{:06x}", written.runs, written.runs);
        let directory = runs.join(&name);
        fs::create_dir_all(&directory).map_err(explain)?;
        let mut journal = Journal {
            file: BufWriter::with_capacity(
                1 << 20,
                File::create(directory.join("journal.ndjson")).map_err(explain)?,
            ),
            name,
            seq: 0,
            bytes: 0,
            at_ns: 1_794_787_200_000_000_000 + i128::try_from(written.runs).unwrap_or(0) * 1_000_000_000,
            tokens: (0, 0),
            random: written.runs as u64 + 1,
        };
        journal.write(LINES)?;
        written.runs += 1;
        written.lines += journal.seq;
        written.bytes += journal.bytes;
    }
    Ok(written)
}

/// Writes one run of so many lines into a directory.
pub fn write_one(directory: &Path, lines: u64) -> Result<Written, String> {
    fs::create_dir_all(directory).map_err(explain)?;
    let file = File::create(directory.join("journal.ndjson")).map_err(explain)?;
    let mut journal = Journal {
        file: BufWriter::with_capacity(1 << 20, file),
        name: "20261116-000000-000000".to_owned(),
        seq: 0,
        bytes: 0,
        at_ns: 1_794_787_200_000_000_000,
        tokens: (0, 0),
        random: 1,
    };
    journal.write(lines)?;
    Ok(Written {
        runs: 1,
        lines: journal.seq,
        bytes: journal.bytes,
    })
}

struct Journal {
    file: BufWriter<File>,
    name: String,
    seq: u64,
    bytes: u64,
    at_ns: i128,
    tokens: (u64, u64),
    random: u64,
}

impl Journal {
    fn write(&mut self, lines: u64) -> Result<(), String> {
        let began = format!(
            r#"{{"format_version":1,"run_id":"{}","ralph_version":"0.1.0","workspace":"/home/user/project-{}","backend":"claude_code","display_name":"Claude","model":"claude-opus-4-5","permission_mode":"bypass","max_iterations":50,"max_cost":10000000}}"#,
            self.name,
            self.random % 7
        );
        self.line("", "run_started", &began)?;
        let prompt = self.text(800);
        self.line(
            "",
            "iteration_started",
            &format!(r#"{{"number":1,"prompt":"{prompt}"}}"#),
        )?;
        self.line(
            "",
            "attempt_started",
            r#"{"number":1,"pid":4711,"raw_log":"raw/1.ndjson","program":"claude_code"}"#,
        )?;
        let session = format!(
            r#"{{"session_id":"{}","model":"claude-opus-4-5","cwd":"/home/user/project","agent_version":"2.1.325","tools":["Bash","Edit","Read"]}}"#,
            self.name
        );
        self.line(AGENT, "session_started", &session)?;
        self.line(AGENT, "turn_started", r#"{"number":1}"#)?;
        while self.seq < lines {
            self.step()?;
        }
        let (input, output) = self.tokens;
        let totals = format!(
            r#"{{"tokens":{{"input":{input},"cache_read":0,"cache_write":0,"output":{output},"reasoning":0}},"cost":{},"turns":1,"duration_ms":60000}}"#,
            input * 5 + output * 25
        );
        self.line(
            "",
            "attempt_ended",
            &format!(r#"{{"outcome":"succeeded","exit":{{"code":0}},"totals":{totals}}}"#),
        )?;
        self.line(
            "",
            "run_ended",
            &format!(r#"{{"reason":"completed","exit_code":0,"iterations":1,"totals":{totals}}}"#),
        )?;
        self.file.flush().map_err(explain)
    }

    /// A message of the model: thinking, text, a tool call and what came of it.
    fn step(&mut self) -> Result<(), String> {
        let message = format!("msg_{:016x}", self.seq);
        self.line(AGENT, "status_changed", r#"{"status":"requesting"}"#)?;
        self.tokens.0 += 700;
        self.usage(Some("claude-opus-4-5"))?;
        for piece in 0..10 {
            let (part, size) = if piece < 3 { ("thinking", 40) } else { ("text", 90) };
            let text = self.text(size);
            self.line(
                AGENT,
                "delta",
                &format!(r#"{{"item":"{message}/0","part":"{part}","text":"{text}"}}"#),
            )?;
        }
        let text = self.text(650);
        self.line(
            AGENT,
            "text_block",
            &format!(r#"{{"item":"{message}/0","text":"{text}"}}"#),
        )?;
        self.tokens.1 += 180;
        self.usage(None)?;
        let command = self.text(120);
        let call = format!(r#""item":"toolu_{:016x}""#, self.seq);
        for state in ["preparing", "running"] {
            self.line(AGENT, "tool_started", &format!(r#"{{{call},"name":"Bash","kind":"execute","subject":"{command}","input":{{"command":"{command}","description":"look"}},"state":"{state}"}}"#))?;
        }
        let size = match self.next(10) {
            0 => 12_000,
            1..4 => 3_000,
            _ => 400,
        };
        let output = self.text(size);
        self.line(
            AGENT,
            "tool_finished",
            &format!(r#"{{{call},"status":"completed","output":"{output}"}}"#),
        )?;
        self.line(
            AGENT,
            "notice",
            r#"{"severity":"debug","code":"framing","message":"content_block_start"}"#,
        )?;
        if self.next(20) == 0 {
            let request = format!(r#""request":"req-{}""#, self.seq);
            self.line(
                AGENT,
                "permission_requested",
                &format!(r#"{{{request},"tool":"Bash","kind":"execute","input":{{"command":"{command}"}}}}"#),
            )?;
            self.line(
                AGENT,
                "request_closed",
                &format!(r#"{{{request},"reason":"answered"}}"#),
            )?;
        }
        Ok(())
    }

    fn usage(&mut self, model: Option<&str>) -> Result<(), String> {
        let model = model.map_or_else(String::new, |model| format!(r#""model":"{model}","#));
        let (input, output) = self.tokens;
        let data = format!(
            r#"{{"scope":"step","tokens":{{"input":700,"cache_read":14000,"cache_write":640,"output":180,"reasoning":0}},{model}"context":{{"used":14652}},"run":{{"tokens":{{"input":{input},"cache_read":0,"cache_write":0,"output":{output},"reasoning":0}},"is_partial":true}}}}"#
        );
        self.line(AGENT, "usage", &data)
    }

    fn line(&mut self, head: &str, kind: &str, data: &str) -> Result<(), String> {
        self.seq += 1;
        self.at_ns += 31_000_123;
        let at = jiff::Timestamp::from_nanosecond(self.at_ns).map_err(|error| error.to_string())?;
        let line = format!(
            "{{\"seq\":{},\"at\":\"{at}\",\"iteration\":1,\"attempt\":1,\"event\":{{{head}\"type\":\"{kind}\",\"data\":{data}}}}}\n",
            self.seq
        );
        self.bytes += line.len() as u64;
        self.file.write_all(line.as_bytes()).map_err(explain)
    }

    /// Some of this very program, as text in JSON.
    fn text(&mut self, size: usize) -> String {
        let mut text = String::with_capacity(size + 32);
        while text.len() < size {
            let start = self.next(SOURCE.len() - 200);
            let piece: String = SOURCE
                .chars()
                .skip(start)
                .take(200.min(size - text.len()))
                .collect();
            let quoted = serde_json::to_string(&piece).unwrap_or_default();
            text.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
        }
        text
    }

    fn next(&mut self, limit: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % (limit as u64)).unwrap_or(0)
    }
}

const AGENT: &str = r#""agent_kind":"claude_code","raw":{"line":1234,"offset":123456,"length":707},"#;
