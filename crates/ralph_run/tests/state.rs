//! What a workspace remembers, and where runs live: nobody else can read it, and nobody can break it.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that cannot go on has failed; helpers are shared with other tests"
)]

mod journal_sample;

use std::fs;
use std::path::{Path, PathBuf};

use agent_api::MicroUsd;
use journal_sample::{at, my_role, role_after};
use ralph_run::model::{RunState, WaitingFor};
use ralph_run::{
    BudgetState, Durability, EndReason, FindError, Home, HomeError, LimitKind, LogName, RunFile,
    SessionState, StateError, WorkspaceError, WorkspaceFiles,
};
use serde_json::{Value, json};

const NOW: &str = "2026-11-15T23:59:59.123Z";

struct Place {
    directory: tempfile::TempDir,
    home: Home,
    workspace: PathBuf,
}

fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let workspace = directory.path().join("work");
    fs::create_dir(&workspace).unwrap();
    Place {
        home: Home::new(directory.path().join("state/ralph"), None),
        workspace,
        directory,
    }
}

impl Place {
    fn files(&self) -> WorkspaceFiles {
        WorkspaceFiles::prepare(&self.home, &self.workspace).unwrap()
    }

    fn read(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.workspace.join(name)).unwrap()).unwrap()
    }
}

#[test]
fn each_modes_session_is_kept_with_what_others_wrote() {
    let place = place();
    let files = place.files();
    let file = place.workspace.join(".ralph/state/claude-session.json");
    fs::create_dir(place.workspace.join(".ralph/state")).unwrap();
    fs::write(&file, r#"{"planner_session_id":"p1","note":[1]}"#).unwrap();
    let kept = files
        .update_session_state("claude", at(NOW), |state| {
            assert_eq!(state.session_id(Some("planner")), Some("p1"));
            assert_eq!(state.session_id(Some("coder")), None);
            state.set_session_id(Some("coder"), "c1");
        })
        .unwrap();
    assert_eq!(kept.warning, None);
    let expected = json!({
        "planner_session_id": "p1",
        "coder_session_id": "c1",
        "note": [1],
        "updated_at": NOW,
    });
    assert_eq!(place.read(".ralph/state/claude-session.json"), expected);
    let read = files.session_state("claude", at(NOW)).unwrap().value;
    assert_eq!(read.session_id(Some("coder")), Some("c1"));
    assert_eq!(
        files
            .session_state("codex", at(NOW))
            .unwrap()
            .value
            .session_id(Some("coder")),
        None
    );
}

#[test]
fn a_session_that_no_run_of_this_user_has_saved_is_not_continued() {
    let place = place();
    let files = place.files();
    files
        .update_session_state("claude", at(NOW), |state| state.set_session_id(None, "mine"))
        .unwrap();
    let file = place.workspace.join(".ralph/state/claude-session.json");
    fs::write(&file, r#"{"planner_session_id":"theirs","session_id":"mine"}"#).unwrap();
    let sessions = || {
        let state = files.session_state("claude", at(NOW)).unwrap().value;
        [None, Some("planner")].map(|mode| state.session_id(mode).map(str::to_owned))
    };
    assert_eq!(sessions(), [Some("mine".to_owned()), None]);
    // Saving another one does not make it ours.
    files
        .update_session_state("claude", at(NOW), |state| {
            state.set_session_id(Some("coder"), "new")
        })
        .unwrap();
    assert_eq!(sessions(), [Some("mine".to_owned()), None]);
    fs::write(&file, r#"{"session_id":"theirs"}"#).unwrap();
    assert_eq!(sessions(), [None, None]);
}

#[test]
fn a_session_that_is_gone_is_forgotten_and_no_other() {
    let place = place();
    let files = place.files();
    let session = |change: &dyn Fn(&mut SessionState)| {
        let kept = files.update_session_state("gemini", at(NOW), change).unwrap();
        kept.value.session_id(None).map(str::to_owned)
    };
    assert_eq!(
        session(&|state| state.set_session_id(None, "one")).as_deref(),
        Some("one")
    );
    assert_eq!(
        session(&|state| state.forget_session_id(None, "two")).as_deref(),
        Some("one")
    );
    assert_eq!(
        session(&|state| state.forget_session_id(Some("coder"), "one")).as_deref(),
        Some("one")
    );
    assert_eq!(session(&|state| state.forget_session_id(None, "one")), None);
}

#[test]
fn a_budget_adds_up_for_one_task_and_starts_at_0_for_another() {
    let place = place();
    let files = place.files();
    for _ in 0..3 {
        files
            .update_budget(Some("a"), at(NOW), |budget| {
                budget.total_cost += MicroUsd::new(100_001);
                budget.iterations += 1;
                budget.max_cost = Some(MicroUsd::new(10_000_000));
                budget.max_iterations = Some(50);
            })
            .unwrap();
    }
    // The names in the file, with money in dollars.
    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Budget {
        task: String,
        total_cost_usd: f64,
        max_cost_usd: f64,
        iterations: u32,
        max_iterations: u32,
    }
    let written: Budget = serde_json::from_value(place.read(".ralph/state/budget.json")).unwrap();
    let expected = Budget {
        task: "a".to_owned(),
        total_cost_usd: 0.300_003,
        max_cost_usd: 10.0,
        iterations: 3,
        max_iterations: 50,
    };
    assert_eq!(written, expected);
    let same = files.budget(Some("a"), at(NOW)).unwrap().value;
    assert_eq!((same.total_cost, same.iterations), (MicroUsd::new(300_003), 3));
    let other = files.budget(Some("b"), at(NOW)).unwrap().value;
    assert_eq!((other.total_cost, other.iterations), (MicroUsd::ZERO, 0));
    assert_eq!(
        files.budget(None, at(NOW)).unwrap().value.total_cost,
        MicroUsd::ZERO
    );
}

#[test]
fn tasks_that_alternate_keep_their_accounts() {
    let place = place();
    let files = place.files();
    let charge = |task: Option<&str>, run: &str| {
        let cost = MicroUsd::new(100);
        files
            .update_budget(task, at(NOW), |account| account.charge(run, cost, MicroUsd::ZERO))
            .unwrap()
            .value
            .total_cost
            .as_micro_usd()
    };
    for (round, run) in [(1, "1"), (2, "2"), (3, "3")] {
        assert_eq!(charge(Some("a"), run), round * 100);
        assert_eq!(charge(Some("b"), run), round * 100);
        assert_eq!(charge(None, run), 100, "runs without a task are not added up");
    }
    // One can be reset.
    files
        .update_budget(Some("a"), at(NOW), BudgetState::reset)
        .unwrap();
    let total = |task| {
        files
            .budget(Some(task), at(NOW))
            .unwrap()
            .value
            .total_cost
            .as_micro_usd()
    };
    assert_eq!((total("a"), total("b"), total("c")), (0, 300, 0));
    assert_eq!(charge(Some("a"), "3"), 0, "was added before the reset");
    assert_eq!(charge(Some("a"), "4"), 100);
    let file = place.read(".ralph/state/budget.json");
    assert_eq!(file["task"], "a");
    assert_eq!(file["other_tasks"][0]["task"], "b");
    assert_eq!(file["other_tasks"][0]["total_cost_usd"], 0.0003);
}

#[test]
fn an_account_of_an_earlier_version_is_read_and_kept() {
    let place = place();
    let files = place.files();
    files.update_budget(None, at(NOW), |_| {}).unwrap();
    let path = place.workspace.join(".ralph/state/budget.json");
    let old = r#"{"task":"a","total_cost_usd":1.5,"max_cost_usd":10.0,"iterations":3,"max_iterations":50,
        "booked":{"run_id":"r","micro_usd":7},"added_by":"another program"}"#;
    fs::write(&path, old).unwrap();
    files.update_budget(Some("b"), at(NOW), |_| {}).unwrap();
    let account = files.budget(Some("a"), at(NOW)).unwrap().value;
    assert_eq!(
        (account.total_cost.as_micro_usd(), account.iterations),
        (1_500_000, 3)
    );
    assert_eq!(account.charged.len(), 1);
    assert_eq!(
        place.read(".ralph/state/budget.json")["added_by"],
        "another program"
    );
}

#[test]
fn a_file_with_many_tasks_stays_readable() {
    let place = place();
    let files = place.files();
    let long = "x".repeat(100_000);
    for number in 0..210 {
        let task = format!(
            "{}-{number}",
            &long[..if number % 50 == 0 { 100_000 } else { 1_000 }]
        );
        let loaded = files
            .update_budget(Some(&task), at(NOW), |account| {
                for run in 0..6 {
                    account.charge(&format!("run-{run}"), MicroUsd::new(1), MicroUsd::ZERO);
                }
            })
            .unwrap();
        assert_eq!(loaded.warning, None, "{number}");
    }
    let newest = files
        .budget(Some(&format!("{}-208", &long[..1_000])), at(NOW))
        .unwrap();
    assert_eq!(
        (newest.value.total_cost, newest.warning),
        (MicroUsd::new(6), None)
    );
}

#[test]
fn parallel_updates_are_all_counted() {
    let place = place();
    let files = place.files();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            let (files, place) = (&files, &place);
            scope.spawn(move || {
                for _ in 0..5 {
                    files
                        .update_budget(None, at(NOW), |budget| budget.iterations += 1)
                        .unwrap();
                    place.read(".ralph/state/budget.json");
                }
            });
        }
    });
    assert_eq!(files.budget(None, at(NOW)).unwrap().value.iterations, 100);
}

