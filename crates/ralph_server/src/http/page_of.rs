//! `page_of`: cuts a page out of a list that is short enough to be held in memory.

use ralph_store::StoreError;

use crate::problem::Problem;

/// The items behind the one that `cursor` names, at most `limit`, and the cursor of the next page. An item is named by
/// its `key`.
pub(super) fn page_of<T>(
    items: Vec<T>,
    cursor: Option<&str>,
    limit: usize,
    key: impl Fn(&T) -> String,
) -> Result<(Vec<T>, Option<String>), Problem> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let known = items.iter().position(|item| key(item) == cursor);
            known.ok_or(StoreError::BadCursor)? + 1
        }
    };
    let has_more = items.len() - start > limit;
    let items: Vec<T> = items.into_iter().skip(start).take(limit).collect();
    let next = items.last().filter(|_| has_more).map(key);
    Ok((items, next))
}

#[cfg(test)]
mod tests {
    use super::page_of;

    #[test]
    fn pages_follow_each_other_without_gaps() {
        let page = |cursor: Option<&str>| page_of(vec![1, 2, 3, 4, 5], cursor, 2, ToString::to_string);
        assert_eq!(page(None).unwrap(), (vec![1, 2], Some("2".into())));
        assert_eq!(page(Some("2")).unwrap(), (vec![3, 4], Some("4".into())));
        assert_eq!(page(Some("4")).unwrap(), (vec![5], None));
        assert_eq!(page(Some("5")).unwrap(), (vec![], None));
        assert!(page(Some("x")).is_err());
    }
}
