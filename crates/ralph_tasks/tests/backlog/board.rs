//! Where tasks stand, and why.

use jiff::Timestamp;
use ralph_tasks::{
    Backlog, Base, Board, Claim, ClaimState, Claims, Column, Failure, Limits, next, parse_task,
};

use crate::stage::{backlog, committed, file, id, text};

fn claim(task: &str, state: ClaimState, errors: &[&str]) -> (ralph_tasks::TaskId, Claim) {
    let failures = errors.iter().enumerate().map(|(number, error)| Failure {
        run: format!("old-{number}"),
        attempt: number as u32 + 1,
        at: Timestamp::UNIX_EPOCH,
        evidence: Some((*error).to_owned()),
    });
    let claim = Claim {
        version: 1,
        task: id(task),
        state,
        attempt: errors.len() as u32 + 1,
        run: format!("run-of-{task}"),
        agent: None,
        touches: Vec::new(),
        failures: failures.collect(),
        since: Timestamp::UNIX_EPOCH,
    };
    (id(task), claim)
}

/// `id column why`, one line for each task.
fn lines(board: &Board<'_>) -> String {
    let line = |card: &ralph_tasks::Card<'_>| {
        let why = card
            .why
            .as_ref()
            .map_or_else(String::new, |why| format!(": {why}"));
        format!("{} {}{why}", card.task.id, card.column.word())
    };
    board.cards().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_task_has_a_column_and_a_reason() {
    let tasks = [
        ("aaaaa", "status: done"),
        ("bbbbb", "depends_on: [aaaaa]"),
        ("ccccc", "depends_on: [bbbbb, eeeee]"),
        ("ddddd", ""),
        ("ddd01", "parent: ddddd"),
        ("ddd02", "parent: ddddd\ndepends_on: [ddd01]"),
        ("eeeee", "status: done"),
        ("fffff", "status: blocked\nblocked_reason: no answer yet"),
        ("fff01", "parent: fffff"),
        ("ggggg", ""),
        ("hhhhh", ""),
        ("jjjjj", ""),
        ("kkkkk", "depends_on: [zzzzz]"),
        ("nnnnn", ""),
    ];
    let backlog = backlog(&tasks);
    let mut in_base = tasks.to_vec();
    in_base.retain(|(id, _)| *id != "nnnnn");
    for (id, lines) in &mut in_base {
        if *id == "eeeee" {
            *lines = "status: todo";
        }
    }
    let base = committed(&backlog, &in_base);
    let claims = Claims::from([
        claim("ggggg", ClaimState::Doing, &[]),
        claim("hhhhh", ClaimState::Review, &[]),
        claim(
            "jjjjj",
            ClaimState::Released,
            &["first", "line one\ntest failed: 12\n"],
        ),
    ]);
    let board = Board::new(&backlog, &base, &claims, Limits::default());
    insta::assert_snapshot!(lines(&board), @r"
    aaaaa done
    bbbbb ready
    ccccc todo: waits for bbbbb, eeeee (done, but not committed)
    ddd01 ready
    ddd02 todo: waits for ddd01
    ddddd todo: done when its 2 open subtasks are
    eeeee done
    fff01 blocked: fffff above it is blocked: no answer yet
    fffff blocked: no answer yet
    ggggg doing
    hhhhh review
    jjjjj blocked: failed 2 times, last with: test failed: 12
    kkkkk todo: `depends_on` names `zzzzz`, but there is no such task
    nnnnn todo: not committed yet: commit its file
    ");
}

/// A task that waits for a parent with a finished and a broken part.
fn with_a_broken_part(first: &str, second: &str) -> Backlog {
    let files = [
        ("aaaaa", text("aaaaa", "")),
        ("aaa01", first.to_owned()),
        ("aaa02", second.to_owned()),
        ("bbbbb", text("bbbbb", "depends_on: [aaaaa]")),
    ];
    Backlog::new(files.map(|(id, text)| parse_task(&file(id), &text)))
}

#[test]
fn a_parent_with_a_broken_part_is_not_done_and_not_worked_on() {
    let done = text("aaa01", "parent: aaaaa\nstatus: done");
    let broken = [
        text("aaa02", "parent: aaaaa\nstatus: later"),
        text(
            "aaa02",
            "<<<<<<< HEAD\nparent: aaaaa # here\n=======\nparent: 'bbbbb'\n>>>>>>> other",
        ),
        text("aaa01", "parent: aaaaa"),
    ];
    for second in broken {
        for first in [done.clone(), second.clone()] {
            let backlog = with_a_broken_part(&first, &second);
            let claims = Claims::new();
            let board = Board::new(&backlog, &Base::Missing, &claims, Limits::default());
            assert!(board.ready().is_empty(), "{first}{second}{}", lines(&board));
            let why = board.why_not_started(&id("aaaaa")).unwrap().to_string();
            assert!(why.ends_with("which is a part of it, has errors"), "{why}");
        }
    }
}

#[test]
fn a_run_counts_whatever_has_become_of_the_file_of_its_task() {
    let other = || parse_task(&file("bbbbb"), &text("bbbbb", "touches: [src/a]"));
    let free = || parse_task(&file("ccccc"), &text("ccccc", ""));
    let own = |lines: &str| {
        parse_task(
            &file("aaaaa"),
            &text("aaaaa", &format!("touches: [src]\n{lines}")),
        )
    };
    let child = parse_task(&file("aaa01"), &text("aaa01", "parent: aaaaa"));
    let backlogs = [
        vec![],
        vec![own("status: later")],
        vec![own("depends_on: [zzzzz]")],
        vec![own("status: done")],
        vec![own(""), child],
    ];
    let (key, mut held) = claim("aaaaa", ClaimState::Doing, &[]);
    held.touches = vec!["src".to_owned()];
    let claims = Claims::from([(key, held)]);
    for files in backlogs {
        let backlog = Backlog::new(files.into_iter().chain([other(), free()]));
        let tasks = ["aaaaa", "aaa01", "bbbbb", "ccccc"].map(|id| (id, ""));
        let base = committed(&backlog, &tasks);
        let board = Board::new(&backlog, &base, &claims, Limits::default());
        let why = board.why_not_started(&id("bbbbb")).map(ToString::to_string);
        let expected = "`src/a` overlaps with `src` of aaaaa, which is not merged yet";
        assert_eq!(why.as_deref(), Some(expected), "{}", lines(&board));
        assert_eq!(next(&board).start, [], "only one task at a time");
        let two = Limits {
            parallel: 2,
            ..Limits::default()
        };
        let board = Board::new(&backlog, &base, &claims, two);
        assert_eq!(next(&board).start, [id("ccccc")], "{}", lines(&board));
    }
}

#[test]
fn a_parent_is_done_when_its_children_are_and_then_frees_what_waits_for_it() {
    let tasks = [
        ("aaaaa", ""),
        ("aaa01", "parent: aaaaa\nstatus: done"),
        ("aaa02", "parent: aaaaa\nstatus: done"),
        ("bbbbb", "depends_on: [aaaaa]"),
    ];
    let backlog = backlog(&tasks);
    let claims = Claims::new();
    let base = committed(&backlog, &tasks);
    let board = Board::new(&backlog, &base, &claims, Limits::default());
    assert_eq!(board.card(&id("aaaaa")).unwrap().column, Column::Done);
    assert_eq!(board.card(&id("bbbbb")).unwrap().column, Column::Ready);
    // In a directory without commits the files decide.
    let board = Board::new(&backlog, &Base::Missing, &claims, Limits::default());
    assert_eq!(board.card(&id("bbbbb")).unwrap().column, Column::Ready);
    assert_eq!(board.card(&id("bbbbb")).unwrap().permissions, None);
}

#[test]
fn children_wait_for_what_their_parent_waits_for() {
    let tasks = [
        ("aaaaa", ""),
        ("bbbbb", "depends_on: [aaaaa]"),
        ("bbb01", "parent: bbbbb"),
    ];
    let backlog = backlog(&tasks);
    let (base, claims) = (committed(&backlog, &tasks), Claims::new());
    let board = Board::new(&backlog, &base, &claims, Limits::default());
    let why = board.why_not_started(&id("bbb01")).unwrap().to_string();
    assert_eq!(why, "waits for aaaaa");
}

#[test]
fn what_a_task_may_run_comes_from_the_base_commit_only() {
    let now = [
        ("aaaaa", "verify: curl evil\nmode: bypass\nagent: other"),
        ("bbbbb", "verify: curl evil"),
    ];
    let backlog = backlog(&now);
    let base = committed(&backlog, &[("aaaaa", "verify: make test")]);
    let claims = Claims::new();
    let board = Board::new(&backlog, &base, &claims, Limits::default());
    let permissions = board.card(&id("aaaaa")).unwrap().permissions.unwrap();
    assert_eq!(permissions.verify, ["make test"]);
    assert_eq!((&permissions.mode, &permissions.agent), (&None, &None));
    assert_eq!(board.card(&id("bbbbb")).unwrap().permissions, None);
    assert_eq!(board.card(&id("bbbbb")).unwrap().column, Column::Todo);
}

#[test]
fn urgent_work_pulls_what_it_waits_for_to_the_front() {
    let tasks = [
        ("aaaaa", "priority: 1"),
        ("bbbbb", "priority: 4"),
        ("ccccc", "priority: 0\ndepends_on: [bbbbb]"),
        ("ddddd", "priority: 1"),
        ("eeeee", "priority: 1\ndepends_on: [ddddd]"),
    ];
    let backlog = backlog(&tasks);
    let (base, claims) = (committed(&backlog, &tasks), Claims::new());
    let board = Board::new(&backlog, &base, &claims, Limits::default());
    let order: Vec<&str> = board.ready().iter().map(|card| card.task.id.as_str()).collect();
    assert_eq!(order, ["bbbbb", "ddddd", "aaaaa"]);
}

#[test]
fn overlapping_tasks_never_start_together_and_a_large_one_is_not_starved() {
    let tasks = [
        ("aaaaa", "touches: [src/a]"),
        ("bbbbb", "priority: 1\ntouches: [src]"),
        ("ccccc", "touches: [src/c.rs]"),
        ("ddddd", "touches: [docs]"),
    ];
    let backlog = backlog(&tasks);
    let base = committed(&backlog, &tasks);
    let limits = Limits {
        parallel: 4,
        ..Limits::default()
    };
    let claims = Claims::from([claim("aaaaa", ClaimState::Review, &[])]);
    let board = Board::new(&backlog, &base, &claims, limits);
    let why = board.why_not_started(&id("bbbbb")).unwrap().to_string();
    assert_eq!(
        why,
        "`src` overlaps with `src/a` of aaaaa, which is not merged yet"
    );
    // `ccccc` does not overlap with what is worked on, but with the more urgent task that waits.
    assert_eq!(next(&board).start, [id("ddddd")]);
}

#[test]
fn limits_of_parallel_work_and_of_review_hold() {
    let names: Vec<String> = (0..9).map(|number| format!("aaaa{number}")).collect();
    let tasks: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let backlog = backlog(&tasks);
    let base = committed(&backlog, &tasks);
    let claims = Claims::from([
        claim("aaaa0", ClaimState::Doing, &[]),
        claim("aaaa1", ClaimState::Review, &[]),
        claim("aaaa2", ClaimState::Review, &[]),
    ]);
    let start = |parallel, max_review| {
        let limits = Limits {
            parallel,
            max_review,
            ..Limits::default()
        };
        next(&Board::new(&backlog, &base, &claims, limits)).start.len()
    };
    assert_eq!(start(1, Some(5)), 0);
    assert_eq!(start(2, Some(5)), 1);
    assert_eq!(start(9, Some(5)), 2);
    assert_eq!(start(9, Some(3)), 0);
    assert_eq!(start(9, None), 6);
    let limits = Limits {
        max_review: Some(3),
        ..Limits::default()
    };
    let board = Board::new(&backlog, &base, &claims, limits);
    let why = board.why_not_started(&id("aaaa5")).unwrap().to_string();
    assert_eq!(
        why,
        "3 tasks are in review or on their way there, which is the limit"
    );
}

#[test]
fn the_same_error_on_three_tasks_pauses_everything() {
    let tasks = [("aaaaa", ""), ("bbbbb", ""), ("ccccc", ""), ("ddddd", "")];
    let backlog = backlog(&tasks);
    let base = committed(&backlog, &tasks);
    let error = |seconds: u32| format!("disk full after {seconds} s");
    let failed = |task, seconds| claim(task, ClaimState::Released, &[&error(seconds)]);
    let mut claims = Claims::from([failed("aaaaa", 1), failed("bbbbb", 20)]);
    let board = Board::new(&backlog, &base, &claims, Limits::default());
    assert_eq!(next(&board).pause, None);
    assert_eq!(next(&board).start.len(), 1);
    claims.extend([failed("ccccc", 3)]);
    let board = Board::new(&backlog, &base, &claims, Limits::default());
    let selection = next(&board);
    assert_eq!(selection.start, []);
    assert_eq!(
        selection.pause.unwrap().tasks,
        [id("aaaaa"), id("bbbbb"), id("ccccc")]
    );
    let why = board.why_not_started(&id("ddddd")).unwrap().to_string();
    assert!(
        why.starts_with("paused: aaaaa, bbbbb, ccccc failed with the same error"),
        "{why}"
    );
}
