//! Searches for substrings: reads the journals themselves, newest record first, without the index.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use ralph_run::may_lack_text;

use super::candidates::{Candidate, Candidates, Names, TimeLimit, collect};
use super::cursor::{self, Place};
use super::find::record_of;
use super::lines::Lines;
use super::snippet::snippet;
use crate::error::StoreError;
use crate::query::{Hit, SearchPage, SearchQuery};

const TIME: Duration = Duration::from_millis(400);
/// How many records are looked at together: few at first, so that what is frequent is there at once.
const FIRST_BLOCK: usize = 256;
const LAST_BLOCK: usize = 8_192;
/// Records of a run that are this near are read at once, with what is between them, up to this much.
const GAP_BYTES: u64 = 64 * 1024;
const READ_BYTES: u64 = 4 * 1024 * 1024;
const LONGEST: usize = 1_024;
const MAX_MARKS: usize = 64;

/// A page of the records with exactly these characters, upper and lower case alike in ASCII.
pub(crate) fn scan<C: Candidates>(
    runs: &Path,
    query: &SearchQuery,
    open: impl FnOnce() -> Result<Option<C>, StoreError>,
) -> Result<SearchPage, StoreError> {
    let limit = TimeLimit::new(TIME);
    let needle = Needle::new(&query.text)?;
    let top = match &query.cursor {
        Some(given) => match cursor::decode(given, query)? {
            Place::Substring { top } => top,
            Place::Words(_) => return Err(StoreError::BadCursor),
        },
        None => i64::MAX,
    };
    let Some(source) = open()? else {
        return Ok(SearchPage::nothing());
    };
    let mut page = SearchPage::nothing();
    let (lowest, highest) = source.bounds();
    let mut scanner = Scanner {
        source: &source,
        query,
        needle,
        lines: Lines::new(runs),
        names: Names::default(),
        buffer: Vec::new(),
        text: String::new(),
    };
    let mut top = top.min(highest);
    let mut block = FIRST_BLOCK;
    while top >= lowest {
        if page.hits.len() >= query.limit || limit.is_over() {
            page.is_complete = !limit.is_over();
            page.next = Some(cursor::encode(Place::Substring { top }, query));
            break;
        }
        let collected = collect(&source, None, (i64::MIN, top), block, limit)?;
        top = collected.reached - 1;
        let mut hits = scanner.block(collected.candidates)?;
        hits.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
        for (id, hit) in hits {
            if page.hits.len() >= query.limit {
                top = id;
                break;
            }
            page.hits.push(hit);
        }
        block = (block * 2).min(LAST_BLOCK);
    }
    Ok(page)
}

struct Scanner<'a> {
    source: &'a dyn Candidates,
    query: &'a SearchQuery,
    needle: Needle,
    lines: Lines<'a>,
    names: Names,
    buffer: Vec<u8>,
    text: String,
}

