//! Runs that have ended, as their journals are.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use crate::process::explain;

struct Writer {
    file: BufWriter<File>,
    seq: u64,
    bytes: usize,
}

impl Writer {
    fn create(runs: &Path, id: &str) -> Result<Self, String> {
        let directory = runs.join(id);
        std::fs::create_dir(&directory).map_err(explain)?;
        let file = File::create(directory.join("journal.ndjson")).map_err(explain)?;
        let mut writer = Self {
            file: BufWriter::new(file),
            seq: 0,
            bytes: 0,
        };
        writer.line("", "run_started", &format!(
            r#"{{"format_version":1,"run_id":"{id}","ralph_version":"0.1.0","workspace":"/home/user/project","backend":"claude_code","display_name":"Claude","max_iterations":1}}"#
        ))?;
        writer.line("", "iteration_started", r#"{"number":1,"prompt":"Do it."}"#)?;
        Ok(writer)
    }

    fn line(&mut self, agent: &str, kind: &str, data: &str) -> Result<(), String> {
        self.seq += 1;
        let line = format!(
            r#"{{"seq":{},"at":"2026-11-16T03:00:00.{:06}Z","iteration":1,"attempt":1,"event":{{{agent}"type":"{kind}","data":{data}}}}}"#,
            self.seq,
            self.seq % 1_000_000
        );
        self.bytes += line.len() + 1;
        writeln!(self.file, "{line}").map_err(explain)
    }

    fn end(mut self) -> Result<u64, String> {
        self.line("", "run_ended", r#"{"reason":"completed","exit_code":0,"iterations":1,"totals":{"tokens":{},"turns":1,"duration_ms":5}}"#)?;
        self.file.flush().map_err(explain)?;
        Ok(self.seq)
    }
}

const AGENT: &str = r#""agent_kind":"claude_code","#;

/// Many short ones.
pub fn write_many(runs: &Path, count: usize) -> Result<(), String> {
    for number in 0..count {
        let mut writer = Writer::create(runs, &format!("20260101-{:06}-{number:06x}", number % 235_959))?;
        let data = format!(r#"{{"item":"m/0","text":"the answer of run {number}"}}"#);
        writer.line(AGENT, "text_block", &data)?;
        writer.end()?;
    }
    Ok(())
}

/// A long one, of about so many bytes: its name and its last record.
pub fn write_long(runs: &Path, deltas: u64, bytes: usize) -> Result<(String, u64), String> {
    let id = "20260102-000000-000000";
    let mut writer = Writer::create(runs, id)?;
    let text = (0..10)
        .map(|piece| format!("piece {piece} of it. "))
        .collect::<String>();
    let mut output = String::new();
    for round in 0..deltas / 10 {
        let others = writer.bytes;
        for piece in 0..10 {
            let data = format!(
                r#"{{"item":"m{round}/0","part":"text","mode":"append","text":"piece {piece} of it. "}}"#
            );
            writer.line(AGENT, "delta", &data)?;
        }
        writer.line(
            AGENT,
            "text_block",
            &format!(r#"{{"item":"m{round}/0","text":"{text}"}}"#),
        )?;
        let started = format!(
            r#"{{"item":"c{round}","name":"Bash","kind":"execute","input":{{"command":"cat"}},"state":"running"}}"#
        );
        writer.line(AGENT, "tool_started", &started)?;
        if output.is_empty() {
            // The rest of the round's share.
            let others = writer.bytes - others + 200;
            let share = bytes / usize::try_from(deltas / 10).map_err(explain)?;
            output = "some words of a long output\\n".repeat(share.saturating_sub(others) / 29);
        }
        let finished = format!(r#"{{"item":"c{round}","status":"completed","output":"{output}"}}"#);
        writer.line(AGENT, "tool_finished", &finished)?;
    }
    Ok((id.to_owned(), writer.end()?))
}
