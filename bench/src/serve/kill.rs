//! `kill -9` of the server while agents work, again and again.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use super::client::Door;
use super::ended_runs;
use super::journal::{Texts, count};
use super::reconnect::Seen;
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{explain, percentile, runtime};

const RATE: usize = 20;
const LONGEST_SECONDS: usize = 1200;
const PATIENCE: Duration = Duration::from_secs(60);

/// What came of the rounds.
#[derive(Default)]
struct Tally {
    /// From the start of the server until it can be used, in seconds.
    ready: Vec<f64>,
    stopped: usize,
    missing: usize,
    strange: usize,
}

/// A run, and how far it was compared.
struct Checked {
    run: String,
    seq: u64,
    bytes: u64,
}

/// `bench serve_kill`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["rounds", "agents", "runs"])?;
    let rounds = arguments.number("rounds", 50)?;
    let agents = arguments.number("agents", 10)?;
    let many = arguments.number("runs", 10_000)?;
    let stage = Stage::new("kill")?;
    let table = Table::new("kill");
    let runs = stage.start("agents", agents, "mixed", RATE, LONGEST_SECONDS)?;
    let mut checked: Vec<Checked> = Vec::new();
    checked.extend(runs.iter().map(|run| Checked {
        run: run.clone(),
        seq: 0,
        bytes: 0,
    }));
    stage.go("agents")?;
    let (random, runtime) = (RandomState::new(), runtime()?);
    let (mut tally, mut seen) = (Tally::default(), Seen::default());
    for round in 0..rounds {
        let server = Server::start(&stage)?;
        tally.ready.push(server.wait_until_ready()?.as_secs_f64());
        // Somebody watches over all these servers and is to see one run.
        let stay = Duration::from_millis(300 + random.hash_one(round) % 700);
        runtime.block_on(seen.visit(&Door::of(&server), &runs[0], stay))?;
        for run in &mut checked {
            tally.check(&stage, &server, run)?;
        }
        server.kill()?;
    }
    // The index takes them in first; the next start is the one that counts.
    ended_runs::write_many(&stage.runs_directory(), many)?;
    let server = Server::start(&stage)?;
    let taken_in = server.wait_until_ready()?.as_secs_f64();
    server.kill()?;
    let server = Server::start(&stage)?;
    let with_many = server.wait_until_ready()?.as_secs_f64();
    stage.end("agents")?;
    stage.wait_for_ends(&runs, PATIENCE)?;
    runtime.block_on(seen.visit(&Door::of(&server), &runs[0], PATIENCE))?;
    for run in &mut checked {
        run.seq = 0;
        tally.check(&stage, &server, run)?;
    }
    let texts = Texts::of(&stage.journal(&runs[0]))?;
    let records: usize = checked.iter().map(|run| run.seq as usize).sum();
    table.note(
        "rounds, agents, records in the end",
        &format!("{rounds}, {agents}, {records}"),
    );
    table.most("times a run had not gone on", tally.stopped as f64, 0.0);
    table.most(
        "records of a journal that the index had not",
        tally.missing as f64,
        0.0,
    );
    table.most(
        "records of the index that the journal had not",
        tally.strange as f64,
        0.0,
    );
    let watched = seen.gaps + seen.repeated + seen.moved + u64::from(seen.texts != texts);
    table.most(
        "gaps, repetitions, wrong texts of a client over all rounds",
        watched as f64,
        0.0,
    );
    let [half, most] = [50, 100].map(|percent| percentile(&mut tally.ready, percent));
    table.note("start to ready, p50 s", &format!("{half:.2}"));
    table.most("start to ready, slowest, s", most, 2.0);
    table.note(
        &format!("start that takes in {many} new runs, s"),
        &format!("{taken_in:.2}"),
    );
    table.most(&format!("start with {many} ended runs, s"), with_many, 2.0);
    server.stop()
}

impl Tally {
    /// Compares what a journal has since the last look with what the index says.
    fn check(&mut self, stage: &Stage, server: &Server, checked: &mut Checked) -> Result<(), String> {
        let path = stage.journal(&checked.run);
        let bytes = std::fs::metadata(&path).map_err(explain)?.len();
        self.stopped += usize::from(bytes <= checked.bytes);
        checked.bytes = bytes;
        let truth = count(&path, checked.seq)?;
        let until = Instant::now() + PATIENCE;
        // The newest is a moment later in the index than in the journal.
        let told = loop {
            let told = told(server, &checked.run, checked.seq, truth.last)?;
            if told.len() >= truth.indexed.len() || Instant::now() > until {
                break told;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        self.missing += truth
            .indexed
            .iter()
            .filter(|seq| told.binary_search(seq).is_err())
            .count();
        self.strange += told
            .iter()
            .filter(|seq| truth.indexed.binary_search(seq).is_err())
            .count();
        checked.seq = truth.last;
        Ok(())
    }
}

/// The numbers of the records that the index has in between.
fn told(server: &Server, run: &str, after: u64, last: u64) -> Result<Vec<u64>, String> {
    let (mut numbers, mut after) = (Vec::new(), after);
    loop {
        let page = server.get_json(&format!("/api/v1/runs/{run}/records?after={after}&limit=1000"))?;
        let records = page["items"].as_array().into_iter().flatten();
        numbers.extend(records.filter_map(|record| record["seq"].as_u64()));
        match page["next_after"].as_u64() {
            Some(next) if next < last => after = next,
            _ => break,
        }
    }
    numbers.retain(|number| *number <= last);
    Ok(numbers)
}
