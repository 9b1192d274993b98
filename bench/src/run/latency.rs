//! From the agent's write to the line on our stdout, against a thread that just reads the agent's pipe.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use test_support::dialect::Session;

use super::stage::Stage;
use crate::arguments::Arguments;
use crate::process::{explain, percentile};

const INTERVAL: Duration = Duration::from_millis(10);
/// In front of the time a text was written at.
const MARK: &str = "tick=";
/// What is written, and how the run shows it.
const WAYS: [(&str, &str, &[&str]); 3] = [
    ("pieces of text, for people", "pieces", &["--color", "never"]),
    ("blocks of text, for people", "blocks", &["--color", "never"]),
    ("blocks of text, `--output json`", "blocks", &["--output", "json"]),
];

/// The agent: writes texts with the time in them.
pub fn ticks(mut given: impl Iterator<Item = String>) -> Result<(), String> {
    let form = given.next().ok_or("the form is missing")?;
    let lines: u64 = given
        .next()
        .and_then(|text| text.parse().ok())
        .ok_or("the number is missing")?;
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let mut out = std::io::stdout().lock();
    let mut write = |line: String| out.write_all(format!("{line}\n").as_bytes()).map_err(explain);
    write(session.init("/"))?;
    session.begin_message();
    let start = session.partial_text(&[]);
    let is_piece = form == "pieces";
    if is_piece {
        start.into_iter().try_for_each(&mut write)?;
    }
    let mut next = Instant::now();
    for _ in 0..lines {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        next += INTERVAL;
        // All of the line is there before its time is taken.
        let text = format!("{MARK}{}\n", now());
        let line = if is_piece {
            session.partial_text(&[&text]).pop().unwrap_or_default()
        } else {
            session.begin_message();
            session.text(&text)
        };
        write(line)?;
    }
    if is_piece {
        session
            .partial_end("end_turn")
            .into_iter()
            .try_for_each(&mut write)?;
    }
    write(session.result("LOOP_COMPLETE"))
}

fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// `bench run_latency`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["lines", "rounds"])?;
    let lines = arguments.number("lines", 200)?;
    let rounds = arguments.number("rounds", 7)?;
    let own = std::env::current_exe().map_err(explain)?;
    let mut stages = Vec::new();
    for (index, (_, form, _)) in WAYS.iter().enumerate() {
        let settings = format!(
            "cli:\n  backend: custom\n  output_format: stream-json\n  command: {}\n  args: [__ticks, {form}, \"{lines}\"]\n",
            own.display()
        );
        stages.push(Stage::new(&format!("latency-{index}"), &settings)?);
    }
    let mut bare = Vec::new();
    let mut ours = WAYS.map(|_| Vec::new());
    for _ in 0..rounds {
        bare.extend(ages(stages[0].command(&own).args([
            "__ticks",
            "blocks",
            &lines.to_string(),
        ]))?);
        for (index, (_, _, args)) in WAYS.iter().enumerate() {
            let mut command = stages[index].ralph(&["run", "--once", "-p", "x"]);
            ours[index].extend(ages(command.args(*args))?);
        }
    }
    println!(
        "\n## From the agent's write to a line of `ralph run` at 100 lines/s, {} lines\n",
        bare.len()
    );
    println!("| way | lines | p50 ms | p99 ms | added p50 ms | added p99 ms |");
    println!("|---|---:|---:|---:|---:|---:|");
    let base = [50, 99].map(|percent| percentile(&mut bare, percent));
    println!(
        "| bare pipe reader | {} | {:.3} | {:.3} | – | – |",
        bare.len(),
        base[0],
        base[1]
    );
    for (index, (name, _, _)) in WAYS.iter().enumerate() {
        let [half, most] = [50, 99].map(|percent| percentile(&mut ours[index], percent));
        let (added_half, added_most) = (half - base[0], most - base[1]);
        let count = ours[index].len();
        println!("| {name} | {count} | {half:.3} | {most:.3} | {added_half:.3} | {added_most:.3} |");
    }
    println!("\nAllowed: p50 1 ms, p99 5 ms.");
    Ok(())
}

/// How old each text is when its line arrives, in milliseconds.
fn ages(command: &mut Command) -> Result<Vec<f64>, String> {
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(explain)?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let mut ages = Vec::new();
    let mut last = 0;
    let mut line = String::new();
    while lines.read_line(&mut line).map_err(explain)? > 0 {
        let arrived = now();
        // Each text counts once: summaries repeat the last one.
        if let Some(written) = written_at(&line).filter(|written| *written > last) {
            ages.push(arrived.saturating_sub(written) as f64 / 1e6);
            last = written;
        }
        line.clear();
    }
    child.wait().map_err(explain)?;
    Ok(ages)
}

fn written_at(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(MARK)?;
    let end = rest
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}
