//! Fair turns, and the table.

use std::time::Duration;

use super::stages::Agent;
use crate::corpus::Corpus;
use crate::cpu_time::measured;

/// Medians over all rounds.
pub struct Measured {
    serde_values: Duration,
    parsing: Duration,
    mapping: Duration,
    /// How many times as fast mapping is as reading `serde_json::Value`, within one round.
    ratio: f64,
    event_count: usize,
}

/// All take turns, so that a slow moment of the machine hits them alike.
pub fn measure(agent: Agent, corpus: &Corpus, round_count: usize) -> Measured {
    let (mut serde_values, mut parsing, mut mapping, mut ratios) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut event_count = 0;
    for _ in 0..round_count.max(1) {
        let (read, _) = measured(|| Agent::read_serde_values(corpus));
        let (parsed, _) = measured(|| agent.parse(corpus));
        let (mapped, count) = measured(|| agent.map(corpus));
        event_count = count;
        ratios.push(read.as_secs_f64() / mapped.as_secs_f64());
        serde_values.push(read);
        parsing.push(parsed);
        mapping.push(mapped);
    }
    for times in [&mut serde_values, &mut parsing, &mut mapping] {
        times.sort();
    }
    ratios.sort_by(f64::total_cmp);
    let middle = ratios.len() / 2;
    Measured {
        serde_values: serde_values[middle],
        parsing: parsing[middle],
        mapping: mapping[middle],
        ratio: ratios[middle],
        event_count,
    }
}

/// Prints what the columns are.
pub fn print_head() {
    println!(
        "{:<34} {:>9} {:>12} {:>12} {:>12} {:>14} {:>10}",
        "", "lines", "Value MB/s", "parsed MB/s", "mapped MB/s", "mapped/Value", "ns/event"
    );
}

/// Prints speeds, how many times as fast reading with mapping is as `serde_json::Value` alone, and what an event costs
/// on top of reading.
pub fn print_row(corpus: &Corpus, measured: &Measured) {
    let speed = |time: Duration| corpus.bytes.len() as f64 / 1e6 / time.as_secs_f64();
    let extra = measured.mapping.as_secs_f64() - measured.parsing.as_secs_f64();
    println!(
        "{:<34} {:>9} {:>12.0} {:>12.0} {:>12.0} {:>14.2} {:>10.0}",
        corpus.name,
        corpus.line_count,
        speed(measured.serde_values),
        speed(measured.parsing),
        speed(measured.mapping),
        measured.ratio,
        extra * 1e9 / measured.event_count as f64,
    );
}
