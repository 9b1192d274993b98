//! Claims: counted before the attempt, fenced by the run.

use std::fs;

use jiff::Timestamp;
use ralph_tasks::{ClaimError, ClaimState, ClaimStore, Release};

use crate::stage::id;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn store() -> (tempfile::TempDir, ClaimStore) {
    let place = tempfile::tempdir().unwrap();
    let store = ClaimStore::new(place.path(), "0123abcd").unwrap();
    (place, store)
}

#[test]
fn a_failure_is_counted_before_the_attempt_and_taken_back_by_success() {
    let (_place, store) = store();
    let task = id("k3f9a");
    let claim = store.begin(&task, &[], "run-1", Some("worker"), NOW).unwrap();
    assert_eq!(
        (claim.attempt, claim.failures.len(), claim.failed_attempts()),
        (1, 1, 0)
    );
    // What a reconciler finds after a crash: the failure is there.
    let found = store.load().unwrap().remove(&task).unwrap();
    assert_eq!(found, claim);
    let submitted = store.submit(&task, "run-1", NOW).unwrap();
    assert_eq!(
        (submitted.state, submitted.failures.len()),
        (ClaimState::Review, 0)
    );
    store.close(&task, "run-1").unwrap();
    assert!(store.load().unwrap().is_empty());
}

#[test]
fn failures_add_up_over_attempts_and_keep_their_evidence() {
    let (_place, store) = store();
    let task = id("k3f9a");
    for attempt in 1..=2 {
        let run = format!("run-{attempt}");
        assert_eq!(store.begin(&task, &[], &run, None, NOW).unwrap().attempt, attempt);
        let failed = Release::Failed(format!("{}error {attempt}\n", "é".repeat(10_000)));
        let released = store.release(&task, &run, &failed, NOW).unwrap();
        assert_eq!(
            (released.state, released.failed_attempts()),
            (ClaimState::Released, attempt as usize)
        );
        let evidence = released.last_evidence().unwrap();
        assert!(evidence.ends_with(&format!("error {attempt}")) && evidence.len() <= 8 << 10);
    }
    assert!(store.forget_failures(&task).unwrap());
    assert!(!store.forget_failures(&task).unwrap());
}

#[test]
fn a_usage_limit_burns_no_attempt() {
    let (_place, store) = store();
    let task = id("k3f9a");
    store.begin(&task, &[], "run-1", None, NOW).unwrap();
    let released = store.release(&task, "run-1", &Release::NotCounted, NOW).unwrap();
    assert_eq!(released.failed_attempts(), 0);
}

#[test]
fn work_that_is_refused_in_review_counts_as_a_failure() {
    let (_place, store) = store();
    let task = id("k3f9a");
    store.begin(&task, &[], "run-1", None, NOW).unwrap();
    store.submit(&task, "run-1", NOW).unwrap();
    let failed = Release::Failed("the merged commit does not pass".to_owned());
    let released = store.release(&task, "run-1", &failed, NOW).unwrap();
    assert_eq!(released.failed_attempts(), 1);
}

#[test]
fn a_task_is_taken_once_and_only_its_run_changes_the_claim() {
    let (_place, store) = store();
    let task = id("k3f9a");
    let claim = store.begin(&task, &[], "run-1", None, NOW).unwrap();
    assert_eq!(
        store.begin(&task, &[], "run-1", None, NOW).unwrap(),
        claim,
        "asking again changes nothing"
    );
    let taken = store.begin(&task, &[], "run-2", None, NOW).unwrap_err();
    assert_eq!(taken.to_string(), "task k3f9a is taken by run run-1");
    assert!(matches!(
        store.forget_failures(&task),
        Err(ClaimError::Taken { .. })
    ));
    store.release(&task, "run-1", &Release::NotCounted, NOW).unwrap();
    let second = store.begin(&task, &[], "run-2", None, NOW).unwrap();
    // The first run comes back late.
    for late in [
        store.submit(&task, "run-1", NOW).map(drop),
        store.release(&task, "run-1", &Release::NotCounted, NOW).map(drop),
        store.close(&task, "run-1"),
    ] {
        assert!(matches!(late, Err(ClaimError::Fenced { .. })), "{late:?}");
    }
    assert_eq!(store.load().unwrap().remove(&task).unwrap(), second);
    store.release(&task, "run-2", &Release::NotCounted, NOW).unwrap();
    assert!(matches!(
        store.submit(&task, "run-2", NOW),
        Err(ClaimError::Fenced { .. })
    ));
}

#[test]
fn a_resumed_session_continues_the_attempt_under_another_run() {
    let (_place, store) = store();
    let task = id("k3f9a");
    store.begin(&task, &[], "run-1", Some("worker"), NOW).unwrap();
    let claim = store.continue_as(&task, "run-1", "run-2", NOW).unwrap();
    assert_eq!(
        (claim.attempt, claim.failures.len(), claim.run.as_str()),
        (1, 1, "run-2")
    );
    assert!(matches!(
        store.submit(&task, "run-1", NOW),
        Err(ClaimError::Fenced { .. })
    ));
    assert!(matches!(
        store.continue_as(&task, "run-1", "run-3", NOW),
        Err(ClaimError::Fenced { .. })
    ));
    assert_eq!(store.submit(&task, "run-2", NOW).unwrap().failures, []);
}

#[test]
fn of_many_runs_that_want_a_task_exactly_one_gets_it() {
    let (_place, store) = store();
    let task = id("k3f9a");
    let taken: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let (store, task) = (&store, &task);
                scope.spawn(move || {
                    store
                        .begin(task, &[], &format!("run-{number}"), None, NOW)
                        .is_ok()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| usize::from(thread.join().unwrap()))
            .sum()
    });
    assert_eq!(taken, 1);
    assert_eq!(store.load().unwrap().len(), 1);
}

#[test]
fn a_damaged_or_newer_claim_is_an_error_and_not_a_free_task() {
    let (place, store) = store();
    let task = id("k3f9a");
    store.begin(&task, &[], "run-1", None, NOW).unwrap();
    let path = place.path().join("tasks/0123abcd/k3f9a.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    assert!(matches!(store.load(), Err(ClaimError::Damaged { .. })));
    assert!(matches!(
        store.begin(&task, &[], "run-2", None, NOW),
        Err(ClaimError::Damaged { .. })
    ));
    fs::write(
        &path,
        text.replace("\"version\": 1", "\"version\": 2, \"later\": true"),
    )
    .unwrap();
    assert!(matches!(store.load(), Err(ClaimError::Newer { .. })));
    assert!(ClaimStore::new(place.path(), "../x").is_err());
}
