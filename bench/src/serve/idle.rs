//! A server with many runs that have ended, and nothing to do.

use std::time::{Duration, Instant};

use super::ended_runs;
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{milliseconds, percentile};

const METRICS_ROUNDS: usize = 20;

/// `bench serve_idle`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["runs", "seconds"])?;
    let runs = arguments.number("runs", 10_000)?;
    let seconds = arguments.number("seconds", 120)?;
    let stage = Stage::new("idle")?;
    let table = Table::new("idle");
    // The first server makes the directories, the second one fills the index.
    let first = Server::start(&stage)?;
    first.wait_until_ready()?;
    first.stop()?;
    ended_runs::write_many(&stage.runs_directory(), runs)?;
    let indexing = Server::start(&stage)?;
    indexing.wait_until_ready()?;
    indexing.wait_until_idle()?;
    indexing.stop()?;
    let server = Server::start(&stage)?;
    server.wait_until_ready()?;
    server.wait_until_idle()?;
    table.note("runs, seconds", &format!("{runs}, {seconds}"));
    let (start, before) = (Instant::now(), server.cpu()?);
    std::thread::sleep(Duration::from_secs(seconds as u64));
    let used = (server.cpu()? - before).as_secs_f64() / start.elapsed().as_secs_f64();
    table.most("server's CPU, % of a core", used * 100.0, 1.0);
    let mut times = Vec::new();
    for _ in 0..METRICS_ROUNDS {
        let start = Instant::now();
        let (status, _) = server.get("/metrics")?;
        if status != 200 {
            return Err(format!("/metrics gives {status}"));
        }
        times.push(milliseconds(start.elapsed()));
    }
    let slowest = percentile(&mut times, 100);
    table.most(
        &format!("/metrics, slowest of {METRICS_ROUNDS}, ms"),
        slowest,
        20.0,
    );
    table.note("server's RSS, MB", &format!("{:.1}", server.memory()?));
    server.stop()
}