#[test]
fn a_broken_file_is_put_aside_with_a_warning() {
    let place = place();
    let files = place.files();
    files.update_budget(None, at(NOW), |_| {}).unwrap();
    let file = place.workspace.join(".ralph/state/budget.json");
    for broken in ["", "{\"iterations\":", "[]", "{\"iterations\":-1}", "\0\0\0"] {
        fs::write(&file, broken).unwrap();
        let kept = files
            .update_budget(None, at(NOW), |budget| budget.iterations += 1)
            .unwrap();
        assert_eq!(kept.value.iterations, 1);
        let warning = kept.warning.unwrap();
        let aside = file.with_file_name("budget.json.corrupt-20261115T235959.123Z");
        assert!(warning.contains(aside.to_str().unwrap()), "{warning}");
        assert_eq!(fs::read_to_string(&aside).unwrap(), broken);
        assert_eq!(place.read(".ralph/state/budget.json")["iterations"], 1);
    }
}

#[test]
fn an_agent_that_removes_the_directory_costs_nothing() {
    let place = place();
    let files = place.files();
    files
        .update_budget(None, at(NOW), |budget| budget.iterations = 7)
        .unwrap();
    fs::remove_dir_all(place.workspace.join(".ralph")).unwrap();
    assert_eq!(files.budget(None, at(NOW)).unwrap().value.iterations, 0);
    files
        .update_session_state("claude", at(NOW), |state| state.set_session_id(None, "s"))
        .unwrap();
    let ignored = fs::read_to_string(place.workspace.join(".ralph/.gitignore")).unwrap();
    assert_eq!(ignored, "*\n");
    assert_eq!(place.read(".ralph/state/claude-session.json")["session_id"], "s");
}

