//! Rows of which some may mean nothing to us.

use crate::columns::timestamp;
use crate::query::ApprovalPage;
use crate::rows::ApprovalRow;
use crate::summary::RunSummary;

/// What was asked for, and the runs of which something means nothing to us.
pub(crate) type Known<T> = (T, Vec<String>);

/// A run in a list.
pub(crate) struct Listed {
    pub(crate) id: String,
    /// In nanoseconds.
    pub(crate) started_at: i64,
    /// None if it means nothing to us.
    pub(crate) summary: Option<RunSummary>,
}

impl Listed {
    pub(crate) fn into_row(self) -> (String, Option<RunSummary>) {
        (self.id, self.summary)
    }
}

/// A question in a list.
pub(crate) struct Asked {
    /// In nanoseconds.
    pub(crate) at: i64,
    pub(crate) run: String,
    pub(crate) seq: u64,
    /// None if it means nothing to us.
    pub(crate) approval: Option<ApprovalRow>,
}

impl Asked {
    /// A page of the first `limit` of these rows, of which there is one more if there is a next page.
    pub(crate) fn page(mut rows: Vec<Self>, limit: usize) -> Known<ApprovalPage> {
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_| has_more);
        let next = last.map(|last| (timestamp(last.at), last.run.clone(), last.seq));
        let (items, odd) = sort_out(rows.into_iter().map(|row| (row.run, row.approval)));
        (ApprovalPage { items, next }, odd)
    }
}

/// Tells rows that we know from runs of which we do not. One row of another version never costs the others.
pub(crate) fn sort_out<T>(rows: impl IntoIterator<Item = (String, Option<T>)>) -> Known<Vec<T>> {
    let (mut known, mut odd) = (Vec::new(), Vec::new());
    for (run, row) in rows {
        match row {
            Some(row) => known.push(row),
            None if odd.contains(&run) => {}
            None => odd.push(run),
        }
    }
    (known, odd)
}
