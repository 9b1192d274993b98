//! `page_of`: cuts a page out of a list that is short enough to be held in memory.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use ralph_store::StoreError;

/// The first `limit` items whose place is after `after`, and the place after which the next page begins. The items are
/// in the order of their places. It does not matter whether the item at `after` is still in the list.
pub(super) fn page_of<T, P: Ord>(
    items: Vec<T>,
    after: Option<&P>,
    limit: usize,
    place: impl Fn(&T) -> P,
) -> (Vec<T>, Option<P>) {
    let is_before = |item: &T| after.is_some_and(|after| place(item) <= *after);
    let start = items.partition_point(is_before);
    let has_more = items.len() - start > limit;
    let items: Vec<T> = items.into_iter().skip(start).take(limit).collect();
    let next = items.last().filter(|_| has_more).map(place);
    (items, next)
}

/// The place that a client was given as a cursor.
pub(super) fn parse_cursor<P: FromStr>(cursor: Option<&str>) -> Result<Option<P>, StoreError> {
    let parse = |cursor: &str| cursor.parse().map_err(|_| StoreError::BadCursor);
    cursor.map(parse).transpose()
}

/// The place of a run in a list, newest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RunPlace(Reverse<(Timestamp, String)>);

impl RunPlace {
    pub(super) fn new(started_at: Timestamp, run: &str) -> Self {
        Self(Reverse((started_at, run.to_owned())))
    }
}

impl fmt::Display for RunPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (started_at, run) = &self.0.0;
        write!(formatter, "{started_at}_{run}")
    }
}

impl FromStr for RunPlace {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        let (started_at, run) = text.split_once('_').ok_or(StoreError::BadCursor)?;
        let started_at = started_at.parse().map_err(|_| StoreError::BadCursor)?;
        Ok(Self::new(started_at, run))
    }
}

#[cfg(test)]
mod tests {
    use super::{RunPlace, page_of, parse_cursor};

    #[test]
    fn pages_follow_each_other_without_gaps_even_if_an_item_is_gone() {
        let page =
            |items: &[i32], after: Option<i32>| page_of(items.to_vec(), after.as_ref(), 2, |item| *item);
        let all = [1, 2, 3, 4, 5];
        assert_eq!(page(&all, None), (vec![1, 2], Some(2)));
        assert_eq!(page(&all, Some(2)), (vec![3, 4], Some(4)));
        assert_eq!(page(&[1, 3, 4, 5], Some(2)), (vec![3, 4], Some(4)));
        assert_eq!(page(&all, Some(4)), (vec![5], None));
        assert_eq!(page(&all, Some(5)), (vec![], None));
    }

    #[test]
    fn a_place_survives_the_way_to_a_client_and_back() {
        let place = RunPlace::new("2026-01-01T00:00:00.25Z".parse().unwrap(), "20260101-000000-ab_c");
        let read: Option<RunPlace> = parse_cursor(Some(&place.to_string())).unwrap();
        assert_eq!(read, Some(place));
        for wrong in ["", "x", "20260101-000000-abc", "never_x"] {
            assert!(parse_cursor::<RunPlace>(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