#[test]
fn an_agent_that_removes_the_directory_all_the_time_costs_nothing_either() {
    let place = place();
    let files = place.files();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = fs::remove_dir_all(place.workspace.join(".ralph"));
                std::thread::yield_now();
            }
        });
        for _ in 0..30 {
            // Nobody can win each race against somebody who does nothing else; nothing may break, though.
            let _ = files.update_budget(None, at(NOW), |budget| budget.iterations += 1);
        }
        is_done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    files.update_budget(None, at(NOW), |_| {}).unwrap();
}

#[cfg(unix)]
#[test]
fn links_where_directories_should_be_are_refused() {
    let place = place();
    let victim = place.directory.path().join("victim");
    fs::create_dir(&victim).unwrap();
    let root = place.workspace.join(".ralph");
    std::os::unix::fs::symlink(&victim, &root).unwrap();
    let refused = WorkspaceFiles::prepare(&place.home, &place.workspace);
    assert!(matches!(refused, Err(WorkspaceError::NotADirectory(_))));
    fs::remove_file(&root).unwrap();
    fs::write(&root, "a file").unwrap();
    assert!(WorkspaceFiles::prepare(&place.home, &place.workspace).is_err());
    fs::remove_file(&root).unwrap();

    let files = place.files();
    for name in ["state", "logs"] {
        std::os::unix::fs::symlink(&victim, root.join(name)).unwrap();
    }
    let updated = files.update_budget(None, at(NOW), |_| {});
    assert!(matches!(
        updated,
        Err(StateError::Workspace(WorkspaceError::NotADirectory(_)))
    ));
    assert!(files.budget(None, at(NOW)).is_err());
    assert!(files.link_log(Path::new("/dev/null"), &log_name(None)).is_err());
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
}

