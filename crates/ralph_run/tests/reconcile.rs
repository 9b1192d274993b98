//! Runs whose runner died end as lost, with the evidence; those whose runner lives are not touched.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that cannot go on has failed; helpers are shared with other tests"
)]

mod journal_sample;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use agent_api::MicroUsd;
use journal_sample::{at, ended, my_role, role, started, warned};
use ralph_run::model::RunState;
use ralph_run::{
    BudgetState, ChargedRun, CleanMode, Durability, EndReason, Home, JournalWriter, Record, RunBody,
    RunDirectory, RunEnded, RunEvent, RunFile, RunStatus, Runner, WorkspaceFiles, clean, read_journal,
    reconcile, remove_ended,
};

const NOW: &str = "2026-11-16T12:00:00Z";

fn home(directory: &Path) -> Home {
    Home::new(directory.join("state"), None)
}

fn run_file(run: &RunDirectory, runner: Runner) -> RunFile {
    RunFile {
        status: RunStatus {
            state: RunState::tool("Bash", Some("make")),
            iteration: 2,
            attempt: 1,
            ..RunStatus::default()
        },
        runner,
        ..journal_sample::run_file(run.id(), "2026-11-15T23:59:59Z")
    }
}

/// A run as its runner left it.
fn abandoned(home: &Home, runner: Runner, records: &[Record]) -> RunDirectory {
    let run = home.create_run(at("2026-11-15T23:59:59Z")).unwrap();
    run_file(&run, runner)
        .save(&run.run_file(), Durability::Cached)
        .unwrap();
    let mut journal = JournalWriter::create(&run.journal()).unwrap();
    for record in records {
        journal.append(record).unwrap();
    }
    run
}

/// This process's number at another time: the number was used again.
fn replaced() -> Runner {
    let mut runner = Runner::current();
    runner.start_time -= 1;
    runner
}

fn records(run: &RunDirectory) -> Vec<Record> {
    read_journal(&run.journal())
        .unwrap()
        .map(|item| item.unwrap())
        .collect()
}

fn ending(run: &RunDirectory) -> (Record, RunEnded) {
    let last = records(run).pop().unwrap();
    match last.event.clone() {
        RunEvent::Run(RunBody::RunEnded(ending)) => (last, ending),
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_run_whose_number_is_another_processs_now_is_lost_with_the_evidence() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let runner = replaced();
    let run = abandoned(&home, runner.clone(), &[started("r"), warned(2, "x")]);
    // It died in the middle of a line.
    let mut journal = fs::OpenOptions::new().append(true).open(run.journal()).unwrap();
    journal.write_all(b"{\"seq\":3,\"at\":\"20").unwrap();

    let found = reconcile(&home, at(NOW)).unwrap();
    assert!(found.failed.is_empty(), "{:?}", found.failed);
    let [lost] = found.lost.as_slice() else {
        unreachable!("{found:?}")
    };
    assert_eq!(lost.id, run.id());
    assert_eq!(
        lost.evidence,
        format!(
            "the runner died (process {} is another program now); its last record is from 2026-11-15T23:59:59.5Z",
            runner.pid
        )
    );
    assert_eq!(
        fs::read(lost.torn.as_ref().unwrap()).unwrap(),
        b"{\"seq\":3,\"at\":\"20"
    );

    let (record, ending) = ending(&run);
    assert_eq!((record.seq, record.at), (3, at(NOW)));
    assert_eq!((record.iteration, record.attempt), (2, 1));
    assert_eq!((ending.reason, ending.exit_code), (EndReason::Lost.into(), 1));
    assert_eq!(ending.message.as_ref(), Some(&lost.evidence));
    assert_eq!(ending.iterations, 2);
    let file = RunFile::load(&run.run_file()).unwrap();
    assert_eq!(
        file.status.state,
        RunState::Ended {
            reason: EndReason::Lost.into()
        }
    );
    assert_eq!(
        (file.reason, file.exit_code, file.ended_at),
        (Some(EndReason::Lost.into()), Some(1), Some(at(NOW)))
    );

    // Once is enough.
    let again = reconcile(&home, at(NOW)).unwrap();
    assert!(again.lost.is_empty() && again.failed.is_empty());
    assert_eq!(records(&run).len(), 3);
}

#[test]
fn a_run_of_an_earlier_boot_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let mut runner = Runner::current();
    runner.boot_id = "an earlier one".to_owned();
    abandoned(&home, runner, &[started("r")]);
    let found = reconcile(&home, at(NOW)).unwrap();
    assert!(found.lost[0].evidence.contains("the machine was restarted"));
}

