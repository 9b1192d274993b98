//! `clean_up`: removes what is old or too large, as far as all of its work is merged or rescued.

use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::error::Error;
use crate::name::WorktreeName;
use crate::quarantine::QuarantineEntry;
use crate::remove::RemoveMode;
use crate::repository::Repository;
use crate::status::disk_usage;

/// What may stay.
#[derive(Debug, Clone, Copy)]
pub struct RetentionPolicy {
    /// Merged worktrees, and those in quarantine, are kept for this long.
    pub keep_for: Duration,
    /// Beyond this size the oldest of them go earlier, but nothing leaves the quarantine within a day.
    pub max_bytes: u64,
    /// Nothing is removed, only listed.
    pub is_dry_run: bool,
}

/// What was cleaned up, or would be.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Worktrees that were moved into quarantine.
    pub removed: Vec<WorktreeName>,
    /// Quarantined worktrees that were deleted, with the refs that keep their work.
    pub deleted: Vec<QuarantineEntry>,
    pub freed_bytes: u64,
    /// What remains of all worktrees and the quarantine.
    pub remaining_bytes: u64,
    /// What could not be removed, and why.
    pub failed: Vec<(WorktreeName, Error)>,
}

struct Candidate {
    name: WorktreeName,
    merged_at: Timestamp,
    bytes: u64,
}

impl Repository {
    /// Removes merged worktrees and deletes quarantined ones, first those that are older than the policy keeps them, then
    /// the oldest until the rest is small enough. Worktrees with work that is not merged stay, whatever their size, and
    /// so do those that `is_in_use`.
    pub async fn clean_up(
        &self,
        policy: RetentionPolicy,
        now: Timestamp,
        is_in_use: &(dyn Fn(&Path) -> bool + Sync),
    ) -> Result<Cleaned, Error> {
        let mut cleaned = Cleaned::default();
        let mut total = 0_u64;
        let mut candidates = Vec::new();
        for worktree in self.worktrees() {
            // A damaged record is never a reason to remove anything.
            let Ok(worktree) = worktree else { continue };
            let status = match self.status(&worktree.name).await {
                Ok(status) => status,
                Err(error) => {
                    cleaned.failed.push((worktree.name, error));
                    continue;
                }
            };
            total = total.saturating_add(status.size_bytes);
            let is_clean = status.dirt.is_some_and(|dirt| dirt.is_clean());
            let is_free = status.occupant.is_none() && !is_in_use(&worktree.path);
            let merged = worktree
                .merged
                .filter(|_| status.is_merged && is_clean && is_free);
            // A worktree without commits is merged as well, but nobody has said that it is done with.
            if let Some(merged) = merged {
                candidates.push(Candidate {
                    name: worktree.name,
                    merged_at: merged.at,
                    bytes: status.size_bytes,
                });
            }
        }
        candidates.sort_by_key(|candidate| candidate.merged_at);
        let mut quarantine: Vec<(QuarantineEntry, u64)> = Vec::new();
        for entry in self.quarantine() {
            let bytes = disk_usage(&entry.files());
            total = total.saturating_add(bytes);
            quarantine.push((entry, bytes));
        }
        let oldest = now
            .checked_sub(SignedDuration::try_from(policy.keep_for).unwrap_or(SignedDuration::MAX))
            .unwrap_or(Timestamp::MIN);
        // There is always a day to notice that an ignored file was needed.
        let newest = now
            .checked_sub(SignedDuration::from_hours(24))
            .unwrap_or(Timestamp::MIN);
        for (entry, bytes) in quarantine {
            let is_over_budget = total > policy.max_bytes && entry.removed_at <= newest;
            if entry.removed_at > oldest && !is_over_budget {
                continue;
            }
            if !policy.is_dry_run
                && let Err(error) = self.delete_from_quarantine(&entry).await
            {
                cleaned.failed.push((entry.name, error));
                continue;
            }
            total = total.saturating_sub(bytes);
            cleaned.freed_bytes = cleaned.freed_bytes.saturating_add(bytes);
            cleaned.deleted.push(entry);
        }
        let mut to_come = 0_u64;
        for Candidate {
            name,
            merged_at,
            bytes,
        } in candidates
        {
            let is_over_budget = total.saturating_sub(to_come) > policy.max_bytes;
            if merged_at > oldest && !is_over_budget {
                continue;
            }
            if !policy.is_dry_run
                && let Err(error) = self.remove(&name, RemoveMode::KeepWork).await
            {
                cleaned.failed.push((name, error));
                continue;
            }
            // It frees its space when it leaves the quarantine.
            to_come = to_come.saturating_add(bytes);
            cleaned.removed.push(name);
        }
        cleaned.remaining_bytes = total;
        Ok(cleaned)
    }
}
