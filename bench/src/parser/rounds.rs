//! Fair turns, and the table.

use std::time::Duration;

use super::contestants::Contestant;
use crate::corpus::Corpus;
use crate::cpu_time::measured;

/// What one contestant did.
pub struct Measured {
    contestant: Contestant,
    megabytes_per_second: f64,
    event_count: usize,
}

/// Everyone parses once per round, so that a slow moment of the machine hits all alike.
pub fn measure(corpus: &Corpus, contestants: &[Contestant], round_count: usize) -> Vec<Measured> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); contestants.len()];
    let mut counts = vec![0; contestants.len()];
    for _ in 0..round_count {
        for (index, contestant) in contestants.iter().enumerate() {
            let (time, count) = measured(|| contestant.parse(&corpus.bytes));
            counts[index] = count;
            times[index].push(time);
        }
    }
    let median_of = |(index, contestant): (usize, &Contestant)| {
        times[index].sort();
        let median = times[index][times[index].len() / 2];
        Measured {
            contestant: *contestant,
            megabytes_per_second: corpus.bytes.len() as f64 / 1e6 / median.as_secs_f64(),
            event_count: counts[index],
        }
    };
    contestants.iter().enumerate().map(median_of).collect()
}

/// Prints medians, how many times as fast ours is, and the lines that gave no event.
pub fn print_table(rows: &[Measured], line_count: usize) {
    let ours = rows.iter().find(|row| row.contestant == Contestant::Ours);
    let ours = ours.map_or(0.0, |row| row.megabytes_per_second);
    println!(
        "{:<32} {:>10} {:>14} {:>12} {:>8}",
        "", "MB/s", "ours is times", "lines lost", "lost %"
    );
    for row in rows {
        let lost = line_count - row.event_count.min(line_count);
        println!(
            "{:<32} {:>10.0} {:>14.2} {:>12} {:>8.2}",
            row.contestant.name(),
            row.megabytes_per_second,
            ours / row.megabytes_per_second,
            lost,
            100.0 * lost as f64 / line_count as f64,
        );
    }
}
