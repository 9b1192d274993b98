//! Search cursors: where the next page of hits begins, as an opaque string.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::error::StoreError;
use crate::query::{Cursor, SearchMode, SearchQuery};

/// The order of hits: a score, and the number of the record in the index, both higher first.
pub(super) type Rank = (i64, i64);

/// Where a page begins. Numbers in the index only grow, so what comes later does not move what is below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Words(WordsPlace),
    /// Only records up to this one.
    Substring {
        top: i64,
    },
}

/// Where a page of ranked hits begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordsPlace {
    /// The hits up to this one …
    pub(super) top: i64,
    /// … and down to this one are ranked; if it is not known yet, the newest.
    pub(super) low: Option<i64>,
    /// The group behind this one in the first order …
    pub(super) group: Option<Rank>,
    /// … and there what is behind this hit.
    pub(super) hit: Option<Rank>,
}

pub(super) fn encode(place: Place, query: &SearchQuery) -> Cursor {
    let mark = digest(query);
    Cursor(match place {
        Place::Substring { top } => format!("s.{mark:x}.{top}"),
        Place::Words(place) => {
            let rank =
                |rank: Option<Rank>| rank.map_or("-.-".to_owned(), |(score, id)| format!("{score}.{id}"));
            let low = place.low.map_or("-".to_owned(), |low| low.to_string());
            format!(
                "w.{mark:x}.{}.{low}.{}.{}",
                place.top,
                rank(place.group),
                rank(place.hit)
            )
        }
    })
}

/// # Errors
/// When it is not one of ours, or was given for another question.
pub(super) fn decode(cursor: &Cursor, query: &SearchQuery) -> Result<Place, StoreError> {
    read(&cursor.0, query).ok_or(StoreError::BadCursor)
}

fn read(cursor: &str, query: &SearchQuery) -> Option<Place> {
    let mut parts = cursor.split('.');
    let kind = parts.next()?;
    if u64::from_str_radix(parts.next()?, 16).ok()? != digest(query) {
        return None;
    }
    // The outer one says that it can be read, the inner one that there is something.
    let mut number = || match parts.next()? {
        "-" => Some(None),
        number => number.parse::<i64>().ok().map(Some),
    };
    let place = match (kind, query.mode) {
        ("s", SearchMode::Substring) => Place::Substring { top: number()?? },
        ("w", SearchMode::Words) => Place::Words(WordsPlace {
            top: number()??,
            low: number()?,
            group: number()?.zip(number()?),
            hit: number()?.zip(number()?),
        }),
        _ => return None,
    };
    parts.next().is_none().then_some(place)
}

/// What is asked, without what differs from page to page. A server that was replaced by another version may refuse a
/// cursor; it never gives a wrong page.
fn digest(query: &SearchQuery) -> u64 {
    let mut hasher = DefaultHasher::new();
    (
        &query.text,
        query.mode as u8,
        &query.run,
        &query.workspace,
        &query.backend,
    )
        .hash(&mut hasher);
    (&query.kinds, &query.tool, query.since, query.until).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{Place, WordsPlace, decode, encode};
    use crate::query::{Cursor, SearchMode, SearchQuery};

    fn query(mode: SearchMode) -> SearchQuery {
        SearchQuery {
            text: "x".to_owned(),
            mode,
            ..SearchQuery::default()
        }
    }

    #[test]
    fn a_place_survives_the_way_to_the_client_and_back() {
        let words = query(SearchMode::Words);
        for (low, group, hit) in [
            (None, None, None),
            (Some(3), Some((-7, 8)), Some((5, 6))),
            (Some(1), None, Some((1, 2))),
        ] {
            let place = Place::Words(WordsPlace {
                top: 9,
                low,
                group,
                hit,
            });
            assert_eq!(decode(&encode(place, &words), &words).unwrap(), place);
        }
        let substring = query(SearchMode::Substring);
        let place = Place::Substring { top: 4 };
        assert_eq!(decode(&encode(place, &substring), &substring).unwrap(), place);
    }

    #[test]
    fn a_place_of_another_question_is_refused() {
        let words = query(SearchMode::Words);
        let cursor = encode(Place::Substring { top: 4 }, &query(SearchMode::Substring));
        assert!(decode(&cursor, &words).is_err());
        let mut other = words.clone();
        other.run = Some("r".to_owned());
        let place = Place::Words(WordsPlace {
            top: 9,
            low: None,
            group: None,
            hit: None,
        });
        assert!(decode(&encode(place, &words), &other).is_err());
        for text in ["", "w", "w.1.2", "s.-.-", "ü.1"] {
            assert!(decode(&Cursor(text.to_owned()), &words).is_err());
        }
    }
}