fn log_name(task: Option<&str>) -> LogName<'_> {
    LogName {
        backend: "claude",
        at: at(NOW),
        mode: "coder",
        task,
    }
}

#[test]
fn a_log_is_found_under_time_mode_and_task() {
    let place = place();
    let files = place.files();
    let raw = place.directory.path().join("1.ndjson");
    fs::write(&raw, "output\n").unwrap();
    let logs = fs::canonicalize(&place.workspace)
        .unwrap()
        .join(".ralph/logs/claude");
    let link = files.link_log(&raw, &log_name(Some("fix ../ä"))).unwrap();
    assert_eq!(link, logs.join("20261115T235959.123Z-coder-fix-..--.ndjson"));
    let second = files.link_log(&raw, &log_name(Some("fix ../ä"))).unwrap();
    assert_eq!(second, logs.join("20261115T235959.123Z-coder-fix-..---2.ndjson"));
    let plain = files.link_log(&raw, &log_name(None)).unwrap();
    assert_eq!(plain, logs.join("20261115T235959.123Z-coder-run.ndjson"));
    let long = files.link_log(&raw, &log_name(Some(&"x".repeat(300)))).unwrap();
    assert_eq!(
        long.file_name().unwrap().len(),
        "20261115T235959.123Z-coder-.ndjson".len() + 64
    );
    // A hard link: it shows what is written later, and stays when the run is removed.
    fs::write(&raw, "more output\n").unwrap();
    fs::remove_file(&raw).unwrap();
    assert_eq!(fs::read_to_string(&link).unwrap(), "more output\n");
    let escaping = LogName {
        backend: "..",
        ..log_name(None)
    };
    fs::write(&raw, "").unwrap();
    let link = files.link_log(&raw, &escaping).unwrap();
    assert!(link.to_str().unwrap().contains("/.ralph/logs/-./"), "{link:?}");
}

#[test]
fn runs_are_found_by_their_id_by_its_short_part_and_by_a_beginning_of_either() {
    let place = place();
    let home = &place.home;
    assert!(home.list().unwrap().is_empty());
    let first = home.create_run(at("2026-11-15T10:00:00Z")).unwrap();
    let second = home.create_run(at("2026-11-15T10:00:00.5Z")).unwrap();
    let third = home.create_run(at("2026-11-16T10:00:00Z")).unwrap();
    assert_eq!(
        home.list().unwrap(),
        [third.clone(), second.clone(), first.clone()]
    );
    assert_eq!(home.find(first.id()).unwrap(), first);
    for run in [&first, &second, &third] {
        assert_eq!(home.find(run.short_id()).unwrap(), *run);
        assert_eq!(home.find(&run.short_id().to_uppercase()).unwrap(), *run);
    }
    assert_eq!(home.find("20261116").unwrap(), third);
    let error = home.find("20261115").unwrap_err();
    let FindError::Ambiguous { candidates, .. } = &error else {
        unreachable!("two runs start so: {error}")
    };
    let ids: Vec<&str> = candidates.iter().map(|candidate| candidate.id.as_str()).collect();
    assert_eq!(ids, [second.id(), first.id()]);
    assert!(
        error.to_string().starts_with("2 runs match `20261115`"),
        "{error}"
    );
    // From an earlier version, and two runs with the same short part.
    for id in [
        "20251115-100000-9ed6f3",
        "20251116-100000-9ed6f3",
        "20251117-100000-800abc",
    ] {
        home.create_run_as(id).unwrap();
    }
    assert_eq!(home.find("800abc").unwrap().id(), "20251117-100000-800abc");
    assert!(matches!(
        home.find("9ed6f3"),
        Err(FindError::Ambiguous { count: 2, .. })
    ));
    assert_eq!(home.find("20251115-100000-9ed6f3").unwrap().short_id(), "9ed6f3");
    for unknown in ["", "nothing", "..", "../state"] {
        assert!(matches!(home.find(unknown), Err(FindError::Unknown(_))));
    }
}

