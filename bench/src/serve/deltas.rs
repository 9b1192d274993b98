//! One run that writes as fast as models do at best, for many clients.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::client::{Door, watch};
use super::load::first_problem;
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{percentile, runtime};

const WARM_UP: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(60);

/// `bench serve_deltas`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["rate", "clients", "seconds"])?;
    let rate = arguments.number("rate", 1000)?;
    let clients = arguments.number("clients", 50)?;
    let seconds = arguments.number("seconds", 30)?;
    let stage = Stage::new("deltas")?;
    let table = Table::new("deltas");
    table.note(
        "pieces of text/s, clients, seconds",
        &format!("{rate}, {clients}, {seconds}"),
    );
    let server = Server::start(&stage)?;
    server.wait_until_ready()?;
    let runs = stage.start("agents", 1, "deltas", rate, seconds)?;
    server.wait_for(&runs)?;
    let (reports, used) = runtime()?.block_on(async {
        let mut watching = JoinSet::new();
        for _ in 0..clients {
            let most = Duration::from_secs(seconds as u64) + PATIENCE;
            watching.spawn(watch(Door::of(&server), runs.clone(), false, most));
        }
        stage.go("agents")?;
        tokio::time::sleep(WARM_UP).await;
        let (start, cpu) = (Instant::now(), server.cpu()?);
        tokio::time::sleep(Duration::from_secs(seconds as u64).saturating_sub(WARM_UP * 2)).await;
        let used = (server.cpu()? - cpu).as_secs_f64() / start.elapsed().as_secs_f64();
        Ok::<_, String>((watching.join_all().await, used))
    })?;
    first_problem(&reports)?;
    let messages: u64 = reports.iter().map(|report| report.messages).sum();
    let each = messages as f64 / clients as f64 / seconds as f64;
    table.note("messages/s for each client", &format!("{each:.1}"));
    let missed: u64 = reports
        .iter()
        .flat_map(|report| report.runs.values())
        .map(|seen| seen.gaps + seen.repeated)
        .sum();
    table.most("records lost or told twice", missed as f64, 0.0);
    let mut ages: Vec<f64> = reports.into_iter().flat_map(|report| report.ages).collect();
    let written = ages.len() as f64 / clients as f64 / seconds as f64;
    table.note("pieces/s that came", &format!("{written:.0}"));
    let [half, most] = [50, 99].map(|percent| percentile(&mut ages, percent));
    table.note(
        "agent's write to client, p50, p99 ms",
        &format!("{half:.1}, {most:.1}"),
    );
    table.most("server's CPU, % of a core", used * 100.0, 10.0);
    server.stop()
}