#[test]
fn a_run_whose_runner_lives_is_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let run = abandoned(&home, Runner::current(), &[started("r"), warned(2, "x")]);
    let before = fs::read(run.journal()).unwrap();
    assert!(reconcile(&home, at(NOW)).unwrap().lost.is_empty());
    assert_eq!(fs::read(run.journal()).unwrap(), before);
    assert!(!RunFile::load(&run.run_file()).unwrap().is_ended());
}

/// Its process cannot be seen from here, as from within a container, but the lock can.
#[test]
fn a_run_whose_journal_is_held_is_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let run = abandoned(&home, replaced(), &[]);
    let mut held = JournalWriter::resume(&run.journal(), at(NOW), |_| {}).unwrap();
    held.writer.append(&started("r")).unwrap();
    assert!(reconcile(&home, at(NOW)).unwrap().lost.is_empty());
    assert!(!RunFile::load(&run.run_file()).unwrap().is_ended());
    drop(held);
    assert_eq!(reconcile(&home, at(NOW)).unwrap().lost.len(), 1);
}

#[test]
fn a_run_that_ended_before_its_file_said_so_keeps_its_reason() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let run = abandoned(&home, replaced(), &[started("r"), ended(2)]);
    assert!(reconcile(&home, at(NOW)).unwrap().lost.is_empty());
    assert_eq!(records(&run).len(), 2);
    let file = RunFile::load(&run.run_file()).unwrap();
    assert_eq!(
        (file.reason, file.exit_code),
        (Some(EndReason::Completed.into()), Some(0))
    );
}

#[test]
fn a_run_that_lost_its_file_gets_one_from_its_journal() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    for content in [None, Some("{broken")] {
        let run = abandoned(&home, replaced(), &[started("r"), warned(2, "x")]);
        match content {
            Some(content) => fs::write(run.run_file(), content).unwrap(),
            None => fs::remove_file(run.run_file()).unwrap(),
        }
        assert_eq!(reconcile(&home, at(NOW)).unwrap().lost.len(), 1);
        let file = RunFile::load(&run.run_file()).unwrap();
        assert_eq!(file.reason, Some(EndReason::Lost.into()));
        assert_eq!(
            (file.run_id.as_str(), file.mode.as_deref()),
            (run.id(), Some("coder"))
        );
    }
}

#[test]
fn a_run_that_is_being_made_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let empty = home.create_run(at(NOW)).unwrap();
    let begun = home.create_run(at(NOW)).unwrap();
    drop(JournalWriter::create(&begun.journal()).unwrap());
    let found = reconcile(&home, at(NOW)).unwrap();
    assert!(found.lost.is_empty() && found.failed.is_empty());
    assert!(!empty.run_file().exists() && !begun.run_file().exists());
}

#[test]
fn a_run_that_cannot_be_repaired_does_not_keep_the_others_from_it() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let broken = abandoned(&home, replaced(), &[]);
    fs::remove_file(broken.journal()).unwrap();
    fs::create_dir(broken.journal()).unwrap();
    let good = abandoned(&home, replaced(), &[started("r")]);
    let found = reconcile(&home, at(NOW)).unwrap();
    assert_eq!(found.failed.len(), 1);
    assert_eq!(found.failed[0].0, broken.id());
    assert_eq!(found.lost.len(), 1);
    assert_eq!(found.lost[0].id, good.id());
}

/// A lost run of the task `t` in this workspace; its file says that it cost so much, of which so much is accounted for.
fn lost_run_of_a_task(home: &Home, workspace: &Path, cost: u64, accounted: Option<u64>) -> RunDirectory {
    let mut first = started("r");
    if let RunEvent::Run(RunBody::RunStarted(started)) = &mut first.event {
        started.task = Some("t".to_owned());
    }
    let run = abandoned(home, replaced(), &[first]);
    let mut file = RunFile::load(&run.run_file()).unwrap();
    file.workspace = workspace.display().to_string();
    file.task = Some("t".to_owned());
    file.status.totals.cost = Some(MicroUsd::new(cost));
    file.status.accounted_cost = accounted.map(MicroUsd::new);
    file.save(&run.run_file(), Durability::Cached).unwrap();
    run
}

