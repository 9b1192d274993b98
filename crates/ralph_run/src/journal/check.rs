//! Lines to records, in order.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{Read, Seek};

use json_lines::{Framed, Line};
use serde::Deserialize;

use super::damage::{Damage, DamageKind};
use super::text_once::restore_text;
use crate::record::{FORMAT_VERSION, Record};

/// No record comes near it: texts and payloads in events are bounded.
pub(super) const MAX_LINE_BYTES: usize = 64 << 20;

/// Turns a journal's lines into records and notices what is missing, doubled or broken.
#[derive(Debug)]
pub(super) struct Checker {
    /// Earlier records are not delivered.
    from_seq: u64,
    /// Of the last record that was delivered or left out.
    last_seq: u64,
    /// Whether a broken line came after it: what is missing then has been reported.
    is_behind_damage: bool,
    ready: VecDeque<Result<Record, Damage>>,
}

impl Checker {
    pub(super) fn new(from_seq: u64) -> Self {
        Self {
            from_seq,
            last_seq: 0,
            is_behind_damage: false,
            ready: VecDeque::new(),
        }
    }

    /// For a reader that starts at any line: that earlier records are missing is not damage.
    pub(super) fn in_the_middle() -> Self {
        Self {
            is_behind_damage: true,
            ..Self::new(0)
        }
    }

    /// Leaves out records before `from_seq`.
    pub(super) fn skip_to(&mut self, from_seq: u64) {
        self.from_seq = self.from_seq.max(from_seq);
    }

    pub(super) fn next(&mut self) -> Option<Result<Record, Damage>> {
        self.ready.pop_front()
    }

    /// Takes a line of `journal`, which is read again where the line leaves out text of earlier records.
    pub(super) fn push(&mut self, framed: Framed, journal: &mut (impl Read + Seek)) {
        match framed {
            Framed::Overlong {
                number,
                offset,
                length_bytes,
            } => {
                self.is_behind_damage = true;
                self.damaged(number, offset, DamageKind::TooLong { length_bytes });
            }
            Framed::Line(line) => self.push_line(&line, journal),
        }
    }

    fn push_line(&mut self, line: &Line, journal: &mut (impl Read + Seek)) {
        if line.number == 1
            && let Some(found) = format_version(&line.bytes).filter(|found| *found > FORMAT_VERSION)
        {
            return self.damaged(line.number, line.offset, DamageKind::NewerFormat { found });
        }
        if let Some(seq) = leading_seq(&line.bytes)
            && seq < self.from_seq
        {
            // Not looked at any closer: whoever starts in the middle has seen it.
            self.last_seq = self.last_seq.max(seq);
            self.is_behind_damage = false;
            return;
        }
        let (bytes, lost) = match restore_text(&line.bytes, line.offset, journal) {
            Ok(bytes) => (bytes, None),
            Err(error) => (Cow::Borrowed(&*line.bytes), Some(error)),
        };
        let record = match serde_json::from_slice::<Record>(&bytes) {
            Ok(record) => record,
            Err(error) => {
                self.is_behind_damage = true;
                let reason = match error.classify() {
                    serde_json::error::Category::Data => "of another shape",
                    serde_json::error::Category::Io
                    | serde_json::error::Category::Syntax
                    | serde_json::error::Category::Eof => "not JSON",
                };
                let reason = format!("{reason} at column {}", error.column());
                return self.damaged(line.number, line.offset, DamageKind::NotARecord(reason));
            }
        };
        let (expected, found) = (self.last_seq.saturating_add(1), record.seq);
        if found <= self.last_seq {
            return self.damaged(
                line.number,
                line.offset,
                DamageKind::OutOfOrder { expected, found },
            );
        }
        if found > expected && !self.is_behind_damage {
            let (first, last) = (expected, found - 1);
            self.damaged(line.number, line.offset, DamageKind::Missing { first, last });
        }
        self.last_seq = found;
        self.is_behind_damage = false;
        if let Some(error) = lost {
            self.damaged(line.number, line.offset, DamageKind::TextLost(error));
        }
        if record.seq >= self.from_seq {
            self.ready.push_back(Ok(record));
        }
    }

    /// Nothing more can be read.
    pub(super) fn fail(&mut self, damage: Damage) {
        self.ready.push_back(Err(damage));
    }

    fn damaged(&mut self, line: u64, offset: u64, kind: DamageKind) {
        self.ready.push_back(Err(Damage { line, offset, kind }));
    }
}

/// The number of a record as we write it, without reading the rest.
pub(super) fn leading_seq(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(b"{\"seq\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

/// What record 1 says about the format; a newer one may have any shape otherwise.
pub(super) fn format_version(line: &[u8]) -> Option<u32> {
    #[derive(Deserialize)]
    struct First {
        event: FirstEvent,
    }
    #[derive(Deserialize)]
    struct FirstEvent {
        data: Version,
    }
    #[derive(Deserialize)]
    struct Version {
        format_version: u32,
    }
    let first: First = serde_json::from_slice(line).ok()?;
    Some(first.event.data.format_version)
}
