//! `scan`: a page of the records with a substring, newest first, from the lines themselves.

use std::ops::Range;
use std::time::Duration;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

use super::candidates::{Candidate, Candidates, TimeLimit, collect};
use super::cursor::{self, Place};
use super::find::read_record;
use super::snippet::snippet;
use crate::error::StoreError;
use crate::query::{Hit, SearchPage, SearchQuery};

const PAGE_TIME_LIMIT: Duration = Duration::from_millis(400);
/// How many records are looked at together: few at first, so that what is frequent is there at once.
const FIRST_BLOCK: usize = 256;
const LAST_BLOCK: usize = 8_192;
const MAX_NEEDLE_BYTES: usize = 1_024;
const MAX_MARKS: usize = 64;

/// A page of the records with exactly these characters, upper and lower case alike in ASCII.
pub(crate) fn scan<C: Candidates>(
    query: &SearchQuery,
    open: impl FnOnce() -> Result<Option<C>, StoreError>,
) -> Result<SearchPage, StoreError> {
    let limit = TimeLimit::new(PAGE_TIME_LIMIT);
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
        for (id, hit) in hits_among(&source, query, &needle, &collected.candidates)? {
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

/// Hits among some records, newest first, with their numbers.
fn hits_among(
    source: &dyn Candidates,
    query: &SearchQuery,
    needle: &Needle,
    records: &[Candidate],
) -> Result<Vec<(i64, Hit)>, StoreError> {
    let (mut hits, mut text) = (Vec::new(), String::new());
    source.read_lines(records, &mut |index, run, line| {
        if let Some(record) = records.get(index)
            && needle.may_be_in(line)
            && let Some((seq, at, kind)) = read_record(line, query, &mut text)
            && let marks = needle.marks(&text)
            && let Some(first) = marks.first()
        {
            let (snippet, marks) = snippet(&text, first.start, &marks);
            let hit = Hit {
                run: run.to_owned(),
                seq,
                at,
                kind,
                snippet,
                marks,
            };
            hits.push((record.id, hit));
        }
    })?;
    hits.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
    Ok(hits)
}

/// What is looked for.
struct Needle {
    whole: AhoCorasick,
    /// A part of it that every JSON writer writes in the same way.
    part: Option<AhoCorasick>,
}

impl Needle {
    fn new(text: &str) -> Result<Self, StoreError> {
        if text.is_empty() || text.len() > MAX_NEEDLE_BYTES {
            return Err(StoreError::BadSearch(format!(
                "it must have 1 to {MAX_NEEDLE_BYTES} bytes"
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

    /// Whether a line may have it. Most lines need not be parsed.
    fn may_be_in(&self, line: &[u8]) -> bool {
        self.part.as_ref().is_none_or(|part| part.is_match(line))
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
