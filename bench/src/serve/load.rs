//! Many agents and many clients at once.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::client::{Door, Report, watch};
use super::journal;
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{percentile, runtime};

/// What each client watches, beside the list of all runs.
const RUNS_OF_A_CLIENT: usize = 6;
const RATE: usize = 20;
/// For the end of all runs, and for what is under way then.
const PATIENCE: Duration = Duration::from_secs(60);

/// `bench serve_load`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["agents", "clients", "seconds"])?;
    let agents = arguments.number("agents", 300)?;
    let clients = arguments.number("clients", 50)?;
    let seconds = arguments.number("seconds", 120)?;
    let stage = Stage::new("load")?;
    let table = Table::new("load");
    table.note(
        "agents, clients, seconds",
        &format!("{agents}, {clients}, {seconds}"),
    );
    let server = Server::start(&stage)?;
    server.wait_until_ready()?;
    let empty = server.memory()?;
    let runs = stage.start("agents", agents, "mixed", RATE, seconds)?;
    server.wait_for(&runs)?;
    let quiet = server.memory()?;
    let memory = server.watch_memory();
    let runtime = runtime()?;
    let reports = runtime.block_on(async {
        let mut watching = JoinSet::new();
        for client in 0..clients {
            let door = Door::of(&server);
            let first = client * RUNS_OF_A_CLIENT;
            let watched = (first..first + RUNS_OF_A_CLIENT)
                .map(|run| runs[run % runs.len()].clone())
                .collect();
            let most = Duration::from_secs(seconds as u64) + PATIENCE;
            watching.spawn(watch(door, watched, true, most));
        }
        stage.go("agents")?;
        let (start, cpu) = (Instant::now(), server.cpu()?);
        tokio::time::sleep(Duration::from_secs(seconds as u64)).await;
        let used = (server.cpu()? - cpu).as_secs_f64() / start.elapsed().as_secs_f64();
        table.most("server's CPU, % of a core", used * 100.0, 35.0);
        Ok::<_, String>(watching.join_all().await)
    })?;
    stage.wait_for_ends(&runs, PATIENCE)?;
    told(&table, &stage, &runs, reports)?;
    table.most("\"database is locked\"", server.complaints("locked") as f64, 0.0);
    table.note("server's RSS without agents, MB", &format!("{empty:.1}"));
    table.note("with agents that say nothing, MB", &format!("{quiet:.1}"));
    table.most("with all, at most, MB", memory.most(), 200.0);
    table.most(
        "for each agent, KB",
        (memory.most() - empty) * 1e3 / agents as f64,
        200.0,
    );
    drop(memory);
    server.stop()
}

pub(super) fn told(
    table: &Table,
    stage: &Stage,
    runs: &[String],
    reports: Vec<Report>,
) -> Result<(), String> {
    let mut counted = std::collections::HashMap::new();
    let (mut records, mut bytes) = (0, 0);
    for run in runs {
        let journal = journal::count(&stage.journal(run), 0).map_err(|error| format!("{run}: {error}"))?;
        records += journal.last;
        bytes += journal.bytes;
        counted.insert(run.clone(), journal);
    }
    table.note(
        "records written, MB",
        &format!("{records}, {:.0}", bytes as f64 / 1e6),
    );
    let (mut lost, mut repeated, mut ticks, mut lagged, mut gone) = (0, 0, 0, 0, 0);
    let (mut ages, mut messages, mut wire) = (Vec::new(), 0, 0);
    for mut report in reports {
        if let Some(problem) = report.problem {
            gone += 1;
            eprintln!("a client: {problem}");
        }
        ages.append(&mut report.ages);
        messages += report.messages;
        wire += report.bytes;
        for (run, seen) in &report.runs {
            let truth = &counted[run];
            lost += seen.gaps + truth.last.saturating_sub(seen.seq);
            repeated += seen.repeated;
            lagged += seen.lagged;
            ticks += truth.ticks.abs_diff(seen.ticks);
        }
    }
    table.note(
        "messages told, MB",
        &format!("{messages}, {:.0}", wire as f64 / 1e6),
    );
    table.most("clients that did not see the end", f64::from(gone), 0.0);
    table.most("records lost", lost as f64, 0.0);
    table.most("records told twice", repeated as f64, 0.0);
    table.most("texts lost", ticks as f64, 0.0);
    table.most("told to fetch (`lagged`)", lagged as f64, 0.0);
    let count = ages.len();
    let [half, most] = [50, 99].map(|percent| percentile(&mut ages, percent));
    table.note(
        &format!("agent's write to client, p50 ms ({count} texts)"),
        &format!("{half:.1}"),
    );
    table.most("agent's write to client, p99 ms", most, 100.0);
    Ok(())
}

/// A mistake in what is measured with must not look like one of the server's.
pub(super) fn first_problem(reports: &[Report]) -> Result<(), String> {
    match reports.iter().find_map(|report| report.problem.clone()) {
        Some(problem) => Err(format!("a client: {problem}")),
        None => Ok(()),
    }
}
