//! `overlay`: puts the live state of active runs over a page of the index, for every list of runs.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;
use ralph_store::{Cursor, Page, RunQuery, RunSummary, StoreError};

use super::page_of::{RunPlace, page_of, parse_cursor};
use crate::app::App;
use crate::problem::{Problem, ProblemCode};

/// Puts the runs that go on over a page of the index. Those that the index lacks come in addition, each where it
/// belongs.
pub(super) async fn overlay(
    app: &App,
    query: &RunQuery,
    page: Page<RunSummary>,
) -> Result<Page<RunSummary>, StoreError> {
    let Page { mut items, next } = page;
    let range = Range {
        // Nothing is newer than the first page.
        first: query.cursor.as_ref().map(|_| items.first().map(place)),
        last: next.as_ref().map(|_| items.last().map(place)),
    };
    for live in app.live.board().all() {
        if let Some(item) = items.iter_mut().find(|item| item.id == live.id) {
            if is_newer(&live, item) {
                *item = live.as_ref().clone();
            }
        } else if is_asked_for(&live, query) && range.contains(&live) {
            // The index may have got it since the page was read, and may be ahead.
            items.push(match app.store.run(&live.id).await? {
                Some(known) if !is_newer(&live, &known) => known,
                Some(_) | None => Arc::unwrap_or_clone(live),
            });
        }
    }
    for item in &mut items {
        app.live.board().labels().apply(item);
    }
    items.retain(|item| is_asked_for(item, query));
    items.sort_by_cached_key(|item| Reverse(place(item)));
    Ok(Page { items, next })
}

/// A page of the runs with a tag, newest first. There are few of them, and the server knows which.
pub(super) async fn tagged(app: &App, tag: &str, query: &RunQuery) -> Result<Page<RunSummary>, Problem> {
    let mut items = Vec::new();
    for id in app.live.board().labels().tagged(tag) {
        match app.run(&id).await {
            Ok(run) => items.push(run),
            // It was deleted, or the index does not have it yet.
            Err(problem) if problem.code() == ProblemCode::RunNotFound => {}
            Err(problem) => return Err(problem),
        }
    }
    items.retain(|item| is_asked_for(item, query));
    let place = |item: &RunSummary| RunPlace::new(item.started_at, &item.id);
    items.sort_by_cached_key(place);
    let after = parse_cursor(query.cursor.as_ref().map(|cursor| cursor.0.as_str()))?;
    let (items, next) = page_of(items, after.as_ref(), query.limit, place);
    Ok(Page {
        items,
        next: next.map(|place| Cursor(place.to_string())),
    })
}

type Place = (Timestamp, String);

fn place(run: &RunSummary) -> Place {
    (run.started_at, run.id.clone())
}

/// The runs of a page, from the newest to the oldest; an end without a place holds nothing.
struct Range {
    first: Option<Option<Place>>,
    last: Option<Option<Place>>,
}

impl Range {
    fn contains(&self, run: &RunSummary) -> bool {
        let place = place(run);
        let is_behind = |first: &Option<Place>| first.as_ref().is_some_and(|first| place <= *first);
        let is_before = |last: &Option<Place>| last.as_ref().is_some_and(|last| place >= *last);
        self.first.as_ref().is_none_or(is_behind) && self.last.as_ref().is_none_or(is_before)
    }
}

fn is_newer(live: &RunSummary, known: &RunSummary) -> bool {
    live.epoch != known.epoch || live.head_seq > known.head_seq
}

/// What the index would have given.
fn is_asked_for(run: &RunSummary, query: &RunQuery) -> bool {
    query
        .within
        .as_ref()
        .is_none_or(|within| within.contains(&run.workspace))
        && query
            .workspace
            .as_ref()
            .is_none_or(|asked| *asked == run.workspace)
        && query
            .session
            .as_ref()
            .is_none_or(|asked| run.session_ids.contains(asked))
        && query.backend.as_ref().is_none_or(|asked| *asked == run.backend)
        && query
            .has_ended
            .is_none_or(|asked| asked == run.activity.has_ended())
        && query
            .is_waiting
            .is_none_or(|asked| asked == run.activity.needs_person())
        && query.since.is_none_or(|since| run.started_at >= since)
        && query.until.is_none_or(|until| run.started_at < until)
}
