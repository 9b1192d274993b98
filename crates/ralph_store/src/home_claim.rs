//! `HomeClaim`: ties an index to the one state directory whose runs it holds.

use crate::error::StoreError;

/// The state directory that an index is opened for. Two state directories on one index would each remove the other's
/// runs from it, so an index is kept for the one that it was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeClaim {
    /// The id of the state directory, from [`Home::id`](ralph_run::Home::id).
    pub id: String,
    /// What to do with an index of another state directory.
    pub other: OtherHome,
}

/// What to do with an index that belongs to another state directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherHome {
    /// Leave it as it is and fail.
    Refuse,
    /// Delete everything that it holds and use it for this state directory.
    TakeOver,
}

/// What follows from a claim for an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// It is already ours.
    Ours,
    /// It has no id yet: it becomes ours as it is.
    Adopt,
    /// It is another one's: it is emptied and becomes ours.
    TakeOver,
}

impl HomeClaim {
    /// Compares with the id that an index has.
    pub(crate) fn check(&self, found: Option<&str>) -> Result<Claimed, StoreError> {
        match found {
            None => Ok(Claimed::Adopt),
            Some(found) if found == self.id => Ok(Claimed::Ours),
            Some(_) if self.other == OtherHome::TakeOver => Ok(Claimed::TakeOver),
            Some(found) => Err(StoreError::OtherHome {
                found: found.to_owned(),
            }),
        }
    }
}
