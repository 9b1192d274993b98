//! The same searches in PostgreSQL.

use std::time::Instant;

use ralph_store::{PostgresOptions, PostgresStore, Store as _, catch_up};
use test_support::postgres::PostgresServer;

use super::journals::{self, Corpus};
use super::queries;
use crate::arguments::Arguments;
use crate::process::{Folder, explain, runtime};

const OWED_MS: f64 = 150.0;

/// `bench search_postgres`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["records", "rounds"])?;
    let records = arguments.number("records", 1_000_000)?;
    let rounds = arguments.number("rounds", 100)?;
    let folder = Folder::new("search-postgres")?;
    let runs = folder.path("runs");
    let corpus = Corpus::load()?;
    let written = journals::write(&corpus, &runs, records)?;
    let server = PostgresServer::start().map_err(explain)?;
    let url = server.create_database().map_err(explain)?;
    let runtime = runtime()?;
    let options = PostgresOptions::new(url.as_str());
    let store = runtime
        .block_on(PostgresStore::connect(options, |_| {}))
        .map_err(explain)?;
    println!(
        "\n## Text index in PostgreSQL: {records} records, {} of them with words\n",
        written.texts
    );
    println!("| what | measured |\n|---|---:|");
    let start = Instant::now();
    runtime
        .block_on(catch_up(&store, &runs, |_| {}))
        .map_err(explain)?;
    println!("| rows, s | {:.1} |", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let count = runtime.block_on(store.index_texts()).map_err(explain)?;
    println!("| words, s | {:.1} |", start.elapsed().as_secs_f64());
    if count != written.texts {
        return Err(format!("{count} texts were indexed of {}", written.texts));
    }
    let name = url.rsplit('/').next().unwrap_or_default();
    // A server in use has them; the one of the tests collects none by itself.
    server.execute(name, "VACUUM ANALYZE").map_err(explain)?;
    let size = server
        .execute(name, "SELECT pg_database_size(current_database())")
        .map_err(explain)?;
    let size: f64 = size.trim().parse().map_err(explain)?;
    println!("| database of text | {:.2} |", size / written.text_bytes as f64);
    let search = |query: &_| runtime.block_on(store.search(query)).map_err(explain);
    queries::measure(&search, &corpus, &written, rounds, OWED_MS)?;
    runtime.block_on(store.close()).map_err(explain)
}
