//! How fast lines become typed events, and how many are lost on the way.

mod contestants;
mod rounds;
mod serde_model;

use crate::arguments::Arguments;
use crate::corpus::{Corpus, FIXTURES};
use contestants::Contestant;

/// `bench parser`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["corpus", "fixtures", "megabytes", "only", "rounds"])?;
    let size_bytes = arguments.number("megabytes", 100)? * 1_000_000;
    let round_count = arguments.number("rounds", 7)?;
    let only = arguments.text("only", "");
    let contestants: Vec<Contestant> = Contestant::ALL
        .iter()
        .copied()
        .filter(|contestant| contestant.name().contains(&only))
        .collect();
    let fixtures = arguments.text("fixtures", FIXTURES);
    let corpora = [
        Corpus::of_fixtures(fixtures.as_ref(), size_bytes)?,
        Corpus::of_big_lines(size_bytes),
        Corpus::of_big_answers(size_bytes),
    ];
    for corpus in corpora {
        if !corpus.name.contains(&arguments.text("corpus", "")) {
            continue;
        }
        let (lines, megabytes) = (corpus.line_count, corpus.bytes.len() as f64 / 1e6);
        println!(
            "\n{} ({lines} lines, {megabytes:.1} MB, median of {round_count} interleaved rounds)",
            corpus.name
        );
        rounds::print_table(
            &rounds::measure(&corpus, &contestants, round_count),
            corpus.line_count,
        );
    }
    Ok(())
}
