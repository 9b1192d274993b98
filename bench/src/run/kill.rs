//! `kill -9` of `ralph run` at any moment: what is kept, what the next start says, who is left.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use ralph_run::{RunBody, RunEvent, read_journal};
use test_support::dialect::Session;
use test_support::recorded;
use test_support::script::Script;

use super::stage::{Stage, timed};
use crate::arguments::Arguments;
use crate::corpus::{Corpus, FIXTURES};
use crate::process::{Folder, explain};

const LIMIT: Duration = Duration::from_secs(10);
const STREAM_BYTES: usize = 1_000_000;

/// What came of the rounds.
#[derive(Default)]
struct Tally {
    not_begun: usize,
    lost: usize,
    ended: usize,
    unreported: usize,
    damaged: usize,
    no_prefix: usize,
    survivors: usize,
    miscounted: usize,
}

/// What is run: tool calls from captured streams, a check, and an account of its task.
const ARGUMENTS: [&str; 8] = ["run", "--quiet", "-p", "x", "--task", "bench", "--verify", "true"];

/// A run to kill: where its agent's family is recorded, and what the agent writes.
struct Scene {
    stage: Stage,
    pids: Folder,
    written: Vec<u8>,
}

/// `bench run_kill`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["rounds"])?;
    let rounds = arguments.number("rounds", 1_000)?;
    let scene = Scene::new()?;
    // As long as it takes when nobody kills it, so that every moment can be hit, the end included.
    let start = Instant::now();
    scene.stage.ralph(&ARGUMENTS).status().map_err(explain)?;
    let whole = start.elapsed();
    scene.clear()?;
    let seed = RandomState::new();
    let mut tally = Tally::default();
    for round in 0..rounds {
        // Most of it is the end of a family that does not want to go; the more interesting part is the beginning.
        let place = (seed.hash_one(round) % 1000) as f64 / 980.0;
        scene.round(whole.mul_f64(place.powi(4)), &mut tally)?;
        scene.clear()?;
    }
    let milliseconds = whole.as_millis();
    println!(
        "\n## {rounds} rounds of `kill -9` of `ralph run`, in a random moment of its {milliseconds} ms\n"
    );
    println!("| what | rounds |\n|---|---:|");
    let rows = [
        ("killed before there was a run", tally.not_begun),
        ("reported as lost by the next start", tally.lost),
        ("had ended by itself", tally.ended),
        ("**lost and not reported** (allowed: 0)", tally.unreported),
        ("**journal with damage** (allowed: 0)", tally.damaged),
        (
            "**raw log that is not the start of what was written** (allowed: 0)",
            tally.no_prefix,
        ),
        ("**with survivors** (allowed: 0)", tally.survivors),
        (
            "**with a cost that its task does not have exactly once** (allowed: 0)",
            tally.miscounted,
        ),
    ];
    for (what, count) in rows {
        println!("| {what} | {count} |");
    }
    Ok(())
}

impl Scene {
    fn new() -> Result<Self, String> {
        let pids = Folder::new("run-kill-pids")?;
        let stream = pids.path("stream");
        let corpus = Corpus::of_fixtures(Path::new(FIXTURES), STREAM_BYTES)?;
        std::fs::write(&stream, &corpus.bytes).map_err(explain)?;
        let mut session = Session::new("00000000-0000-4000-8000-000000000001");
        let (init, result) = (session.init("/"), session.result("LOOP_COMPLETE"));
        let mut written = Vec::new();
        for part in [init.as_bytes(), b"\n", &corpus.bytes, result.as_bytes(), b"\n"] {
            written.extend_from_slice(part);
        }
        let script = Script::new()
            .spawn_tree(pids.0.clone())
            .emit(init)
            .emit_file(stream, [1, 100, 10_000, 3, 70_000])
            .emit(result);
        let stage = Stage::scripted("kill", &script, "custom", super::throughput::SETTINGS)?;
        Ok(Self { stage, pids, written })
    }

