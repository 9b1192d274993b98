//! All measurements of the server and of its index.

use super::{answer, away, deltas, half_open, idle, kill, load, open, reconnect, stall};
use crate::arguments::Arguments;
use crate::search;

type Part = fn(std::vec::IntoIter<String>) -> Result<(), String>;

/// The parts in their order, and the amounts that decide how long each takes.
const PARTS: [(Part, &[(&str, usize)]); 12] = [
    (load, &[("seconds", 120)]),
    (deltas, &[]),
    (reconnect, &[("rounds", 10_000)]),
    (stall, &[]),
    (answer, &[]),
    (open, &[]),
    (idle, &[("runs", 10_000), ("seconds", 120)]),
    (half_open, &[("sockets", 10_000)]),
    (away, &[("seconds", 60)]),
    (kill, &[]),
    (search::run, &[("records", 1_000_000)]),
    (search::in_postgres, &[("records", 1_000_000)]),
];

/// `bench serve`: with `--percent`, for a quick look, that much of each amount.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let percent = Arguments::parse(given, &["percent"])?.number("percent", 100)?;
    for (part, amounts) in PARTS {
        let options: Vec<String> = amounts
            .iter()
            .flat_map(|(name, whole)| {
                let amount = (whole * percent / 100).max(1);
                [format!("--{name}"), amount.to_string()]
            })
            .collect();
        part(options.into_iter())?;
    }
    Ok(())
}
