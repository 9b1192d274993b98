//! Locks name their holder and go with its process.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test that cannot go on has failed; helpers are shared with other tests"
)]

mod journal_sample;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use journal_sample::{at, my_role, role, run_file};
use ralph_run::model::RunState;
use ralph_run::{Durability, EndReason, Home, Lock, LockError, LockHeld, LockInfo};

fn info(run_id: &str) -> LockInfo {
    LockInfo {
        run_id: run_id.to_owned(),
        pid: std::process::id(),
        since: at("2026-11-15T23:59:59Z"),
    }
}

fn home(directory: &Path) -> Home {
    Home::new(directory.join("state"), None)
}

fn held(result: Result<Lock, LockError>) -> LockHeld {
    match result {
        Err(LockError::Held(held)) => held,
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn a_workspace_has_one_run_and_says_which() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let lock = Lock::workspace(&home, directory.path(), &info("first")).unwrap();
    let refused = held(Lock::workspace(&home, directory.path(), &info("second")));
    assert_eq!(refused.holder, Some(info("first")));
    let text = refused.to_string();
    let expected = format!(
        "is in use by run first (pid {}, since 2026-11-15 23:59 UTC); `ralph attach first` shows it, \
         `ralph stop first` ends it",
        std::process::id()
    );
    assert!(text.ends_with(&expected), "{text}");
    drop(lock);
    drop(Lock::workspace(&home, directory.path(), &info("second")).unwrap());
}

#[test]
fn a_lock_from_the_future_or_the_past_is_held_as_long_as_any_other() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    for since in ["1970-01-01T00:00:00Z", "9999-12-30T00:00:00Z"] {
        let holder = LockInfo {
            since: at(since),
            ..info("first")
        };
        let lock = Lock::session(&home, "s", &holder).unwrap();
        let refused = held(Lock::session(&home, "s", &info("second")));
        assert_eq!(refused.holder, Some(holder));
        drop(lock);
        drop(Lock::session(&home, "s", &info("second")).unwrap());
    }
}

#[test]
fn a_command_that_holds_a_workspace_is_not_called_a_run() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let _lock = Lock::workspace(&home, directory.path(), &info("ralph worktrees")).unwrap();
    let refused = held(Lock::workspace(&home, directory.path(), &info("second")));
    let text = refused.to_string();
    assert!(text.contains("is in use by `ralph worktrees` (pid"), "{text}");
    assert!(!text.contains("ralph stop"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_workspace_is_the_same_by_any_way_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let (real, link) = (directory.path().join("real"), directory.path().join("link"));
    fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let _lock = Lock::workspace(&home, &real, &info("first")).unwrap();
    held(Lock::workspace(&home, &link, &info("second")));
    held(Lock::workspace(&home, &real.join("../link/."), &info("second")));
}

/// A run's end is in its file a moment before its process is gone.
#[test]
fn a_workspace_whose_run_has_ended_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    home.prepare().unwrap();
    let run = home.create_run(at("2026-11-15T23:59:59Z")).unwrap();
    let mut file = run_file(run.id(), "2026-11-15T23:59:59Z");
    file.status.state = RunState::Ended {
        reason: EndReason::Completed.into(),
    };
    file.save(&run.run_file(), Durability::Cached).unwrap();
    let lock = Lock::workspace(&home, directory.path(), &info(run.id())).unwrap();
    let (asking, asked) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Gives the other side time to find the lock taken; whoever is first, it gets the lock.
            let _ = asked.recv_timeout(Duration::from_millis(50));
            drop(lock);
        });
        drop(Lock::workspace(&home, directory.path(), &info("second")).unwrap());
        drop(asking);
    });
}

#[test]
fn sessions_are_locked_one_by_one() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let _first = Lock::session(&home, "a", &info("first")).unwrap();
    let _other = Lock::session(&home, "b", &info("second")).unwrap();
    let refused = held(Lock::session(&home, "a", &info("third")));
    assert!(
        refused
            .to_string()
            .starts_with("the session `a` is in use by run first")
    );
}

#[test]
fn a_lock_goes_with_a_killed_process() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = role("a_holder_that_gets_killed", directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.ends_with("held\n") {
        assert!(output.read_line(&mut line).unwrap() > 0, "{line}");
    }
    let home = home(directory.path());
    let refused = held(Lock::workspace(&home, directory.path(), &info("mine")));
    assert_eq!(refused.holder.unwrap().pid, child.id());
    child.kill().unwrap();
    child.wait().unwrap();
    let lock = Lock::workspace(&home, directory.path(), &info("mine")).unwrap();
    // Its own name is in there now.
    let refused = held(Lock::workspace(&home, directory.path(), &info("third")));
    assert_eq!(refused.holder, Some(info("mine")));
    drop(lock);
}

#[test]
fn a_holder_that_gets_killed() {
    let Some(directory) = my_role() else { return };
    let _lock = Lock::workspace(&home(&directory), &directory, &info("theirs")).unwrap();
    writeln!(std::io::stdout(), "held").unwrap();
    // Until the other side kills us.
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn of_many_at_once_one_gets_it() {
    let directory = tempfile::tempdir().unwrap();
    let home = home(directory.path());
    let locks: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..30)
            .map(|number| {
                let (home, directory) = (&home, directory.path());
                scope.spawn(move || Lock::workspace(home, directory, &info(&number.to_string())))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (taken, refused): (Vec<_>, Vec<_>) = locks.into_iter().partition(Result::is_ok);
    assert_eq!((taken.len(), refused.len()), (1, 29));
    for refused in refused {
        assert!(held(refused).holder.is_some(), "the holder is always named");
    }
}

#[test]
fn a_directory_that_does_not_exist_cannot_be_locked() {
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing");
    let refused = Lock::workspace(&home(directory.path()), &missing, &info("r"));
    assert!(matches!(refused, Err(LockError::Io { .. })));
}