#[test]
fn what_a_lost_run_spent_is_added_to_its_tasks_account_once() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let workspace = directory.path().join("w");
    fs::create_dir(&workspace).unwrap();
    let files = WorkspaceFiles::prepare(&home, &workspace).unwrap();
    let set = |task: &str, cost| {
        let cost = MicroUsd::new(cost);
        files
            .update_budget(Some(task), at(NOW), |state| state.total_cost = cost)
            .unwrap();
    };
    let total = |task: &str| {
        let account = files.budget(Some(task), at(NOW)).unwrap().value;
        account.total_cost.as_micro_usd()
    };

    set("t", 100);
    let run = lost_run_of_a_task(&home, &workspace, 70, Some(30));
    for _ in 0..2 {
        assert!(reconcile(&home, at(NOW)).unwrap().failed.is_empty());
        assert_eq!(total("t"), 140);
    }
    let file = RunFile::load(&run.run_file()).unwrap();
    assert_eq!(file.status.accounted_cost, Some(MicroUsd::new(70)));
    assert_eq!(file.reason, Some(EndReason::Lost.into()));

    lost_run_of_a_task(&home, &workspace, 5, None);
    lost_run_of_a_task(&home, &workspace, 9, Some(9));
    reconcile(&home, at(NOW)).unwrap();
    assert_eq!(total("t"), 145);

    // Another task has been worked on since. Its account stays at the top of the file.
    set("other", 1);
    lost_run_of_a_task(&home, &workspace, 70, Some(30));
    reconcile(&home, at(NOW)).unwrap();
    assert_eq!((total("t"), total("other")), (185, 1));
    let text = fs::read(workspace.join(".ralph/state/budget.json")).unwrap();
    let file: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(file["task"], "other");

    // The account was reset since: what was in it before is not added again.
    files
        .update_budget(Some("t"), at(NOW), BudgetState::reset)
        .unwrap();
    lost_run_of_a_task(&home, &workspace, 70, Some(70));
    lost_run_of_a_task(&home, &workspace, 71, Some(70));
    reconcile(&home, at(NOW)).unwrap();
    assert_eq!(total("t"), 0);
}

/// The runner gave up waiting for the lock of the account, and ended.
#[test]
fn what_a_run_could_not_save_at_its_end_is_added_later() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let workspace = directory.path().join("w");
    fs::create_dir(&workspace).unwrap();
    let run = lost_run_of_a_task(&home, &workspace, 70, Some(30));
    let mut file = RunFile::load(&run.run_file()).unwrap();
    file.status.state = RunState::Ended {
        reason: EndReason::Completed.into(),
    };
    file.reason = Some(EndReason::Completed.into());
    file.ended_at = Some(at(NOW));
    file.save(&run.run_file(), Durability::Cached).unwrap();
    let files = WorkspaceFiles::prepare(&home, &workspace).unwrap();
    files
        .update_budget(Some("t"), at(NOW), |state| state.total_cost = MicroUsd::new(30))
        .unwrap();
    for _ in 0..2 {
        assert!(reconcile(&home, at(NOW)).unwrap().lost.is_empty());
        let account = files.budget(Some("t"), at(NOW)).unwrap().value;
        assert_eq!(account.total_cost, MicroUsd::new(70));
    }
    let file = RunFile::load(&run.run_file()).unwrap();
    assert_eq!(file.reason, Some(EndReason::Completed.into()));
    assert_eq!(file.status.accounted_cost, Some(MicroUsd::new(70)));
}

