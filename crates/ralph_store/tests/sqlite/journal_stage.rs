//! Run directories to be indexed.

use std::fs;
use std::path::{Path, PathBuf};

use ralph_store::{Opened, SqliteOptions, SqliteStore};
use tempfile::TempDir;

/// A place with runs and room for an index.
pub(crate) struct Stage {
    home: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("runs")).unwrap();
        Self { home }
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.home.path().join("runs")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.path().join("data/ralph")
    }

    pub(crate) fn journal(&self, run: &str) -> PathBuf {
        self.runs().join(run).join("journal.ndjson")
    }

    pub(crate) fn options(&self) -> SqliteOptions {
        SqliteOptions {
            data_directory: self.data(),
            runs_directory: self.runs(),
            home: None,
        }
    }

    pub(crate) async fn open(&self) -> Opened {
        SqliteStore::open(self.options()).await.unwrap()
    }

    /// Writes a run of so many lines.
    pub(crate) fn write_run(&self, run: &str, lines: u64, ends: bool) {
        fs::create_dir_all(self.runs().join(run)).unwrap();
        let mut text = String::new();
        for seq in 1..=lines {
            let is_last = seq == lines && ends;
            text.push_str(&if is_last { last_line(seq) } else { line(run, seq) });
            text.push('\n');
        }
        fs::write(self.journal(run), text).unwrap();
    }

    pub(crate) fn append(&self, run: &str, text: &str) {
        append(&self.journal(run), text);
    }
}

pub(crate) fn append(path: &Path, text: &str) {
    use std::io::Write as _;
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A line of a run: its number says what.
pub(crate) fn line(run: &str, seq: u64) -> String {
    let (head, kind, data) = match seq {
        1 => (
            "",
            "run_started",
            format!(
                r#"{{"format_version":1,"run_id":"{run}","ralph_version":"0","workspace":"/w/{}","backend":"claude_code","display_name":"Claude","model":"claude-opus-4-5","max_iterations":5}}"#,
                run.len() % 2
            ),
        ),
        2 => (
            "",
            "iteration_started",
            format!(r#"{{"number":1,"prompt":"Do {run}"}}"#),
        ),
        3 => (
            "",
            "attempt_started",
            r#"{"number":1,"pid":1,"raw_log":"r","program":"p"}"#.to_owned(),
        ),
        4 => (AGENT, "session_started", format!(r#"{{"session_id":"s-{run}"}}"#)),
        _ => match seq % 8 {
            0 => (
                AGENT,
                "usage",
                format!(
                    r#"{{"scope":"step","tokens":{{}},"model":"claude-opus-4-5","run":{{"tokens":{{"input":{},"output":{seq}}},"is_partial":true}}}}"#,
                    seq * 10
                ),
            ),
            1 | 2 => (
                AGENT,
                "delta",
                r#"{"item":"i","part":"text","text":"x"}"#.to_owned(),
            ),
            3 => (
                AGENT,
                "text_block",
                format!(r#"{{"item":"i{seq}","text":"hello {seq}"}}"#),
            ),
            4 => (
                AGENT,
                "tool_started",
                format!(r#"{{"item":"t{seq}","name":"Bash","kind":"execute","state":"running"}}"#),
            ),
            5 => (
                AGENT,
                "permission_requested",
                format!(r#"{{"request":"q{seq}","tool":"Bash","kind":"execute"}}"#),
            ),
            6 => (
                AGENT,
                "request_closed",
                format!(r#"{{"request":"q{}","reason":"answered"}}"#, seq - 1),
            ),
            _ => (
                "",
                "command_received",
                format!(r#"{{"command_id":"c{seq}","command":"send","text":"hi","message_id":"m{seq}"}}"#),
            ),
        },
    };
    stamped(seq, head, kind, &data)
}

const AGENT: &str = r#""agent_kind":"claude_code","#;

fn last_line(seq: u64) -> String {
    stamped(
        seq,
        "",
        "run_ended",
        r#"{"reason":"completed","exit_code":0,"iterations":1,"totals":{"turns":1}}"#,
    )
}

fn stamped(seq: u64, head: &str, kind: &str, data: &str) -> String {
    let at = jiff::Timestamp::from_microsecond(1_794_787_200_000_000 + i64::try_from(seq).unwrap() * 1_001)
        .unwrap();
    let position = u8::from(seq > 1);
    format!(
        r#"{{"seq":{seq},"at":"{at}","iteration":{position},"attempt":{position},"event":{{{head}"type":"{kind}","data":{data}}}}}"#
    )
}
