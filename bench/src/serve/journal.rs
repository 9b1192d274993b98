//! What a journal says, to compare with what others say it says.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use memchr::memmem;
use ralph_run::RecordHead;
use serde_json::Value;

use super::agent::MARK;
use crate::process::explain;

/// A run's records, counted.
#[derive(Debug, Default)]
pub struct Counted {
    pub last: u64,
    /// Their numbers, but for pieces of text.
    pub indexed: Vec<u64>,
    /// Times that its agent wrote down.
    pub ticks: u64,
    pub bytes: usize,
}

/// Looks at all whole lines behind a record.
pub fn count(path: &Path, after: u64) -> Result<Counted, String> {
    let bytes = std::fs::read(path).map_err(explain)?;
    let mut counted = Counted {
        bytes: bytes.len(),
        ..Counted::default()
    };
    let mut last_tick = 0;
    for line in bytes
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
    {
        let head = RecordHead::parse(line).ok_or("a journal line is not a record")?;
        if head.seq != counted.last + 1 {
            return Err(format!("the journal itself has a gap behind {}", counted.last));
        }
        counted.last = head.seq;
        if head.seq > after && !head.is_delta() {
            counted.indexed.push(head.seq);
        }
        each_tick(line, |tick| {
            if tick > last_tick {
                last_tick = tick;
                counted.ticks += 1;
            }
        });
    }
    Ok(counted)
}

/// The times that agents wrote into these bytes.
pub fn each_tick(bytes: &[u8], mut found: impl FnMut(u64)) {
    for place in memmem::find_iter(bytes, MARK) {
        let digits = bytes[place + MARK.len()..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        found(digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')));
    }
}

pub fn has_ended(path: &Path) -> Result<bool, String> {
    let mut file = File::open(path).map_err(explain)?;
    let length = file.metadata().map_err(explain)?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(16 << 10)))
        .map_err(explain)?;
    let mut end = Vec::new();
    file.read_to_end(&mut end).map_err(explain)?;
    Ok(end.ends_with(b"\n") && memmem::find(&end, br#""type":"run_ended""#).is_some())
}

/// What somebody has of a run's texts who took its records one by one.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub items: BTreeMap<String, String>,
    pub has_ended: bool,
}

impl Texts {
    pub fn of(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(explain)?;
        let mut texts = Self::default();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).map_err(explain)?;
            texts.take(&record["event"]);
        }
        Ok(texts)
    }

    pub fn take(&mut self, event: &Value) {
        let data = &event["data"];
        let [item, text] = ["item", "text"].map(|name| data[name].as_str().unwrap_or_default());
        match event["type"].as_str() {
            Some("delta") => self.items.entry(item.to_owned()).or_default().push_str(text),
            Some("text_block") => {
                self.items.insert(item.to_owned(), text.to_owned());
            }
            Some("run_ended") => self.has_ended = true,
            _ => {}
        }
    }
}
