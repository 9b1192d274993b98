//! Clients that come and go while a run is written.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::client::{Door, Socket};
use super::journal::{Texts, count};
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::{explain, runtime};

const AT_ONCE: usize = 8;
/// What agents write, and how often in a second: many small records, then some of up to 256 KiB.
const FORMS: [(&str, usize); 2] = [("mixed", 200), ("large", 20)];
/// The longest that a client stays.
const STAY_MS: u64 = 40;
const LONGEST: Duration = Duration::from_secs(600);
const PATIENCE: Duration = Duration::from_secs(60);

/// What a client has of the run.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) seq: u64,
    pub(super) epoch: Option<String>,
    pub(super) texts: Texts,
    pub(super) gaps: u64,
    pub(super) repeated: u64,
    pub(super) lagged: u64,
    pub(super) moved: u64,
}

impl Seen {
    pub(super) fn take(&mut self, message: &Value) {
        let number = |name: &str| message[name].as_u64().unwrap_or(0);
        match message["type"].as_str() {
            Some("records") => {
                self.gaps += number("from").saturating_sub(self.seq + 1);
                self.repeated += (self.seq + 1).saturating_sub(number("from"));
                self.seq = number("to");
                for record in message["records"].as_array().into_iter().flatten() {
                    self.texts.take(&record["event"]);
                }
            }
            Some("subscribed") => {
                // It must go on exactly where the client is.
                self.moved += u64::from(number("after") != self.seq);
                self.epoch = message["epoch"].as_str().map(ToOwned::to_owned);
            }
            Some("lagged") => {
                self.lagged += 1;
                self.seq = number("to");
            }
            Some("reset") => self.moved += 1,
            _ => {}
        }
    }

    /// Comes, and takes what it is told, for so long or to the end.
    pub(super) async fn visit(&mut self, door: &Door, run: &str, stay: Duration) -> Result<(), String> {
        let mut socket = Socket::open(door).await?;
        socket.watch(run, self.seq, self.epoch.as_deref()).await?;
        let until = Instant::now() + stay;
        while !self.texts.has_ended {
            // Only whole messages are taken; what was on its way is lost with the connection.
            match timeout(until.saturating_duration_since(Instant::now()), socket.next()).await {
                Ok(text) => {
                    let text = text?.ok_or("the server has closed")?;
                    self.take(&serde_json::from_str(&text).map_err(explain)?);
                }
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }
}

/// `bench serve_reconnect`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["rounds"])?;
    let rounds = arguments.number("rounds", 10_000)?;
    for (form, rate) in FORMS {
        measure(form, rate, rounds)?;
    }
    Ok(())
}

fn measure(form: &str, rate: usize, rounds: usize) -> Result<(), String> {
    let stage = Stage::new(&format!("reconnect-{form}"))?;
    let table = Table::new("reconnect");
    let server = Server::start(&stage)?;
    server.wait_until_ready()?;
    let runs = stage.start("agents", 1, form, rate, LONGEST.as_secs() as usize)?;
    server.wait_for(&runs)?;
    stage.go("agents")?;
    let start = Instant::now();
    let all = runtime()?.block_on(async {
        let (random, left) = (RandomState::new(), Arc::new(AtomicUsize::new(rounds)));
        let mut clients = JoinSet::new();
        for _ in 0..AT_ONCE {
            let (door, run, random, left) =
                (Door::of(&server), runs[0].clone(), random.clone(), left.clone());
            clients.spawn(async move {
                let mut seen = Seen::default();
                while let Ok(round) =
                    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                {
                    let stay = Duration::from_millis(random.hash_one(round) % STAY_MS);
                    seen.visit(&door, &run, stay).await?;
                }
                Ok::<_, String>(seen)
            });
        }
        let mut all = Vec::new();
        while let Some(seen) = clients.join_next().await {
            all.push(seen.map_err(explain)??);
        }
        stage.end("agents")?;
        // All of them come once more and stay.
        for seen in &mut all {
            seen.visit(&Door::of(&server), &runs[0], PATIENCE).await?;
        }
        Ok::<_, String>(all)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    stage.wait_for_ends(&runs, PATIENCE)?;
    let journal = stage.journal(&runs[0]);
    let (truth, texts) = (count(&journal, 0)?, Texts::of(&journal)?);
    let sum = |of: fn(&Seen) -> u64| all.iter().map(of).sum::<u64>() as f64;
    table.note(
        &format!("{form}: reconnects, records, MB, seconds"),
        &format!(
            "{rounds}, {}, {:.0}, {seconds:.0}",
            truth.last,
            truth.bytes as f64 / 1e6
        ),
    );
    table.most("records lost", sum(|seen| seen.gaps), 0.0);
    table.most("records told twice", sum(|seen| seen.repeated), 0.0);
    table.most(
        "told to go on elsewhere",
        sum(|seen| seen.moved + seen.lagged),
        0.0,
    );
    let wrong = all
        .iter()
        .filter(|seen| seen.seq != truth.last || seen.texts != texts)
        .count();
    table.most("clients with another text than the journal", wrong as f64, 0.0);
    server.stop()
}
