//! What was measured, row by row, as soon as it is known.

use std::sync::atomic::{AtomicBool, Ordering};

/// All parts of one run share a table.
static HAS_HEADER: AtomicBool = AtomicBool::new(false);

/// The rows of one part.
pub struct Table {
    part: &'static str,
}

impl Table {
    pub fn new(part: &'static str) -> Self {
        if !HAS_HEADER.swap(true, Ordering::Relaxed) {
            println!("\n## `ralph serve`\n");
            println!("| part | what | measured | owed | |");
            println!("|---|---|---:|---:|---|");
        }
        let table = Self { part };
        // Others may work on this machine, too; without this a figure means nothing.
        table.note("load of the machine at the start", &machine_load());
        table
    }

    /// Something that nothing is owed for.
    pub fn note(&self, what: &str, value: &str) {
        println!("| {} | {what} | {value} | | |", self.part);
    }

    /// Something that must not be more than this.
    pub fn most(&self, what: &str, value: f64, owed: f64) {
        let verdict = if value <= owed { "" } else { "**over**" };
        println!(
            "| {} | {what} | {} | ≤ {} | {verdict} |",
            self.part,
            short(value),
            short(owed)
        );
    }
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 || value >= 1000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// How many processes want to run, over the last minute.
fn machine_load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