/// The account is on disk before the run's file says so; whoever dies in between has still paid once.
#[test]
fn what_was_booked_just_before_the_crash_is_not_booked_again() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let workspace = directory.path().join("w");
    fs::create_dir(&workspace).unwrap();
    let files = WorkspaceFiles::prepare(&home, &workspace).unwrap();
    let total = || {
        let account = files.budget(Some("t"), at(NOW)).unwrap().value;
        account.total_cost.as_micro_usd()
    };

    let run = lost_run_of_a_task(&home, &workspace, 70, Some(30));
    let before = fs::read(run.run_file()).unwrap();
    files
        .update_budget(Some("t"), at(NOW), |state| {
            state.total_cost = MicroUsd::new(160);
            state.charged = vec![ChargedRun {
                run_id: run.id().to_owned(),
                cost: MicroUsd::new(60),
            }];
        })
        .unwrap();
    reconcile(&home, at(NOW)).unwrap();
    assert_eq!(total(), 170);

    // Whoever reconciled it was killed, too, before the run's file was there.
    fs::write(run.run_file(), before).unwrap();
    fs::write(home.state_directory().join("active").join(run.id()), "").unwrap();
    reconcile(&home, at(NOW)).unwrap();
    assert_eq!(total(), 170);
    let file = RunFile::load(&run.run_file()).unwrap();
    assert_eq!(file.status.accounted_cost, Some(MicroUsd::new(70)));

    // What another run booked last says nothing about this one.
    lost_run_of_a_task(&home, &workspace, 5, None);
    reconcile(&home, at(NOW)).unwrap();
    assert_eq!(total(), 175);
}

#[test]
fn a_lost_run_whose_workspace_is_gone_still_ends() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    lost_run_of_a_task(&home, &directory.path().join("gone"), 5, None);
    let found = reconcile(&home, at(NOW)).unwrap();
    assert_eq!((found.lost.len(), found.failed.len()), (1, 0));
}

/// The journal of a run of the task `t` that cost 10, then 30, then 35 in all, and what its records say after each.
fn costly_journal() -> Vec<(Record, u64)> {
    let mut first = started("r");
    if let RunEvent::Run(RunBody::RunStarted(started)) = &mut first.event {
        started.task = Some("t".to_owned());
    }
    let json = |text: &str| {
        let event: RunEvent = serde_json::from_str(text).unwrap();
        assert!(!matches!(event, RunEvent::Unknown(_)), "{event:?}");
        event
    };
    let usage = |cost: u64| {
        json(&format!(
            r#"{{"agent_kind":"demo","type":"usage","data":{{"scope":"step","tokens":{{}},"run":{{"tokens":{{}},"cost":{{"micro_usd":{cost},"source":"reported"}},"is_partial":true}}}}}}"#
        ))
    };
    let attempt = |cost: u64| {
        json(&format!(
            r#"{{"type":"attempt_ended","data":{{"outcome":"succeeded","exit":{{"code":0,"signal":null,"was_stopped":false}},"totals":{{"tokens":{{}},"cost":{cost},"turns":1,"duration_ms":1}}}}}}"#
        ))
    };
    let begun = json(r#"{"type":"attempt_started","data":{"number":1,"pid":1,"raw_log":"r","program":"p"}}"#);
    let over = json(
        r#"{"type":"run_ended","data":{"reason":"completed","exit_code":0,"iterations":1,"totals":{"tokens":{},"cost":35,"turns":1,"duration_ms":1}}}"#,
    );
    let events = [
        (first.event.clone(), 0),
        (begun.clone(), 0),
        (usage(10), 10),
        (attempt(30), 30),
        (begun, 30),
        (usage(5), 35),
        (attempt(5), 35),
        (over, 35),
    ];
    let records = events.into_iter().zip(1..).map(|((event, cost), seq)| {
        let record = Record {
            seq,
            event,
            ..first.clone()
        };
        (record, cost)
    });
    records.collect()
}

/// Wherever the runner was killed, whether or not it had saved the account, and however many look at the same time.
#[test]
fn a_cost_is_booked_exactly_once() {
    let journal = costly_journal();
    for length in 1..=journal.len() {
        let records: Vec<Record> = journal[..length]
            .iter()
            .map(|(record, _)| record.clone())
            .collect();
        let truth = journal[length - 1].1;
        // What the runner had booked, and whether its file knew.
        let ends = journal[..length]
            .iter()
            .filter_map(|(record, cost)| match &record.event {
                RunEvent::Run(RunBody::AttemptEnded(_)) => Some(*cost),
                _ => None,
            });
        let mut saved = vec![(0, 0)];
        for cost in ends {
            saved.extend([(cost, 0), (cost, cost)]);
        }
        for (booked, accounted) in saved {
            let directory = tempfile::tempdir().unwrap();
            let home = home(directory.path());
            let workspace = directory.path().join("w");
            fs::create_dir(&workspace).unwrap();
            let files = WorkspaceFiles::prepare(&home, &workspace).unwrap();
            let run = abandoned(&home, replaced(), &records);
            let mut file = RunFile::load(&run.run_file()).unwrap();
            file.workspace = workspace.display().to_string();
            file.task = Some("t".to_owned());
            file.status.accounted_cost = (accounted > 0).then(|| MicroUsd::new(accounted));
            file.save(&run.run_file(), Durability::Cached).unwrap();
            files
                .update_budget(Some("t"), at(NOW), |state| {
                    state.charge("20250101-000000-000000", MicroUsd::new(100), MicroUsd::ZERO);
                    if booked > 0 {
                        state.charge(run.id(), MicroUsd::new(booked), MicroUsd::ZERO);
                    }
                })
                .unwrap();
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| {
                        // The other one may have the journal just now.
                        while fs::exists(home.state_directory().join("active").join(run.id())).unwrap() {
                            reconcile(&home, at(NOW)).unwrap();
                        }
                    });
                }
            });
            let total = files.budget(Some("t"), at(NOW)).unwrap().value.total_cost;
            assert_eq!(
                total.as_micro_usd(),
                100 + truth,
                "{length} records, {booked} booked, {accounted} accounted for"
            );
        }
    }
}