    fn round(&self, moment: Duration, tally: &mut Tally) -> Result<(), String> {
        let mut command = self.stage.ralph(&ARGUMENTS);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(explain)?;
        std::thread::sleep(moment);
        child.kill().map_err(explain)?;
        child.wait().map_err(explain)?;
        let gone = recorded::wait_until_gone(&self.pids.0, LIMIT).map_err(explain)?;
        let Some(run) = self.stage.runs().pop() else {
            tally.survivors += usize::from(gone.is_err());
            tally.not_begun += 1;
            return Ok(());
        };
        let records = count_records(&run);
        tally.no_prefix += usize::from(!self.is_prefix(&run)?);
        let (_, next) = timed(&mut self.stage.ralph(&["runs"]))?;
        let id = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_reported = String::from_utf8_lossy(&next.stderr).contains(&format!("run {id} was lost: "));
        // A process that recorded itself only after the first look is found by the second. It gets as much time: its
        // guard may still be stopping it.
        let gone = gone.is_ok()
            && recorded::wait_until_gone(&self.pids.0, LIMIT)
                .map_err(explain)?
                .is_ok();
        tally.survivors += usize::from(!gone);
        // Two more look for lost runs: what was booked must not be booked again.
        timed(&mut self.stage.ralph(&["runs"]))?;
        tally.miscounted += usize::from(self.booked() != cost(&run));
        let after = count_records(&run);
        tally.damaged += usize::from(records.is_none() || after.is_none());
        match (is_reported, state(&run)) {
            (true, Some(_)) => tally.lost += 1,
            (false, Some(state)) if state == "ended" => tally.ended += 1,
            (false, None) if records == Some(0) => tally.not_begun += 1,
            _ => tally.unreported += 1,
        }
        // Nothing that could be read before is gone, and a lost run has an end.
        if is_reported && (after <= records || !has_end(&run)) {
            tally.damaged += 1;
        }
        Ok(())
    }

    /// What the task has cost by its account, in millionths of a dollar.
    fn booked(&self) -> u64 {
        let budget = read_json(&self.stage.path("workspace/.ralph/state/budget.json"));
        let dollars = budget.and_then(|budget| budget["total_cost_usd"].as_f64());
        dollars.map_or(0, |dollars| (dollars * 1e6).round() as u64)
    }

    fn is_prefix(&self, run: &Path) -> Result<bool, String> {
        match std::fs::read(run.join("raw/1.ndjson")) {
            Ok(raw) => Ok(self.written.starts_with(&raw)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(explain(error)),
        }
    }

    /// Forgets the round.
    fn clear(&self) -> Result<(), String> {
        for recorded in recorded::all(&self.pids.0).map_err(explain)? {
            std::fs::remove_file(recorded::path_of(&self.pids.0, &recorded.name)).map_err(explain)?;
        }
        self.stage.forget()
    }
}

fn journal(run: &Path) -> PathBuf {
    run.join("journal.ndjson")
}

/// How many records can be read, if there is no damage. The reader sees to it that the numbers have no gaps.
fn count_records(run: &Path) -> Option<usize> {
    match read_journal(&journal(run)) {
        Ok(mut records) => records.try_fold(0, |count, record| record.ok().map(|_| count + 1)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(0),
        Err(_) => None,
    }
}

fn has_end(run: &Path) -> bool {
    let last = read_journal(&journal(run))
        .ok()
        .and_then(|records| records.flatten().last());
    last.is_some_and(|record| matches!(record.event, RunEvent::Run(RunBody::RunEnded(_))))
}

/// What the run's file says that it is doing.
fn state(run: &Path) -> Option<String> {
    let file = read_json(&run.join("run.json"))?;
    file["status"]["state"].as_str().map(str::to_owned)
}

/// What the run has cost, in millionths of a dollar.
fn cost(run: &Path) -> u64 {
    let file = read_json(&run.join("run.json")).unwrap_or_default();
    file["status"]["totals"]["cost"].as_u64().unwrap_or(0)
}

fn read_json(path: &Path) -> Option<serde_json::Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
