//! Ports: a block for each worktree, so that the servers of two agents do not meet.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::name::WorktreeName;
use crate::record::Worktree;

/// How many ports a worktree has, from its `port_base` on.
pub const PORTS_PER_WORKTREE: u16 = 10;
/// Below the ports that systems give to outgoing connections.
const FIRST_PORT: u16 = 20_000;
const BLOCKS: u16 = 1_200;

/// A block that no other worktree of any repository has. The same name in the same repository gets the same one, unless
/// it is taken.
pub(crate) fn choose_port_base(state: &Path, repository_id: &str, name: &WorktreeName) -> Option<u16> {
    let taken = taken(state);
    let digest = Sha256::digest(format!("{repository_id}/{name}"));
    let start = digest
        .iter()
        .take(4)
        .fold(0_u32, |sum, byte| (sum << 8) | u32::from(*byte));
    let start = u16::try_from(start % u32::from(BLOCKS)).unwrap_or_default();
    (0..BLOCKS)
        .map(|step| FIRST_PORT + (start + step) % BLOCKS * PORTS_PER_WORKTREE)
        .find(|port| !taken.contains(port))
}

fn taken(state: &Path) -> BTreeSet<u16> {
    let folders = fs::read_dir(state).into_iter().flatten().flatten();
    let records = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    records
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter_map(|path| Worktree::load(&path).ok().flatten()?.port_base)
        .collect()
}