#[test]
fn a_run_ends_although_the_clock_was_set_back_since_it_began() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let run = abandoned(&home, replaced(), &[started("r"), warned(2, "x")]);
    assert_eq!(
        reconcile(&home, at("1970-01-01T00:00:00Z")).unwrap().lost.len(),
        1
    );
    let file = RunFile::load(&run.run_file()).unwrap();
    assert_eq!(file.reason, Some(EndReason::Lost.into()));
    assert_eq!(file.ended_at, Some(at("1970-01-01T00:00:00Z")));
    let records: Vec<Record> = read_journal(&run.journal())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let seqs: Vec<u64> = records.iter().map(|record| record.seq).collect();
    assert_eq!(seqs, [1, 2, 3]);
    assert!(
        reconcile(&home, at("9999-12-30T00:00:00Z"))
            .unwrap()
            .lost
            .is_empty()
    );
}

#[test]
fn a_run_that_was_never_more_than_a_directory_is_not_active_for_ever() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let run = home.create_run(at(NOW)).unwrap();
    let is_active = || home.state_directory().join("active").join(run.id()).exists();
    reconcile(&home, at(NOW)).unwrap();
    assert!(is_active(), "it may be starting");
    let an_hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    fs::File::open(run.path())
        .unwrap()
        .set_modified(an_hour_ago)
        .unwrap();
    reconcile(&home, at(NOW)).unwrap();
    assert!(!is_active());
}

struct Runners {
    child: Child,
    run: RunDirectory,
    survivor: String,
}

/// A real runner: another process, with a child of its own that carries the run's mark.
fn real_runner(directory: &Path) -> Runners {
    let mut child = role("a_runner_that_gets_killed", directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    let words = loop {
        line.clear();
        assert!(
            output.read_line(&mut line).unwrap() > 0,
            "the runner said nothing"
        );
        // The test harness writes on the same line.
        if let Some((_, words)) = line.trim_end().split_once("the run is ") {
            break words.to_owned();
        }
    };
    let (id, survivor) = words.split_once(' ').unwrap();
    let run = home(directory).find(id).unwrap();
    Runners {
        child,
        run,
        survivor: survivor.to_owned(),
    }
}

#[test]
fn a_killed_runner_is_found_and_what_it_left_behind_is_ended() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let Runners {
        mut child,
        run,
        survivor,
    } = real_runner(directory.path());
    let before = fs::read(run.journal()).unwrap();
    let alive = reconcile(&home, at(NOW)).unwrap();
    assert!(
        alive.lost.is_empty() && alive.failed.is_empty(),
        "it is alive: {alive:?}"
    );
    assert_eq!(fs::read(run.journal()).unwrap(), before);
    let survivor = Path::new("/proc").join(survivor);
    assert!(survivor.exists());

    child.kill().unwrap();
    child.wait().unwrap();
    let found = reconcile(&home, at(NOW)).unwrap();
    assert_eq!(found.lost.len(), 1, "{found:?}");
    assert_eq!(found.lost[0].killed, 1);
    assert!(
        found.lost[0]
            .evidence
            .ends_with("1 process that it left behind was killed")
    );
    // Killed processes go when their new parent buries them.
    let is_running = || fs::read_to_string(survivor.join("stat")).is_ok_and(|stat| !stat.contains(") Z"));
    while is_running() {
        std::thread::yield_now();
    }
    assert_eq!(ending(&run).1.reason, EndReason::Lost);
}

