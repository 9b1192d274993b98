//! Long lines and long streams: time and peak memory of a process that does nothing else.

use std::process::Command;
use std::time::Instant;

use claude_code::StdoutMode;

use super::{Folder, client, explain, program, request, runtime};
use crate::arguments::Arguments;
use crate::corpus::Corpus;

/// One measurement in a process of its own, which prints `seconds peak_kib events`.
pub fn measured(mut given: impl Iterator<Item = String>) -> Result<(), String> {
    let line = given.next().ok_or("the shell line is missing")?;
    let folder = Folder::new("memory-child")?;
    let client = client(&program(&folder, &line)?)?;
    let runtime = runtime()?;
    let start = Instant::now();
    let events = runtime.block_on(async {
        let request = request(StdoutMode::Pipe, &folder.path("raw.ndjson"));
        let mut handle = client.print_stream_json(request).await.map_err(explain)?;
        let mut events = 0;
        while let Some(event) = handle.events.next().await {
            event.map_err(explain)?;
            events += 1;
        }
        handle.completion.await.map_err(explain)?;
        Ok::<_, String>(events)
    })?;
    println!("{} {} {events}", start.elapsed().as_secs_f64(), peak_kib()?);
    Ok(())
}

fn peak_kib() -> Result<u64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(explain)?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|text| text.trim().trim_end_matches("kB").trim().parse().ok())
        .ok_or("no VmHWM".into())
}

fn in_own_process(line: &str) -> Result<(f64, f64, u64), String> {
    let own = std::env::current_exe().map_err(explain)?;
    let output = Command::new(own)
        .args(["__memory", line])
        .output()
        .map_err(explain)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text
        .split_whitespace()
        .map(|number| number.parse::<f64>().unwrap_or(f64::NAN));
    match (numbers.next(), numbers.next(), numbers.next()) {
        (Some(seconds), Some(kib), Some(events)) => Ok((seconds, kib / 1024.0, events as u64)),
        _ => Err(format!(
            "the measurement failed: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["fixtures"])?;
    let folder = Folder::new("memory")?;
    println!("\n## Long lines\n\n| line | seconds | peak RSS MiB | allowed MiB |\n|---|---:|---:|---:|");
    let mut times = Vec::new();
    for mebibytes in [16_usize, 64] {
        let file = folder.path("line");
        let head = br#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":""#;
        let tail = b"\"}]}}\n";
        let mut line = head.to_vec();
        line.resize((mebibytes << 20) - tail.len(), b'x');
        line.extend_from_slice(tail);
        std::fs::write(&file, line).map_err(explain)?;
        let mut best = (f64::MAX, 0.0, 0);
        for _ in 0..5 {
            let run = in_own_process(&format!("exec cat {}", file.display()))?;
            best = (best.0.min(run.0), f64::max(best.1, run.1), run.2);
        }
        times.push(best.0);
        println!(
            "| {mebibytes} MiB | {:.3} | {:.0} | {} |",
            best.0,
            best.1,
            3 * mebibytes + 32
        );
    }
    println!("\n64 MiB takes {:.1}× the time of 16 MiB.", times[1] / times[0]);

    let corpus = Corpus::of_fixtures(
        std::path::Path::new(&arguments.text("fixtures", crate::corpus::FIXTURES)),
        100_000_000,
    )?;
    let file = folder.path("corpus");
    std::fs::write(&file, &corpus.bytes).map_err(explain)?;
    println!("\n## Long streams\n\n| stream | seconds | peak RSS MiB | events |\n|---|---:|---:|---:|");
    let name = file.display();
    for (stream, line) in [
        ("100 MB", format!("exec cat {name}")),
        ("1 GB", format!("exec cat {}", format!("{name} ").repeat(10))),
    ] {
        let (seconds, mebibytes, events) = in_own_process(&line)?;
        println!("| {stream} | {seconds:.2} | {mebibytes:.1} | {events} |");
    }
    Ok(())
}
