//! `Frame`: what clients are sent of a run, encoded once for all of them.

use axum::extract::ws::Utf8Bytes;
use ralph_run::ports::Place;

/// Records of a run that follow each other.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The first record it stands for.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// Where the first one begins in the journal.
    pub start: Place,
    /// Where the last one ends there.
    pub end: Place,
    /// As it is sent.
    pub text: Utf8Bytes,
}

impl Frame {
    /// Puts records, each a line of JSON, into an envelope. `from` and `to` tell a client that it has missed nothing,
    /// even where pieces of text were joined or left out.
    pub(crate) fn new(
        run: &str,
        epoch: &str,
        (from, to): (u64, u64),
        (start, end): (Place, Place),
        records: &[String],
    ) -> Self {
        let length: usize = records.iter().map(|record| record.len() + 1).sum();
        let mut text = String::with_capacity(length + 128);
        // Names of runs and epochs need no escapes.
        text.push_str(r#"{"type":"records","run":""#);
        text.push_str(run);
        text.push_str(r#"","epoch":""#);
        text.push_str(epoch);
        text.push_str(&format!(r#"","from":{from},"to":{to},"records":["#));
        for (index, record) in records.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(record);
        }
        text.push_str("]}");
        Self {
            from,
            to,
            start,
            end,
            text: text.into(),
        }
    }
}
