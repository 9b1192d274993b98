//! What a long answer costs on the wire.

use std::time::Duration;

use super::agent::ANSWER_BYTES;
use super::client::{Door, watch};
use super::load::first_problem;
use super::server::Server;
use super::stage::Stage;
use super::table::Table;
use crate::arguments::Arguments;
use crate::process::runtime;

/// Pieces in a second, so that all of them take a little less than ten.
const RATE: usize = 280;
const LONGEST: usize = 60;

/// `bench serve_answer`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    Arguments::parse(given, &[])?;
    let stage = Stage::new("answer")?;
    let table = Table::new("answer");
    let server = Server::start(&stage)?;
    server.wait_until_ready()?;
    let runs = stage.start("agents", 1, "answer", RATE, LONGEST)?;
    server.wait_for(&runs)?;
    let report = runtime()?.block_on(async {
        let watching = tokio::spawn(watch(
            Door::of(&server),
            runs,
            false,
            Duration::from_secs(LONGEST as u64),
        ));
        stage.go("agents")?;
        watching.await.map_err(crate::process::explain)
    })?;
    first_problem(std::slice::from_ref(&report))?;
    let bytes: usize = report.runs.values().map(|seen| seen.bytes).sum();
    table.note(
        "64 KiB in 2,700 pieces within 10 s, KB on the wire",
        &format!("{:.0}", bytes as f64 / 1e3),
    );
    table.note("messages", &report.messages.to_string());
    table.most(
        "bytes on the wire for each of the answer",
        bytes as f64 / ANSWER_BYTES as f64,
        3.0,
    );
    server.stop()
}
