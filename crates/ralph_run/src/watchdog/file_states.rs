//! `FileStates`: finds files that are changed back and forth. A part of `Watchdog`.
//!
//! The content of a file is not known, but the changes are. A state is the set of changes that are in effect: undoing one
//! leads back to the state before it, so equal states mean equal contents. Undoing a change once is normal. Making it
//! again, or undoing it again, is not.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use agent_api::{ChangeKind, FileChange, ToolInput, ToolKind, ToolStarted, ToolStatus};

use super::calls::EndedCall;
use super::finding::{Finding, quoted};
use super::rules::{RepeatRule, WatchAction};
use super::workspace::Workspace;
use crate::record::{Evidence, WarningKind};

const MAX_FILES: usize = 200;
const MAX_STATES: usize = 200;

#[derive(Debug, Default)]
pub(super) struct FileStates {
    files: HashMap<String, FileState>,
}

#[derive(Debug, Default)]
struct FileState {
    /// Changes in effect, as (before, after).
    edits: Vec<(u64, u64)>,
    /// The content, if the whole file was written and not edited since.
    written: Option<u64>,
    seen: Vec<u64>,
    /// Changes that were made, undone and made again, by their two sides.
    flips: HashMap<(u64, u64), Flips>,
}

#[derive(Debug, Default)]
struct Flips {
    evidence: Vec<Evidence>,
    is_reported: bool,
}

impl FileStates {
    pub(super) fn observe(
        &mut self,
        call: EndedCall<'_>,
        workspace: &Workspace,
        rule: RepeatRule<2>,
    ) -> Option<Finding> {
        if call.finished.status != ToolStatus::Completed || rule.action == WatchAction::Off {
            return None;
        }
        let mut found = None;
        for (path, edit) in edits(call) {
            // Notes for the next iteration are rewritten on purpose.
            if workspace.is_own(&path) {
                continue;
            }
            if self.files.len() >= MAX_FILES && !self.files.contains_key(&path) {
                self.files.clear();
            }
            let Some(edit) = edit else {
                self.files.remove(&path);
                continue;
            };
            let file = self.files.entry(path.clone()).or_default();
            let Some(flips) = file.apply(edit, call.seq) else {
                continue;
            };
            // The first change is not a flip.
            let count = u32::try_from(flips.evidence.len()).unwrap_or(u32::MAX) - 1;
            if count >= rule.times && !flips.is_reported {
                flips.is_reported = true;
                let path = quoted(&path);
                let message = format!("`{path}` is changed back and forth between two versions");
                let finding = Finding::new(WarningKind::FlippedFile, rule.action, message);
                found = Some(finding.with(flips.evidence.iter().cloned()));
            }
        }
        found
    }
}

#[derive(Debug, Clone, Copy)]
enum Edit {
    /// A part of the file: what was there and what is there now.
    Replaced(u64, u64),
    /// The whole file.
    Written(u64),
}

impl FileState {
    /// Returns the history of this change if the file now has an earlier content.
    fn apply(&mut self, edit: Edit, seq: u64) -> Option<&mut Flips> {
        if self.seen.is_empty() {
            self.seen.push(self.state());
        }
        let (before, after) = match edit {
            Edit::Replaced(before, after) => {
                let undone = self.edits.iter().rposition(|edit| *edit == (after, before));
                match undone {
                    Some(index) => drop(self.edits.remove(index)),
                    None => self.edits.push((before, after)),
                }
                (before, after)
            }
            Edit::Written(content) => {
                let before = self.state();
                self.edits.clear();
                self.written = Some(content);
                (before, self.state())
            }
        };
        let state = self.state();
        let is_known = self.seen.contains(&state);
        if before == after {
            return None;
        }
        if self.seen.len() >= MAX_STATES || self.edits.len() >= MAX_STATES {
            *self = Self::default();
            return None;
        }
        self.seen.push(state);
        let sides = (before.min(after), before.max(after));
        let flips = self.flips.entry(sides).or_default();
        flips.evidence.push(Evidence {
            seq,
            text: if is_known { "changed back" } else { "changed" }.to_owned(),
        });
        is_known.then_some(flips)
    }

    fn state(&self) -> u64 {
        let mut edits = self.edits.clone();
        edits.sort_unstable();
        digest(&(self.written, edits))
    }
}

/// The changes of a call by file; `None` for a file that is gone.
fn edits(call: EndedCall<'_>) -> Vec<(String, Option<Edit>)> {
    if call.started.kind == ToolKind::Edit
        && let Some(edits) = edits_of_input(call.started)
    {
        return edits;
    }
    call.finished.changes.iter().filter_map(edit_of_change).collect()
}

fn edits_of_input(started: &ToolStarted) -> Option<Vec<(String, Option<Edit>)>> {
    match started.typed_input() {
        ToolInput::Write { path, content } => Some(vec![(path, Some(Edit::Written(digest(&content))))]),
        ToolInput::Edit { path, edits } => {
            let before: Vec<&str> = edits.iter().map(|edit| edit.old.as_str()).collect();
            let after: Vec<&str> = edits.iter().map(|edit| edit.new.as_str()).collect();
            let edit = Edit::Replaced(digest(&before), digest(&after));
            Some(vec![(path, Some(edit))])
        }
        _ => None,
    }
}

fn edit_of_change(change: &FileChange) -> Option<(String, Option<Edit>)> {
    let edit = match change.kind {
        ChangeKind::Deleted | ChangeKind::Moved => None,
        ChangeKind::Added | ChangeKind::Modified => {
            let diff = change.diff.as_deref()?;
            let side = |sign: char| {
                let lines = diff.lines().filter(|line| line.starts_with([sign, ' ']));
                digest(&lines.map(|line| &line[1..]).collect::<Vec<_>>())
            };
            Some(Edit::Replaced(side('-'), side('+')))
        }
    };
    Some((change.path.clone(), edit))
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
