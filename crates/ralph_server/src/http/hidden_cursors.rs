//! `HiddenCursors`: stands between the cursors of searches and clients that are confined to workspaces.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ralph_store::Cursor;

use crate::auth::Principal;

/// How many are kept of one token. The oldest make room for new ones.
const MAX_CURSORS: usize = 64;

/// A cursor of a search has numbers of records in the whole index, from which one could read how much there is of other
/// workspaces. So a confined client is given a name for it. A name is forgotten when the server ends.
#[derive(Debug, Default)]
pub(crate) struct HiddenCursors {
    keys: [RandomState; 2],
    kept: Mutex<VecDeque<Kept>>,
}

#[derive(Debug)]
struct Kept {
    name: String,
    issuer: String,
    cursor: Cursor,
}

impl HiddenCursors {
    /// The name of a cursor, for whoever this is; the cursor itself for one that may see everything.
    pub(super) fn hide(&self, principal: &Principal, cursor: Cursor) -> Cursor {
        if principal.workspaces.is_none() {
            return cursor;
        }
        let issuer = principal.issuer_hex();
        let [first, second] = self.keys.each_ref().map(|key| key.hash_one((&issuer, &cursor)));
        let name = format!("{first:016x}{second:016x}");
        let mut kept = self.lock();
        kept.retain(|known| known.name != name);
        // A token pushes out its own ones only.
        let is_own = |known: &Kept| known.issuer == issuer;
        if kept.iter().filter(|known| is_own(known)).count() >= MAX_CURSORS
            && let Some(oldest) = kept.iter().position(is_own)
        {
            kept.remove(oldest);
        }
        kept.push_back(Kept {
            name: name.clone(),
            issuer,
            cursor,
        });
        Cursor(name)
    }

    /// The cursor with this name, if it was given to the same token; none if the name is not known any more.
    pub(super) fn reveal(&self, principal: &Principal, given: Cursor) -> Option<Cursor> {
        if principal.workspaces.is_none() {
            return Some(given);
        }
        let issuer = principal.issuer_hex();
        let kept = self.lock();
        let mut known = kept.iter();
        let known = known.find(|known| known.name == given.0 && known.issuer == issuer)?;
        Some(known.cursor.clone())
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