impl Scanner<'_> {
    /// Hits among some records, with their numbers, in any order.
    fn block(&mut self, mut candidates: Vec<Candidate>) -> Result<Vec<(i64, Hit)>, StoreError> {
        candidates.sort_unstable_by_key(|candidate| (candidate.run, candidate.offset));
        let mut hits = Vec::new();
        let mut rest = &candidates[..];
        while !rest.is_empty() {
            let (together, after) = rest.split_at(together(rest));
            self.piece(together, &mut hits)?;
            rest = after;
        }
        Ok(hits)
    }

    /// Hits among records of one run that are read at once.
    fn piece(&mut self, records: &[Candidate], hits: &mut Vec<(i64, Hit)>) -> Result<(), StoreError> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            return Ok(());
        };
        let Some(name) = self.names.of(self.source, first.run)? else {
            return Ok(());
        };
        let length = last.offset + u64::from(last.length) - first.offset;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if self
            .lines
            .read((first.run, name), first.offset, length, &mut self.buffer)
            .is_err()
        {
            return Ok(());
        }
        let part_of = |record: &Candidate| {
            let start = (record.offset - first.offset) as usize;
            start..start + record.length as usize
        };
        // What a record leaves out is in other records, and may be cut there.
        let has_short_records = may_lack_text(&self.buffer);
        for record in records.iter().filter(|_| has_short_records) {
            let line = &self.buffer[part_of(record)];
            if may_lack_text(line) {
                let line = self.lines.restore(first.run, record.offset, line);
                hits.extend(Self::hit(
                    &line,
                    record,
                    name,
                    (self.query, &self.needle),
                    &mut self.text,
                ));
            }
        }
        let mut at = 0;
        while let Some(found) = self.needle.next_in(&self.buffer, at) {
            let place = first.offset + found as u64;
            let index = records.partition_point(|record| record.offset + u64::from(record.length) <= place);
            let Some(record) = records.get(index) else {
                break;
            };
            // Between two records there are others, without words.
            let part = part_of(record);
            if found < part.start {
                at = part.start;
                continue;
            }
            at = part.end;
            let line = &self.buffer[part];
            if !(has_short_records && may_lack_text(line)) {
                hits.extend(Self::hit(
                    line,
                    record,
                    name,
                    (self.query, &self.needle),
                    &mut self.text,
                ));
            }
        }
        Ok(())
    }

    /// The hit in a record, if its words have one.
    fn hit(
        line: &[u8],
        record: &Candidate,
        run: &str,
        (query, needle): (&SearchQuery, &Needle),
        text: &mut String,
    ) -> Option<(i64, Hit)> {
        let row = record_of(line, record, query, text)?;
        let marks = needle.marks(text);
        let (snippet, marks) = snippet(text, marks.first()?.start, &marks);
        let hit = Hit {
            run: run.to_owned(),
            record: row,
            snippet,
            marks,
        };
        Some((record.id, hit))
    }
}

/// How many of the first records are read at once.
fn together(records: &[Candidate]) -> usize {
    let Some(first) = records.first() else {
        return 0;
    };
    let pairs = records.windows(2).take_while(|pair| {
        let end = pair[0].offset + u64::from(pair[0].length);
        pair[1].run == first.run
            && pair[1].offset <= end + GAP_BYTES
            && pair[1].offset + u64::from(pair[1].length) - first.offset <= READ_BYTES
    });
    pairs.count() + 1
}

/// What is looked for.
struct Needle {
    whole: AhoCorasick,
    /// A part of it that looks the same in JSON, whoever wrote it.
    part: Option<AhoCorasick>,
}

impl Needle {
    fn new(text: &str) -> Result<Self, StoreError> {
        if text.is_empty() || text.len() > LONGEST {
            return Err(StoreError::BadSearch(format!(
                "it must have 1 to {LONGEST} bytes"
            )));
        }
        // Characters outside of ASCII can be written in two ways.
        let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && !matches!(byte, b'"' | b'\\' | b'/');
        let part = text
            .as_bytes()
            .split(|byte| !is_plain(byte))
            .max_by_key(|part| part.len());
        let part = part.filter(|part| !part.is_empty()).map(matcher).transpose()?;
        Ok(Self {
            whole: matcher(text.as_bytes())?,
            part,
        })
    }

    /// Where in a piece of journal it may be next.
    fn next_in(&self, piece: &[u8], at: usize) -> Option<usize> {
        match &self.part {
            Some(part) => part
                .find(aho_corasick::Input::new(piece).range(at..))
                .map(|found| found.start()),
            None => (at < piece.len()).then_some(at),
        }
    }

    fn marks(&self, text: &str) -> Vec<Range<usize>> {
        self.whole
            .find_iter(text)
            .take(MAX_MARKS)
            .map(|found| found.range())
            .collect()
    }
}

fn matcher(pattern: &[u8]) -> Result<AhoCorasick, StoreError> {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .build([pattern])
        .map_err(|error| StoreError::BadSearch(error.to_string()))
}
