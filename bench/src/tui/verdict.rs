//! The rows of a table: what was measured, what is allowed, and whether it is kept.

pub fn head(title: &str) {
    println!("\n## {title}\n");
    println!("| what | measured | allowed | |\n|---|---:|---:|---|");
}

/// A figure that may not be larger.
pub fn at_most(what: &str, measured: f64, limit: f64, unit: &str) {
    row(what, measured, ("≤", limit), unit, measured <= limit);
}

/// A figure that may not be smaller.
pub fn at_least(what: &str, measured: f64, limit: f64, unit: &str) {
    row(what, measured, ("≥", limit), unit, measured >= limit);
}

fn row(what: &str, measured: f64, (sign, limit): (&str, f64), unit: &str, is_kept: bool) {
    let verdict = if is_kept { "kept" } else { "MISSED" };
    println!("| {what} | {measured:.2} {unit} | {sign} {limit} {unit} | {verdict} |");
}

/// A figure without a limit.
pub fn note(what: &str, measured: f64, unit: &str) {
    println!("| {what} | {measured:.2} {unit} | | |");
}
