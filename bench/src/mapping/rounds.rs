//! Fair turns, and the table.

use std::time::{Duration, Instant};

use super::stages::Agent;
use crate::corpus::Corpus;

/// Medians over all rounds.
pub struct Measured {
    parsing: Duration,
    mapping: Duration,
    /// Of the two within one round.
    ratio: f64,
    event_count: usize,
}

/// Both take turns, so that a slow moment of the machine hits them alike.
pub fn measure(agent: Agent, corpus: &Corpus, round_count: usize) -> Measured {
    let (mut parsing, mut mapping, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let mut event_count = 0;
    for _ in 0..round_count.max(1) {
        let start = Instant::now();
        agent.parse(corpus);
        let parsed = start.elapsed();
        let start = Instant::now();
        event_count = agent.map(corpus);
        let mapped = start.elapsed();
        ratios.push(mapped.as_secs_f64() / parsed.as_secs_f64());
        parsing.push(parsed);
        mapping.push(mapped);
    }
    parsing.sort();
    mapping.sort();
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    Measured {
        parsing: parsing[middle],
        mapping: mapping[middle],
        ratio: ratios[middle],
        event_count,
    }
}

/// Prints what the columns are.
pub fn print_head() {
    println!(
        "{:<34} {:>9} {:>12} {:>12} {:>12} {:>10}",
        "", "lines", "parsed MB/s", "mapped MB/s", "time, times", "ns/event"
    );
}

/// Prints speeds, how many times as long reading takes with the mapping, and what an event costs on top.
pub fn print_row(corpus: &Corpus, measured: &Measured) {
    let speed = |time: Duration| corpus.bytes.len() as f64 / 1e6 / time.as_secs_f64();
    let extra = measured.mapping.as_secs_f64() - measured.parsing.as_secs_f64();
    println!(
        "{:<34} {:>9} {:>12.0} {:>12.0} {:>12.2} {:>10.0}",
        corpus.name,
        corpus.line_count,
        speed(measured.parsing),
        speed(measured.mapping),
        measured.ratio,
        extra * 1e9 / measured.event_count as f64,
    );
}
