//! Searches for words: asks the index, ranks the hits and builds one page of them.

use std::path::Path;
use std::time::Duration;

use super::candidates::{Candidate, Candidates, Names, TimeLimit, collect};
use super::cursor::{self, Place, Rank, WordsPlace};
use super::expression::{Expression, Matches};
use super::extract::extract;
use super::kinds;
use super::lines::Lines;
use super::snippet::snippet;
use crate::error::StoreError;
use crate::query::{Hit, SearchPage, SearchQuery};
use crate::rows::RecordRow;
use ralph_run::RecordHead;

/// How many hits are ranked, the newest. Further ones come after them.
const WINDOW: usize = 2_000;
/// How many of them, best first by what the index knows, are read and ranked by what they say; and how much is read.
const GROUP: usize = 128;
const GROUP_BYTES: u64 = 1024 * 1024;

/// How long it may take to look again at what a page was made of: many times longer than it took at first.
const AGAIN: Duration = Duration::from_secs(1);

/// A hit that was read.
struct Read {
    rank: Rank,
    run: String,
    record: RecordRow,
    text: String,
    matches: Matches,
}

/// A page of the records with all words.
pub(crate) fn find<C: Candidates>(
    runs: &Path,
    query: &SearchQuery,
    time: Duration,
    open: impl FnOnce() -> Result<Option<C>, StoreError>,
) -> Result<SearchPage, StoreError> {
    let expression = Expression::parse(&query.text)?;
    let place = match &query.cursor {
        Some(given) => match cursor::decode(given, query)? {
            Place::Words(place) => Some(place),
            Place::Substring { .. } => return Err(StoreError::BadCursor),
        },
        None => None,
    };
    let Some(source) = open()? else {
        return Ok(SearchPage::nothing());
    };
    let limit = TimeLimit::new(time);
    let finder = Finder {
        source: &source,
        query,
        limit: if expression.has_prefix() {
            limit.in_one_piece()
        } else {
            limit
        },
        expression,
    };
    finder
        .page(place, &mut Lines::new(runs))
        .map(|(hits, next, is_complete)| SearchPage {
            hits,
            next: next.map(|place| cursor::encode(Place::Words(place), query)),
            is_complete,
            lag: 0,
        })
}

struct Finder<'a> {
    source: &'a dyn Candidates,
    query: &'a SearchQuery,
    expression: Expression,
    limit: TimeLimit,
}

type Found = (Vec<Hit>, Option<WordsPlace>, bool);

impl Finder<'_> {
    fn page(&self, place: Option<WordsPlace>, lines: &mut Lines<'_>) -> Result<Found, StoreError> {
        let (lowest, highest) = self.source.bounds();
        let mut place = place.map_or(
            WordsPlace {
                top: highest,
                low: None,
                group: None,
                hit: None,
            },
            // It comes from the client, who may have written anything there.
            |place| WordsPlace {
                top: place.top.clamp(lowest.saturating_sub(1), highest),
                low: place.low.map(|low| low.clamp(lowest, highest)),
                ..place
            },
        );
        let mut names = Names::default();
        let mut hits = Vec::new();
        loop {
            let next = self.window(place, lines, &mut names, &mut hits)?;
            // Below the hits that were ranked there may be others.
            let is_complete = next.is_none_or(|next| next.low.is_some_and(|low| low <= lowest));
            match next {
                Some(next) if hits.len() < self.query.limit && !self.limit.is_over() => place = next,
                next => return Ok((hits, next, is_complete)),
            }
        }
    }

    /// Takes hits from the newest ones from some place on. Gives where to go on.
    fn window(
        &self,
        place: WordsPlace,
        lines: &mut Lines<'_>,
        names: &mut Names,
        hits: &mut Vec<Hit>,
    ) -> Result<Option<WordsPlace>, StoreError> {
        // What was looked at once is looked at again in full: a page must not depend on how long it takes. But a mark
        // that nobody gave must not make it take for ever.
        let limit = match place.low {
            Some(_) => self.limit.extended(AGAIN),
            None => self.limit,
        };
        let (words, low) = (Some(&self.expression), place.low.unwrap_or(i64::MIN));
        let collected = collect(self.source, words, (low, place.top), WINDOW, limit)?;
        let low = collected.reached;
        let mut ranked = rank(&collected.candidates);
        if let Some(group) = place.group {
            ranked.retain(|(rank, _)| *rank < group);
        }
        let mut start = WordsPlace {
            low: Some(low),
            ..place
        };
        let mut rest = &ranked[..];
        while !rest.is_empty() {
            if hits.len() >= self.query.limit || (self.limit.is_over() && !hits.is_empty()) {
                return Ok(Some(start));
            }
            let (group, after) = rest.split_at(group_length(rest));
            if let Some(stopped_at) = self.take_group(group, start.hit, lines, names, hits)? {
                return Ok(Some(WordsPlace {
                    hit: Some(stopped_at),
                    ..start
                }));
            }
            rest = after;
            start.group = group.last().map(|(rank, _)| *rank);
            start.hit = None;
        }
        Ok((low > self.source.bounds().0).then_some(WordsPlace {
            top: low - 1,
            low: None,
            group: None,
            hit: None,
        }))
    }

    /// Takes hits from a group, behind the one that was last. Gives the last one if there are more than fit.
    fn take_group(
        &self,
        group: &[(Rank, Candidate)],
        behind: Option<Rank>,
        lines: &mut Lines<'_>,
        names: &mut Names,
        hits: &mut Vec<Hit>,
    ) -> Result<Option<Rank>, StoreError> {
        let mut read = Vec::new();
        for ((score, _), candidate) in group {
            read.extend(self.read(*score, candidate, lines, names)?);
        }
        read.retain(|hit| behind.is_none_or(|behind| hit.rank < behind));
        read.sort_unstable_by_key(|hit| std::cmp::Reverse(hit.rank));
        let mut last = behind;
        for hit in read {
            if hits.len() >= self.query.limit {
                return Ok(last);
            }
            last = Some(hit.rank);
            let (snippet, marks) = snippet(&hit.text, hit.matches.first, &hit.matches.marks);
            hits.push(Hit {
                run: hit.run,
                record: hit.record,
                snippet,
                marks,
            });
        }
        Ok(None)
    }

    /// Reads a record. None if it is not there any more, or is not what it was.
    fn read(
        &self,
        score: i64,
        candidate: &Candidate,
        lines: &mut Lines<'_>,
        names: &mut Names,
    ) -> Result<Option<Read>, StoreError> {
        let Some(name) = names.of(self.source, candidate.run)? else {
            return Ok(None);
        };
        let mut text = String::new();
        let Some(record) = read_record(candidate, name, self.query, lines, &mut text) else {
            return Ok(None);
        };
        Ok(self.expression.find_in(&text).map(|matches| Read {
            rank: (score + worth(&matches), candidate.id),
            run: name.to_owned(),
            record,
            text,
            matches,
        }))
    }
}

