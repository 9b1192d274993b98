//! A database that goes away while agents work and people are asked.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::postgres::PostgresServer;
use tokio::task::JoinSet;

use super::client::{Door, Socket, watch};
use super::journal;
use super::load::told;
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{explain, percentile, runtime};

const RATE: usize = 20;
const RUNS_OF_A_CLIENT: usize = 4;
const PATIENCE: Duration = Duration::from_secs(60);
/// Between the moment a run has been asked to start and the moment its agent asks.
const START_UP: Duration = Duration::from_secs(10);

/// `bench serve_away`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["agents", "asks", "seconds"])?;
    let agents = arguments.number("agents", 40)?;
    let asks = arguments.number("asks", 20)?;
    let seconds = arguments.number("seconds", 60)?;
    let stage = Stage::new("away")?;
    let table = Table::new("away");
    table.note(
        "agents, requests in each part, seconds away",
        &format!("{agents}, {asks}, {seconds}"),
    );
    let database = PostgresServer::start().map_err(explain)?;
    let url = database.create_database().map_err(explain)?;
    let server = Server::start_with(&stage, Some(&url))?;
    server.wait_until_ready()?;
    // Before, away, after, and what starting takes.
    let length = 3 * seconds + 6 * START_UP.as_secs() as usize;
    let runs = stage.start("agents", agents, "mixed", RATE, length)?;
    server.wait_for(&runs)?;
    let runtime = runtime()?;
    let (reports, asking) = runtime.block_on(async {
        let mut watching = JoinSet::new();
        for watched in runs.chunks(RUNS_OF_A_CLIENT) {
            let most = Duration::from_secs(length as u64) + PATIENCE;
            watching.spawn(watch(Door::of(&server), watched.to_vec(), true, most));
        }
        stage.go("agents")?;
        let mut inbox = Inbox::open(&server).await?;
        let mut asking = Vec::new();
        let mut before = 0.0;
        for part in ["before", "away", "after"] {
            match part {
                "away" => tokio::task::block_in_place(|| database.stop()).map_err(explain)?,
                "after" => tokio::task::block_in_place(|| database.start_again()).map_err(explain)?,
                _ => {}
            }
            let start = Instant::now();
            let started = tokio::task::block_in_place(|| stage.start_demos(part, asks))?;
            let mut ages = inbox.wait_for(&started).await?;
            asking.extend(started);
            let p99 = percentile(&mut ages, 99);
            if part == "before" {
                before = p99;
            }
            table.note(
                &format!("request to inbox, {part}, p50, p99 ms"),
                &format!("{:.0}, {p99:.0}", percentile(&mut ages, 50)),
            );
            if part != "before" {
                table.note(
                    &format!("p99 {part}, of the one before"),
                    &format!("{:.2}", p99 / before),
                );
            }
            tokio::time::sleep(Duration::from_secs(seconds as u64).saturating_sub(start.elapsed())).await;
        }
        stage.end("agents")?;
        Ok::<_, String>((watching.join_all().await, asking))
    })?;
    stage.wait_for_ends(&runs, PATIENCE)?;
    told(&table, &stage, &runs, reports)?;
    server.wait_until_idle()?;
    server.stop()?;
    compare(&table, &stage, &database, &url, &[runs, asking].concat())
}

/// What the index has, held against the journals.
fn compare(
    table: &Table,
    stage: &Stage,
    database: &PostgresServer,
    url: &str,
    runs: &[String],
) -> Result<(), String> {
    let name = url.rsplit('/').next().unwrap_or_default();
    let rows = database
        .execute(name, "SELECT id || ' ' || head_seq FROM ralph.run")
        .map_err(explain)?;
    let approvals: u64 = database
        .execute(name, "SELECT count(*) FROM ralph.approval")
        .map_err(explain)?
        .trim()
        .parse()
        .map_err(explain)?;
    let mut behind = 0;
    for run in runs {
        let last = journal::count(&stage.journal(run), 0)?.last;
        let known = rows.lines().find_map(|row| row.strip_prefix(&format!("{run} ")));
        behind += last.abs_diff(known.and_then(|text| text.parse().ok()).unwrap_or(0));
    }
    table.most("records the index lacks afterwards", behind as f64, 0.0);
    let asked = runs
        .iter()
        .filter_map(|run| std::fs::read_to_string(stage.journal(run)).ok())
        .map(|text| text.matches(r#""type":"permission_requested""#).count() as u64)
        .sum::<u64>();
    table.most(
        "requests it lacks or has twice",
        asked.abs_diff(approvals) as f64,
        0.0,
    );
    Ok(())
}

/// Somebody who looks at what waits for an answer.
struct Inbox {
    socket: Socket,
    seen: HashSet<(String, String)>,
}

impl Inbox {
    async fn open(server: &Server) -> Result<Self, String> {
        let mut socket = Socket::open(&Door::of(server)).await?;
        socket.say(&json!({"type": "subscribe", "feed": "inbox"})).await?;
        Ok(Self {
            socket,
            seen: HashSet::new(),
        })
    }

    /// Waits until each of these runs has asked. Gives how old the requests were, in milliseconds.
    async fn wait_for(&mut self, runs: &[String]) -> Result<Vec<f64>, String> {
        let mut waiting: HashSet<&str> = runs.iter().map(String::as_str).collect();
        let mut ages = Vec::new();
        while !waiting.is_empty() {
            let next = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            let text = next
                .map_err(|_| format!("{} requests do not come", waiting.len()))??
                .ok_or("the server has closed")?;
            let now = jiff::Timestamp::now();
            let message: Value = serde_json::from_str(&text).map_err(explain)?;
            for approval in message["approvals"].as_array().into_iter().flatten() {
                let [run, request, asked_at] =
                    ["run", "request", "asked_at"].map(|name| approval[name].as_str().unwrap_or_default());
                if self.seen.insert((run.to_owned(), request.to_owned())) && waiting.remove(run) {
                    let asked_at: jiff::Timestamp = asked_at.parse().map_err(explain)?;
                    ages.push(now.duration_since(asked_at).as_secs_f64() * 1e3);
                }
            }
        }
        Ok(ages)
    }
}
