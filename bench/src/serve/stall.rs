//! A client that stops reading, while others do not.

use std::time::Duration;

use tokio::task::JoinSet;

use super::client::{Door, Report, Socket, watch};
use super::journal;
use super::load::first_problem;
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{percentile, runtime};

const RATE: usize = 150;
const OTHERS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(60);
/// Below this the client would not be far enough behind.
const LEAST_BYTES: usize = 50_000_000;

/// `bench serve_stall`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["seconds"])?;
    let seconds = arguments.number("seconds", 25)?;
    let stage = Stage::new("stall")?;
    let table = Table::new("stall");
    let server = Server::start(&stage)?;
    server.wait_until_ready()?;
    let mut measured = Vec::new();
    // The first one is for the server's own buffers, which it keeps.
    for (group, has_stalled) in [("warm-up", false), ("without", false), ("with", true)] {
        let runs = stage.start(group, 1, "bulk", RATE, seconds)?;
        server.wait_for(&runs)?;
        let before = server.memory()?;
        let memory = server.watch_memory();
        let reports = phase(&stage, &server, group, &runs, has_stalled, seconds)?;
        first_problem(&reports)?;
        let bytes = journal::count(&stage.journal(&runs[0]), 0)?.bytes;
        let mut ages: Vec<f64> = reports.into_iter().flat_map(|report| report.ages).collect();
        let [half, most] = [50, 99].map(|percent| percentile(&mut ages, percent));
        measured.push((bytes, memory.most() - before, half, most));
    }
    let [_, without, with] = measured.as_slice() else {
        return Err("a phase is missing".to_owned());
    };
    table.note("a run of so many MB", &format!("{:.0}", with.0 as f64 / 1e6));
    if with.0 < LEAST_BYTES {
        table.note("**too little was written**", "");
    }
    for (name, phase) in [("without", without), ("with", with)] {
        table.note(
            &format!("others {name} a stalled client, p50, p99 ms"),
            &format!("{:.1}, {:.1}", phase.2, phase.3),
        );
        table.note(
            &format!("server's RSS grows {name} one, MiB"),
            &format!("{:.1}", phase.1 * 1e6 / 1048576.0),
        );
    }
    table.most(
        "for the stalled client, MiB",
        (with.1 - without.1).max(0.0) * 1e6 / 1048576.0,
        8.0,
    );
    server.stop()
}

fn phase(
    stage: &Stage,
    server: &Server,
    group: &str,
    runs: &[String],
    has_stalled: bool,
    seconds: usize,
) -> Result<Vec<Report>, String> {
    runtime()?.block_on(async {
        let mut stalled = None;
        if has_stalled {
            let mut socket = Socket::open(&Door::of(server)).await?;
            for run in runs {
                socket.watch(run, 0, None).await?;
            }
            stalled = Some(socket);
        }
        let mut watching = JoinSet::new();
        for _ in 0..OTHERS {
            let most = Duration::from_secs(seconds as u64) + PATIENCE;
            watching.spawn(watch(Door::of(server), runs.to_vec(), false, most));
        }
        stage.go(group)?;
        let reports = watching.join_all().await;
        // It is there to the end, and has not read a byte.
        drop(stalled);
        Ok(reports)
    })
}