#[test]
fn runs_that_start_together_have_names_of_their_own() {
    let place = place();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| place.home.create_run(at(NOW)).unwrap());
        }
    });
    assert_eq!(place.home.list().unwrap().len(), 20);
}

#[cfg(unix)]
#[test]
fn a_state_directory_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    place.home.create_run(at(NOW)).unwrap();
    let state = place.home.state_directory();
    fs::set_permissions(state, fs::Permissions::from_mode(0o770)).unwrap();
    let refused = place.home.create_run(at(NOW)).unwrap_err();
    assert!(matches!(refused, HomeError::WritableByOthers(_)));
    assert!(refused.to_string().contains("chmod go-w"), "{refused}");
    assert!(place.home.list().is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_state_directory_of_another_user_is_refused() {
    // Of the directories that always exist, one belongs to somebody else, whoever we are.
    use std::os::unix::fs::MetadataExt;
    let ours = fs::metadata("/proc/self").unwrap().uid();
    let foreign = tempfile::tempdir().unwrap();
    let state = if ours == 0 {
        std::os::unix::fs::chown(foreign.path(), Some(65534), None).unwrap();
        foreign.path()
    } else {
        Path::new("/usr")
    };
    let refused = Home::new(state, None).create_run(at(NOW)).unwrap_err();
    assert!(matches!(refused, HomeError::ForeignOwner(_)), "{refused}");
}

fn run_file() -> RunFile {
    journal_sample::run_file("r", NOW)
}

#[test]
fn what_a_newer_version_keeps_in_a_runs_file_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    let mut newer = serde_json::to_value(run_file()).unwrap();
    newer["colour"] = json!("blue");
    newer["status"]["mood"] = json!({"good": true});
    fs::write(&path, newer.to_string()).unwrap();
    let mut file = RunFile::load(&path).unwrap();
    file.status.iteration = 3;
    file.save(&path, Durability::Synced).unwrap();
    newer["status"]["iteration"] = json!(3);
    let read: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(read, newer);
}

#[test]
fn a_runs_file_has_limits_and_warnings_for_lists_and_reads_without_them() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.json");
    let mut file = run_file();
    file.status.max_cost = Some(MicroUsd::new(2_500_000));
    file.status.max_iterations = Some(50);
    file.status.warnings = 2;
    file.status.state_since = Some(at(NOW));
    file.save(&path, Durability::Synced).unwrap();
    assert_eq!(RunFile::load(&path).unwrap(), file);
    let mut old = serde_json::to_value(&file).unwrap();
    for name in ["max_cost", "max_iterations", "warnings", "state_since"] {
        assert!(old["status"].as_object_mut().unwrap().remove(name).is_some());
    }
    fs::write(&path, old.to_string()).unwrap();
    let status = RunFile::load(&path).unwrap().status;
    assert_eq!(
        (status.max_cost, status.max_iterations, status.warnings),
        (None, None, 0)
    );
    assert_eq!(status.state_since, None);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_anything_whatever_the_umask() {
    let umasks = ["000", "022", "077", "377"];
    for umask in umasks {
        let directory = tempfile::tempdir().unwrap();
        let output = role_after(
            &format!("umask {umask}"),
            "a_user_of_everything",
            directory.path(),
        )
        .output()
        .unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut seen = 0;
        check_modes(&directory.path().join("state"), &mut seen);
        check_modes(&directory.path().join("work/.ralph"), &mut seen);
        assert!(seen > 12, "only {seen} files");
    }
}

