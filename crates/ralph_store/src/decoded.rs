//! `Decoded`: rows of a list, and the runs of which a row was written by an incompatible version.

use crate::columns::timestamp;
use crate::query::ApprovalPage;
use crate::rows::ApprovalRow;
use crate::summary::RunSummary;

/// The rows that could be decoded, and the runs of those that could not.
pub(crate) type Decoded<T> = (T, Vec<String>);

/// A run in a list.
pub(crate) struct Listed {
    pub(crate) id: String,
    /// In nanoseconds.
    pub(crate) started_at: i64,
    /// `None` if an incompatible version wrote it.
    pub(crate) summary: Option<RunSummary>,
}

impl Listed {
    pub(crate) fn into_row(self) -> (String, Option<RunSummary>) {
        (self.id, self.summary)
    }
}

/// A request in a list.
pub(crate) struct ListedApproval {
    /// In nanoseconds.
    pub(crate) at: i64,
    pub(crate) run: String,
    pub(crate) seq: u64,
    /// `None` if an incompatible version wrote it.
    pub(crate) approval: Option<ApprovalRow>,
}

impl ListedApproval {
    /// A page of the first `limit` of these rows, of which there is one more if there is a next page.
    pub(crate) fn page(mut rows: Vec<Self>, limit: usize) -> Decoded<ApprovalPage> {
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_| has_more);
        let next = last.map(|last| (timestamp(last.at), last.run.clone(), last.seq));
        let (items, incompatible) = partition_decodable(rows.into_iter().map(|row| (row.run, row.approval)));
        (ApprovalPage { items, next }, incompatible)
    }
}

/// Separates rows that could be decoded from the runs of those that could not. One such row never costs the others.
pub(crate) fn partition_decodable<T>(rows: impl IntoIterator<Item = (String, Option<T>)>) -> Decoded<Vec<T>> {
    let (mut known, mut incompatible) = (Vec::new(), Vec::new());
    for (run, row) in rows {
        match row {
            Some(row) => known.push(row),
            None if incompatible.contains(&run) => {}
            None => incompatible.push(run),
        }
    }
    (known, incompatible)
}
