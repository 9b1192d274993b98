//! How fast lines become typed events, and how many are lost on the way.

mod contestants;
mod corpus;
mod rounds;

use crate::arguments::Arguments;
use contestants::Contestant;
use corpus::Corpus;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/test_support/fixtures/claude");

/// `bench parser`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["fixtures", "megabytes", "rounds"])?;
    let size_bytes = arguments.number("megabytes", 100)? * 1_000_000;
    let round_count = arguments.number("rounds", 7)?;
    let fixtures = arguments.text("fixtures", FIXTURES);
    for corpus in [Corpus::of_fixtures(fixtures.as_ref(), size_bytes)?, Corpus::of_big_lines(size_bytes)] {
        let (lines, megabytes) = (corpus.line_count, corpus.bytes.len() as f64 / 1e6);
        println!("\n{} ({lines} lines, {megabytes:.1} MB, median of {round_count} interleaved rounds)", corpus.name);
        rounds::print_table(&rounds::measure(&corpus, Contestant::ALL, round_count), corpus.line_count);
    }
    Ok(())
}