#[test]
fn a_runner_that_gets_killed() {
    let Some(directory) = my_role() else { return };
    let home = home(&directory);
    let run = home.create_run(at(NOW)).unwrap();
    run_file(&run, Runner::current())
        .save(&run.run_file(), Durability::Cached)
        .unwrap();
    let mut journal = JournalWriter::create(&run.journal()).unwrap();
    journal.append(&started(run.id())).unwrap();
    let mut survivor = Command::new("/bin/sleep")
        .arg("60")
        .env_clear()
        .env("RALPH_RUN_ID", run.id())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    writeln!(std::io::stdout(), "the run is {} {}", run.id(), survivor.id()).unwrap();
    // Until the other side kills us, or is gone itself.
    let _ = std::io::stdin().read(&mut [0]);
    survivor.kill().unwrap();
    survivor.wait().unwrap();
}

#[test]
fn only_old_runs_that_have_ended_are_cleaned_away() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let alive = abandoned(&home, Runner::current(), &[started("r")]);
    let lost = abandoned(&home, replaced(), &[started("r")]);
    let unmade = home.create_run(at(NOW)).unwrap();
    let later = at("2026-11-17T00:00:00Z");
    let removed = clean(&home, later, CleanMode::Remove).unwrap().removed;
    assert!(removed.is_empty(), "none has ended yet");

    reconcile(&home, at(NOW)).unwrap();
    let removed = clean(&home, at(NOW), CleanMode::Remove).unwrap().removed;
    assert!(removed.is_empty(), "it ended just now");
    let dry = clean(&home, later, CleanMode::DryRun).unwrap();
    assert_eq!(dry.removed, [lost.id()]);
    assert!(dry.freed_bytes > 0);
    assert!(lost.path().exists());
    fs::create_dir(home.runs_directory().join(".removing-20250101-000000-000000")).unwrap();
    let cleaned = clean(&home, later, CleanMode::Remove).unwrap();
    assert_eq!(cleaned.removed, [lost.id()]);
    assert!(!lost.path().exists() && alive.path().exists() && unmade.path().exists());
    let left = fs::read_dir(home.runs_directory()).unwrap().count();
    assert_eq!(left, 2);
}

#[test]
fn a_run_that_ended_but_still_writes_is_not_cleaned_away() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let run = abandoned(&home, replaced(), &[started("r")]);
    reconcile(&home, at(NOW)).unwrap();
    let held = JournalWriter::resume(&run.journal(), at(NOW), |_| {}).unwrap();
    let later = at("2026-11-17T00:00:00Z");
    assert!(clean(&home, later, CleanMode::Remove).unwrap().removed.is_empty());
    drop(held);
    assert_eq!(clean(&home, later, CleanMode::Remove).unwrap().removed.len(), 1);
}

#[test]
fn retention_removes_what_an_earlier_removal_left_behind() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let lost = abandoned(&home, replaced(), &[started("r")]);
    reconcile(&home, at(NOW)).unwrap();
    let leftover = home.runs_directory().join(".removing-20250101-000000-000000");
    fs::create_dir(&leftover).unwrap();
    fs::write(leftover.join("journal.ndjson"), "x").unwrap();
    let cleaned = remove_ended(&home, &[]);
    assert!(cleaned.removed.is_empty() && !leftover.exists());
    assert_eq!(remove_ended(&home, &[lost.id().to_owned()]).removed, [lost.id()]);
}
