//! Opening a long run.

use std::time::Instant;

use super::ended_runs;
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{milliseconds, percentile};

const ROUNDS: usize = 20;
const DELTAS: u64 = 16_000;
const BYTES: usize = 50_000_000;

/// `bench serve_open`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    Arguments::parse(given, &[])?;
    let stage = Stage::new("open")?;
    let table = Table::new("open");
    // The first server makes the directories.
    let first = Server::start(&stage)?;
    first.wait_until_ready()?;
    first.stop()?;
    let (run, last) = ended_runs::write_long(&stage.runs_directory(), DELTAS, BYTES)?;
    // What taking it in needed is not what opening it needs.
    let indexing = Server::start(&stage)?;
    indexing.wait_until_ready()?;
    indexing.wait_until_idle()?;
    indexing.stop()?;
    let server = Server::start(&stage)?;
    server.wait_until_ready()?;
    server.wait_until_idle()?;
    let before = server.memory()?;
    let memory = server.watch_memory();
    let newest = format!("/api/v1/runs/{run}/records?before={}&limit=200", last + 1);
    let oldest = format!("/api/v1/runs/{run}/records?after=0&limit=200");
    table.note(
        "run of 50 MB, records, pieces of text",
        &format!("{last}, {DELTAS}"),
    );
    for (name, path) in [("newest", newest), ("oldest", oldest)] {
        let mut times = Vec::new();
        let mut records = 0;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let page = server.get_json(&path)?;
            times.push(milliseconds(start.elapsed()));
            records = page["items"].as_array().map_or(0, Vec::len);
        }
        let first = times.first().copied().unwrap_or(f64::NAN);
        table.note(&format!("records on the {name} page"), &records.to_string());
        table.most(&format!("{name} page the first time, ms"), first, 100.0);
        table.most(
            &format!("{name} page, slowest of {ROUNDS}, ms"),
            percentile(&mut times, 100),
            100.0,
        );
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    table.most("server's RSS grows, MB", memory.most() - before, 20.0);
    drop(memory);
    server.stop()
}
