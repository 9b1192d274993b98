//! Nothing the agent wrote is lost or changed, however it comes in, and whenever ralph is killed.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    dead_code,
    reason = "a test that cannot go on has failed; the stage is shared with other tests"
)]

#[path = "run/stage.rs"]
mod stage;

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use ralph_run::{RunBody, RunEvent, read_journal};
use tempfile::TempDir;
use test_support::script::Script;
use test_support::{recorded, wait_until};

use stage::{Ran, Stage, success, works};

const CHUNKINGS: u64 = 20;
const KILLS: u64 = 10;

/// Not the same in each run; a failure tells the round's numbers.
fn drawn(seed: &RandomState, what: (u64, u64), below: u64) -> u64 {
    seed.hash_one(what) % below
}

/// Lines of all lengths, with letters of several bytes that chunks cut in two, and some that are no JSON.
fn stream() -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..300_usize {
        let text = "größer als 𝄞 ".repeat(number * 37 % 101);
        let line = match number % 5 {
            0 => format!("no JSON, {text}\n"),
            1 => format!("{{\"type\":\"hologram\",\"number\":{number},\"text\":\"{text}\"}}\n"),
            2 => "\n".to_owned(),
            3 => format!("{{\"type\":\"system\",\"subtype\":\"hologram\",\"text\":\"{text}\"}}\r\n"),
            _ => format!("{{\"type\":\"tick\",\"number\":{number}}}\n"),
        };
        bytes.extend_from_slice(line.as_bytes());
    }
    bytes.extend_from_slice(b"\xff\xfe\x00 neither text nor JSON \xc3\n");
    bytes.extend_from_slice(&b"x".repeat(300_000));
    bytes.push(b'\n');
    bytes
}

/// The script, and everything it writes.
fn agent(begin: Script, stream: &Path, chunks: Vec<usize>) -> (Script, Vec<u8>) {
    let before = works();
    let result = success("LOOP_COMPLETE");
    let mut written = Vec::new();
    for step in &before.steps {
        if let test_support::script::Step::Write { data, .. } = step {
            written.extend_from_slice(&data.0);
        }
    }
    written.extend_from_slice(&fs::read(stream).unwrap());
    written.extend_from_slice(result.as_bytes());
    written.push(b'\n');
    let script = begin.then(before).emit_file(stream, chunks).emit(result);
    (script, written)
}

#[test]
fn the_raw_log_is_what_the_agent_wrote_however_it_is_cut() {
    let seed = RandomState::new();
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("stream");
    fs::write(&file, stream()).unwrap();
    for round in 0..CHUNKINGS {
        let most = [2, 10, 1000, 100_000][usize::try_from(round % 4).unwrap()];
        let chunks: Vec<usize> = (0..17)
            .map(|place| 1 + usize::try_from(drawn(&seed, (round, place), most)).unwrap())
            // Single bytes all the way would take a while.
            .chain([5000])
            .collect();
        let (script, written) = agent(Script::new(), &file, chunks.clone());
        let stage = Stage::new(&script);
        let transport = if round % 2 == 0 { "pipe" } else { "spool" };
        let ran = stage.run(&["-q", "--transport", transport]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let raw = fs::read(stage.last_run().join("raw/1.ndjson")).unwrap();
        assert!(
            raw == written,
            "{transport}, chunks of {chunks:?}: {} of {} bytes",
            raw.len(),
            written.len()
        );
    }
}

#[test]
fn whenever_ralph_is_killed_the_next_start_finds_the_run_lost_and_no_process_alive() {
    let seed = RandomState::new();
    for round in 0..KILLS {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("stream");
        fs::write(&file, stream()).unwrap();
        let chunks = vec![1, 700, 20_000];
        let (script, written) = agent(Script::new().spawn_tree(directory.path()), &file, chunks);
        // It never ends by itself.
        let stage = Stage::new(&script.sleep_forever());
        let mut child = stage
            .ralph(&["run", "-p", "x"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From here on there is a run; what happens before is the benchmark's.
        wait_until("a raw log", || {
            assert!(child.try_wait().unwrap().is_none(), "it ended");
            stage.runs().iter().any(|run| run.join("raw/1.ndjson").exists())
        });
        let spins = drawn(&seed, (round, 0), 20_000_000);
        for _ in 0..spins {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let gone = recorded::wait_until_gone(directory.path(), Duration::from_secs(10)).unwrap();
        assert!(gone.is_ok(), "{spins} spins: {gone:?}");
        let run = stage.last_run();
        let kept = fs::read(run.join("raw/1.ndjson")).unwrap();
        assert!(written.starts_with(&kept), "{spins} spins");
        let before: Vec<_> = read_journal(&run.join("journal.ndjson"))
            .unwrap()
            .map(Result::unwrap)
            .collect();

        let next = Ran::of(&stage.ralph(&["runs"]).output().unwrap());
        let id = run.file_name().unwrap().to_str().unwrap();
        assert!(
            next.stderr.contains(&format!("run {id} was lost: ")),
            "{spins} spins: {next:?}"
        );
        let after: Vec<_> = read_journal(&run.join("journal.ndjson"))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert!(after.starts_with(&before), "{spins} spins");
        let last = &after.last().expect("there are records").event;
        assert!(
            matches!(last, RunEvent::Run(RunBody::RunEnded(_))),
            "{spins} spins: {last:?}"
        );
        assert_eq!(stage.run_file()["reason"], "lost");
        assert!(
            recorded::alive(directory.path()).unwrap().is_empty(),
            "{spins} spins"
        );
    }
}
