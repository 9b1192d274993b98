//! `ConfinedRuns`: the feed `runs` of a client whose token is confined to workspaces.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use ralph_store::RunSummary;

use super::board::{Board, RunsForm, Snapshot, encode_patches, encode_runs, whole_run};
use super::run_patch::run_patch;

/// What such a client was told. It counts its messages itself: the versions of the board would say how much happens
/// where the client may not look.
#[derive(Debug, Default)]
pub struct ConfinedRuns {
    told: BTreeMap<String, Arc<RunSummary>>,
    /// None before the first list.
    board_version: Option<u64>,
    version: u64,
}

impl ConfinedRuns {
    /// What is new in the workspaces that are covered; all of them at first.
    pub fn news(
        &mut self,
        board: &Board,
        form: RunsForm,
        covers: impl Fn(&str) -> bool,
    ) -> Option<Utf8Bytes> {
        let is_first = self.board_version.is_none();
        let Snapshot {
            runs,
            removed,
            version,
        } = board.snapshot(self.board_version.unwrap_or(u64::MAX));
        self.board_version = Some(version);
        let runs = runs.into_iter().filter(|run| covers(&run.workspace));
        let now: BTreeMap<String, Arc<RunSummary>> = runs.map(|run| (run.id.clone(), run)).collect();
        // A run that the board has let go of has ended, and the client knows.
        let before = std::mem::replace(&mut self.told, now);
        let changed = self.told.values().filter(|run| {
            let known = before.get(&run.id);
            known.is_none_or(|known| !Arc::ptr_eq(known, run) && known != *run)
        });
        let changed: Vec<&RunSummary> = changed.map(AsRef::as_ref).collect();
        let removed = removed.iter().filter(|removed| covers(&removed.workspace));
        let removed: Vec<&str> = removed.map(|removed| removed.run.as_str()).collect();
        if !is_first && changed.is_empty() && removed.is_empty() {
            return None;
        }
        self.version += 1;
        let is_all = is_first || (form == RunsForm::Whole && !removed.is_empty());
        if is_all {
            let all = self.told.values().map(AsRef::as_ref).collect();
            return Some(encode_runs(self.version, true, all));
        }
        if form == RunsForm::Whole {
            return Some(encode_runs(self.version, false, changed));
        }
        let patches = changed.into_iter().map(|run| match before.get(&run.id) {
            Some(known) => run_patch(known, run),
            None => whole_run(run),
        });
        Some(encode_patches(self.version, &removed, patches.collect()))
    }
}

#[cfg(test)]
mod tests {
    use ralph_store::RunSummary;
    use serde_json::{Value, json};

    use super::ConfinedRuns;
    use crate::live::{Board, RunsForm};

    fn run(id: &str, workspace: &str) -> RunSummary {
        serde_json::from_value(json!({
            "id": id, "epoch": "e", "kind": "loop", "workspace": workspace, "backend": "demo",
            "display_name": "Demo", "title": "x", "started_at": "2026-11-16T00:00:00Z",
            "updated_at": "2026-11-16T00:00:01Z", "activity": {"state": "thinking"}, "iteration": 1, "attempt": 1,
            "totals": {}, "session_ids": [], "pending": 0, "errors": 0, "head_seq": 1
        }))
        .unwrap()
    }

    struct Client {
        form: RunsForm,
        runs: ConfinedRuns,
    }

    impl Client {
        fn of(form: RunsForm) -> Self {
            let runs = ConfinedRuns::default();
            Self { form, runs }
        }

        fn take(&mut self, board: &Board) -> Option<Value> {
            board.tick();
            let text = self.runs.news(board, self.form, |workspace| workspace == "/own");
            text.map(|text| serde_json::from_str(&text).unwrap())
        }
    }

    #[test]
    fn a_client_is_told_of_its_workspaces_and_not_even_that_others_change() {
        let board = Board::default();
        board.update(&run("a", "/own"));
        board.update(&run("b", "/other"));
        let (mut patches, mut whole) = (Client::of(RunsForm::Patches), Client::of(RunsForm::Whole));
        for client in [&mut patches, &mut whole] {
            let first = client.take(&board).unwrap();
            assert_eq!((&first["version"], &first["is_all"]), (&json!(1), &json!(true)));
            assert_eq!(first["runs"].as_array().unwrap().len(), 1);
        }
        for number in 0..20 {
            board.update(&run(&format!("other-{number}"), "/other"));
            board.remove(&format!("other-{number}"), None);
            board.remove("long ago", Some("/other"));
            assert_eq!(patches.take(&board), None);
        }
        let mut changed = run("a", "/own");
        changed.pending = 1;
        board.update(&changed);
        let told = patches.take(&board).unwrap();
        assert_eq!(
            told,
            json!({"type": "runs_changed", "version": 2, "runs": [{"id": "a", "pending": 1}]})
        );
        assert_eq!(whole.take(&board).unwrap()["runs"][0]["pending"], 1);
        board.remove("a", None);
        board.remove("ended long ago", Some("/own"));
        let told = patches.take(&board).unwrap();
        let removed = json!(["a", "ended long ago"]);
        assert_eq!(
            told,
            json!({"type": "runs_changed", "version": 3, "removed": removed, "runs": []})
        );
        let told = whole.take(&board).unwrap();
        assert_eq!(
            told,
            json!({"type": "runs", "version": 3, "is_all": true, "runs": []})
        );
    }

    #[test]
    fn a_run_that_has_ended_is_let_go_of_without_a_word() {
        let board = Board::default();
        board.update(&run("a", "/own"));
        let mut client = Client::of(RunsForm::Patches);
        assert!(client.take(&board).is_some());
        assert!(board.forget("a"));
        assert_eq!(client.take(&board), None);
    }
}
