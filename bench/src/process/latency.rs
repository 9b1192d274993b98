//! From the child's write to the consumer's event, against a thread that just reads a pipe.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use claude_code::Client;
use test_support::script::{Script, ScriptedAgent};

use super::{Folder, TRANSPORTS, client, explain, percentile, program, request, runtime};
use crate::arguments::Arguments;

const INTERVAL: Duration = Duration::from_millis(10);

pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["lines", "rounds"])?;
    let lines = arguments.number("lines", 200)? as u64;
    let rounds = arguments.number("rounds", 7)?;
    let folder = Folder::new("latency")?;
    let agent = Script::new().tick(lines, INTERVAL).install().map_err(explain)?;
    let command = format!(
        "exec {} {}",
        agent.program.display(),
        agent.arguments[0].display()
    );
    let client = client(&program(&folder, &command)?)?;
    let runtime = runtime()?;
    let mut bare = Vec::new();
    let mut ours = TRANSPORTS.map(|_| Vec::new());
    for _ in 0..rounds {
        bare.extend(read_bare(&agent)?);
        for (index, (_, transport)) in TRANSPORTS.iter().enumerate() {
            let request = request(*transport, &folder.path("raw.ndjson"));
            ours[index].extend(runtime.block_on(read_events(&client, request))?);
        }
    }
    println!(
        "\n## Latency of an event at 100 lines/s, {} events each\n",
        bare.len()
    );
    println!("| way | p50 ms | p99 ms | added p50 ms | added p99 ms |");
    println!("|---|---:|---:|---:|---:|");
    let base = [50, 99].map(|percent| percentile(&mut bare, percent));
    println!("| bare pipe reader | {:.3} | {:.3} | – | – |", base[0], base[1]);
    for (index, (name, _)) in TRANSPORTS.iter().enumerate() {
        let [half, most] = [50, 99].map(|percent| percentile(&mut ours[index], percent));
        println!(
            "| {name} | {half:.3} | {most:.3} | {:.3} | {:.3} |",
            half - base[0],
            most - base[1]
        );
    }
    Ok(())
}

/// Milliseconds since the line's own time stamp.
fn age(line: &[u8]) -> Option<f64> {
    let digits = line
        .split(|byte| !byte.is_ascii_digit())
        .max_by_key(|digits| digits.len())?;
    let written: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let now = now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64;
    Some(now.saturating_sub(written) as f64 / 1e6)
}

fn read_bare(agent: &ScriptedAgent) -> Result<Vec<f64>, String> {
    let mut command = Command::new(&agent.program);
    command
        .args(&agent.arguments)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn().map_err(explain)?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no stdout")?);
    let mut ages = Vec::new();
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).map_err(explain)? > 0 {
        ages.extend(age(&line));
        line.clear();
    }
    child.wait().map_err(explain)?;
    Ok(ages)
}

async fn read_events(client: &Client, request: claude_code::PrintRequest) -> Result<Vec<f64>, String> {
    let mut handle = client.print_stream_json(request).await.map_err(explain)?;
    let mut ages = Vec::new();
    while let Some(event) = handle.events.next().await {
        let event = event.map_err(explain)?;
        ages.extend(age(event.raw()));
    }
    handle.completion.await.map_err(explain)?;
    Ok(ages)
}