/// Reads a record and its words; none if it is not there any more, or not of the time that is asked for.
pub(super) fn read_record(
    candidate: &Candidate,
    run: &str,
    query: &SearchQuery,
    lines: &mut Lines<'_>,
    text: &mut String,
) -> Option<RecordRow> {
    let mut line = Vec::new();
    lines
        .read(
            (candidate.run, run),
            candidate.offset,
            candidate.length as usize,
            &mut line,
        )
        .ok()?;
    let line = lines.restore(candidate.run, candidate.offset, &line);
    record_of(&line, candidate, query, text)
}

/// The record of a line, and its words.
pub(super) fn record_of(
    line: &[u8],
    candidate: &Candidate,
    query: &SearchQuery,
    text: &mut String,
) -> Option<RecordRow> {
    let head = RecordHead::parse(line)?;
    extract(&head, text);
    let at = head.at();
    let is_in_time =
        query.since.is_none_or(|since| at >= since) && query.until.is_none_or(|until| at < until);
    is_in_time.then(|| RecordRow {
        seq: head.seq,
        at,
        kind: head.event.kind.into_owned(),
        offset: candidate.offset,
        length: candidate.length,
    })
}

/// The first order, by what the index knows: what kind it is, and how old compared with the newest.
fn rank(candidates: &[Candidate]) -> Vec<(Rank, Candidate)> {
    let newest = candidates.iter().map(|candidate| candidate.at).max().unwrap_or(0);
    let mut ranked: Vec<_> = candidates
        .iter()
        .map(|candidate| {
            let hours = newest.saturating_sub(candidate.at).unsigned_abs() / 3_600;
            let age = i64::from(64 - (hours + 1).leading_zeros());
            (
                (kinds::weight_of(candidate.kind) * 2 - age, candidate.id),
                *candidate,
            )
        })
        .collect();
    ranked.sort_unstable_by_key(|(rank, _)| std::cmp::Reverse(*rank));
    ranked
}

/// How well a text has what is asked for.
fn worth(matches: &Matches) -> i64 {
    let often = i64::from(matches.count.min(16).ilog2());
    if matches.is_together { often + 4 } else { often }
}

fn group_length(ranked: &[(Rank, Candidate)]) -> usize {
    let mut bytes = 0;
    let fits = ranked.iter().take(GROUP).take_while(|(_, candidate)| {
        bytes += u64::from(candidate.length);
        bytes <= GROUP_BYTES
    });
    fits.count().max(1)
}

impl SearchPage {
    /// There is nothing to be found.
    pub(super) fn nothing() -> Self {
        Self {
            hits: Vec::new(),
            next: None,
            is_complete: true,
            lag: 0,
        }
    }
}