#[cfg(unix)]
fn check_modes(path: &Path, seen: &mut u32) {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::symlink_metadata(path).unwrap();
    let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
    let mode = metadata.permissions().mode() & 0o777;
    assert_eq!(mode, expected, "{mode:o} {}", path.display());
    *seen += 1;
    if metadata.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            check_modes(&entry.unwrap().path(), seen);
        }
    }
}

#[test]
fn a_user_of_everything() {
    let Some(directory) = my_role() else { return };
    let workspace = directory.join("work");
    if !workspace.exists() {
        fs::create_dir(&workspace).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&workspace, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    let home = Home::new(directory.join("state"), None);
    let run = home.create_run(at(NOW)).unwrap();
    let mut journal = ralph_run::JournalWriter::create(&run.journal()).unwrap();
    journal.append(&journal_sample::started(run.id())).unwrap();
    run_file().save(&run.run_file(), Durability::Synced).unwrap();
    let files = WorkspaceFiles::prepare(&home, &workspace).unwrap();
    files.update_budget(None, at(NOW), |_| {}).unwrap();
    files.update_session_state("claude", at(NOW), |_| {}).unwrap();
    files.link_log(&run.journal(), &log_name(None)).unwrap();
    let info = ralph_run::LockInfo {
        run_id: run.id().to_owned(),
        pid: std::process::id(),
        since: at(NOW),
    };
    let _workspace = ralph_run::Lock::workspace(&home, &workspace, &info).unwrap();
    let _session = ralph_run::Lock::session(&home, "s", &info).unwrap();
}

#[test]
fn run_files_of_earlier_versions_are_read() {
    let place = place();
    let path = place.workspace.join("run.json");
    let file = |status: &str, reason: &str| {
        let text = format!(
            r#"{{"version": 1, "run_id": "20261116-125252-9ed6f3", "workspace": "/w", "backend": "claude_code",
            "display_name": "Claude Code", "model": null, "agent_version": "2.1.325", "permission_mode": null,
            "cwd": null, "tools": [], "mcp_servers": [], "session_ids": ["s"], "mode": null, "task": null,
            "kind": "loop", "prompt": "Fix it.", "started_at": "2026-11-16T12:52:52Z", "ended_at": null,
            "status": {{{status}, "iteration": 2, "attempt": 1, "totals": {{"tokens": {{}}, "turns": 0, "duration_ms": 0}}}},
            "reason": {reason}, "exit_code": null,
            "runner": {{"pid": 7, "start_time": 1, "boot_id": "b"}}, "ralph_version": "0.1.0"}}"#
        );
        fs::write(&path, text).unwrap();
        let file = RunFile::load(&path).unwrap();
        assert_eq!((file.status.iteration, file.status.attempt), (2, 1));
        // What is written is read again as it was, and nothing of the old words is left.
        file.save(&path, Durability::Cached).unwrap();
        assert_eq!(RunFile::load(&path).unwrap(), file);
        file.status
    };
    let waiting = |what| RunState::Waiting { what };
    for (status, state) in [
        (r#""state": "starting""#, RunState::Starting),
        (r#""state": "running""#, RunState::Thinking),
        (
            r#""state": "running", "activity": "Bash: cargo test""#,
            RunState::tool("Bash", Some("cargo test")),
        ),
        (
            r#""state": "running", "activity": "waiting for an answer""#,
            waiting(WaitingFor::Permission),
        ),
        (
            r#""state": "result_seen", "activity": "responding""#,
            RunState::Responding,
        ),
        (r#""state": "draining""#, RunState::Stopping),
        (
            r#""state": "verifying", "activity": "Bash: x""#,
            RunState::Verifying,
        ),
        (
            r#""state": "idle", "activity": "waiting for a message""#,
            waiting(WaitingFor::Message),
        ),
    ] {
        let read = file(status, "null");
        assert_eq!(read.state, state, "{status}");
        assert!(read.other.is_empty(), "{:?}", read.other);
    }
    let ended = file(r#""state": "ended""#, r#"{"limit": "cost"}"#);
    let reason = EndReason::Limit(LimitKind::Cost).into();
    assert_eq!(ended.state, RunState::Ended { reason });
}
