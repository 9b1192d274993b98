//! A thousand consumers, each with bad habits of its own.

use std::path::Path;
use std::time::Duration;

use agent_api::{Body, Events, Outcome, RunHandle};
use fastrand::Rng;
use test_support::recorded;
use test_support::script::{Script, ScriptedAgent};

use super::stage::{folder, gone, play};

const CONSUMERS: u64 = 1_000;
const AT_ONCE: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_consumers_leave_nothing_behind() {
    let metrics = tokio::runtime::Handle::current().metrics();
    let alive_before = metrics.num_alive_tasks();
    let folder = folder();
    let all = async {
        let mut workers = tokio::task::JoinSet::new();
        for worker in 0..AT_ONCE {
            let folder = folder.path().to_owned();
            workers.spawn(async move {
                let mut agents = Vec::new();
                for number in (worker..CONSUMERS).step_by(AT_ONCE as usize) {
                    agents.push(consume(number, &folder).await);
                }
                agents
            });
        }
        // A run that was left alone may not have read its script yet.
        let _agents = workers.join_all().await;
        gone(folder.path()).await;
        // Runs that nobody waits for have seen the exit, and only need to be scheduled.
        while metrics.num_alive_tasks() > alive_before {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(150), all)
        .await
        .expect("a run hangs");
    // Those that were cancelled at once did not get as far as that.
    let started = recorded::all(folder.path()).unwrap().len() as u64;
    assert!(started > CONSUMERS / 2, "{started}");
    assert_eq!(recorded::alive(folder.path()).unwrap(), []);
}

/// One run with one consumer; the same number always does the same.
async fn consume(number: u64, folder: &Path) -> ScriptedAgent {
    let mut random = Rng::with_seed(number);
    let ends_by_itself = random.bool();
    let lines = random.usize(..300);
    let script = Script::new()
        .record_process(folder, number.to_string())
        .emit_lines(vec!["T x"; lines])
        .emit_lines(["S", "B tool"]);
    let script = if ends_by_itself {
        script.emit("F").stderr("bye\n").exit(random.u8(..3))
    } else {
        script.sleep_forever()
    };
    let mut played = play(&script).await;
    let control = played.handle.control.clone();
    let read_before = random.usize(..=lines + 2);
    let mut seen = Seen::default();
    seen.read(&mut played.handle.events, read_before, &mut random)
        .await;
    let is_cancelled = !ends_by_itself || random.u8(..4) == 0;
    if is_cancelled {
        control.cancel();
    }
    let expected = if ends_by_itself {
        None
    } else {
        Some(Outcome::Cancelled)
    };
    match random.u8(..6) {
        0 => drop(played.handle),
        1 => {
            let RunHandle {
                events,
                completion,
                control,
            } = played.handle;
            drop(completion);
            drop(control);
            drop(events);
        }
        2 => {
            drop(played.handle.events);
            let completed = played.handle.completion.await.unwrap();
            assert!(expected.is_none_or(|expected| completed.finished.outcome == expected));
        }
        3 => {
            drop(played.handle.completion);
            seen.read(&mut played.handle.events, usize::MAX, &mut random)
                .await;
            assert!(seen.has_ended);
        }
        4 => {
            let completion = tokio::spawn(played.handle.completion);
            seen.read(&mut played.handle.events, usize::MAX, &mut random)
                .await;
            assert!(seen.has_ended);
            completion.await.unwrap().unwrap();
        }
        _ => {
            seen.read(&mut played.handle.events, usize::MAX, &mut random)
                .await;
            let completed = played.handle.completion.await.unwrap();
            assert!(seen.texts == lines || is_cancelled, "run {number}");
            assert!(expected.is_none_or(|expected| completed.finished.outcome == expected));
        }
    }
    played.agent
}

#[derive(Default)]
struct Seen {
    texts: usize,
    has_finished: bool,
    has_ended: bool,
}

impl Seen {
    /// Reads so many events, now and then giving way to others.
    async fn read(&mut self, events: &mut Events, most: usize, random: &mut Rng) {
        for _ in 0..most {
            if self.has_ended {
                return;
            }
            if random.u8(..16) == 0 {
                tokio::task::yield_now().await;
            }
            let Some(event) = events.next().await else {
                assert!(self.has_finished, "the stream ended without an end");
                self.has_ended = true;
                return;
            };
            assert!(!self.has_finished, "after the end: {event:?}");
            match event.body {
                Body::TextBlock(_) => self.texts += 1,
                Body::Finished(_) => self.has_finished = true,
                _ => {}
            }
        }
    }
}
