//! Rows of which some may mean nothing to us.

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
