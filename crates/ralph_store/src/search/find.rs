//! `find`: a page of the records with all words, ranked.

use std::time::Duration;

use jiff::Timestamp;
use ralph_run::RecordHead;

use super::candidates::{Candidate, Candidates, TimeLimit, collect};
use super::cursor::{self, Place, Rank, WordsPlace};
use super::expression::{Expression, Matches};
use super::extract::extract;
use super::kinds;
use super::snippet::snippet;
use crate::error::StoreError;
use crate::query::{Hit, SearchPage, SearchQuery};

/// How many hits are ranked, the newest. Further ones come after them.
const MAX_RANKED: usize = 2_000;
/// How many of them, best first by what the index knows, are read and ranked by what they say; and how much is read.
const MAX_GROUP_RECORDS: usize = 128;
const MAX_GROUP_BYTES: u64 = 1024 * 1024;

/// How long it may take to look again at what a page was made of: many times longer than it took at first.
const REPEAT_TIME_LIMIT: Duration = Duration::from_secs(1);

/// A page of the records with all words.
pub(crate) fn find<C: Candidates>(
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
    finder.page(place).map(|(hits, next, is_complete)| SearchPage {
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

type PageOfHits = (Vec<Hit>, Option<WordsPlace>, bool);

impl Finder<'_> {
    fn page(&self, place: Option<WordsPlace>) -> Result<PageOfHits, StoreError> {
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
        let mut hits = Vec::new();
        loop {
            let next = self.window(place, &mut hits)?;
            // Below the hits that were ranked there may be others.
            let is_complete = next.is_none_or(|next| next.low.is_some_and(|low| low <= lowest));
            match next {
                Some(next) if hits.len() < self.query.limit && !self.limit.is_over() => place = next,
                next => return Ok((hits, next, is_complete)),
            }
        }
    }

    /// Takes hits from the newest ones from some place on. Returns where to continue.
    fn window(&self, place: WordsPlace, hits: &mut Vec<Hit>) -> Result<Option<WordsPlace>, StoreError> {
        // What was looked at once is looked at again in full: a page must not depend on how long it takes. But a mark
        // that was made up must not make it take for ever.
        let limit = match place.low {
            Some(_) => self.limit.extended(REPEAT_TIME_LIMIT),
            None => self.limit,
        };
        let (words, low) = (Some(&self.expression), place.low.unwrap_or(i64::MIN));
        let collected = collect(self.source, words, (low, place.top), MAX_RANKED, limit)?;
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
            if let Some(stopped_at) = self.take_group(group, start.hit, hits)? {
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
        hits: &mut Vec<Hit>,
    ) -> Result<Option<Rank>, StoreError> {
        let records: Vec<Candidate> = group.iter().map(|(_, record)| *record).collect();
        let mut read = Vec::new();
        let mut text = String::new();
        self.source.read_lines(&records, &mut |index, run, line| {
            let (Some(((score, id), _)), Some(head)) =
                (group.get(index), read_record(line, self.query, &mut text))
            else {
                return;
            };
            let Some(matches) = self.expression.find_in(&text) else {
                return;
            };
            let rank = (score + worth(&matches), *id);
            if behind.is_none_or(|behind| rank < behind) {
                read.push((rank, run.to_owned(), head, std::mem::take(&mut text), matches));
            }
        })?;
        read.sort_unstable_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
        let mut last = behind;
        for (rank, run, (seq, at, kind), text, matches) in read {
            if hits.len() >= self.query.limit {
                return Ok(last);
            }
            last = Some(rank);
            let (snippet, marks) = snippet(&text, matches.first, &matches.marks);
            hits.push(Hit {
                run,
                seq,
                at,
                kind,
                snippet,
                marks,
            });
        }
        Ok(None)
    }
}

/// Reads the words of a record into `text`. Returns its number, time and kind; none if it is not a record, or not of the
/// time that is asked for.
pub(super) fn read_record(
    line: &[u8],
    query: &SearchQuery,
    text: &mut String,
) -> Option<(u64, Timestamp, String)> {
    let head = RecordHead::parse(line)?;
    let at = head.at();
    let is_in_time =
        query.since.is_none_or(|since| at >= since) && query.until.is_none_or(|until| at < until);
    if !is_in_time {
        return None;
    }
    extract(&head, text);
    Some((head.seq, at, head.event.kind.into_owned()))
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
    let fits = ranked
        .iter()
        .take(MAX_GROUP_RECORDS)
        .take_while(|(_, candidate)| {
            bytes += u64::from(candidate.length);
            bytes <= MAX_GROUP_BYTES
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
