//! Child to parsed events, against a child whose output `tee` copies to a file.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use claude_code::Client;

use super::{Folder, TRANSPORTS, client, explain, median, program, request, runtime};
use crate::arguments::Arguments;
use crate::corpus::Corpus;

pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["fixtures", "megabytes", "rounds"])?;
    let size_bytes = arguments.number("megabytes", 100)? * 1_000_000;
    let rounds = arguments.number("rounds", 9)?;
    let corpora = [
        Corpus::of_fixtures(
            Path::new(&arguments.text("fixtures", crate::corpus::FIXTURES)),
            size_bytes,
        )?,
        Corpus::of_big_lines(size_bytes),
    ];
    println!("\n## End to end: a child writes the corpus, a consumer gets parsed events\n");
    println!("| corpus | way | median MB/s | of `child \\| tee file` | events lost |");
    println!("|---|---|---:|---:|---:|");
    let runtime = runtime()?;
    for corpus in corpora {
        let folder = Folder::new("throughput")?;
        let file = folder.path("corpus");
        std::fs::write(&file, &corpus.bytes).map_err(explain)?;
        let client = client(&program(&folder, &format!("exec cat {}", file.display()))?)?;
        let megabytes = corpus.bytes.len() as f64 / 1e6;
        let mut teed = Vec::new();
        let mut ours = TRANSPORTS.map(|_| Vec::new());
        let mut lost = TRANSPORTS.map(|_| 0);
        // The first round fills caches and is not counted.
        for round in 0..=rounds {
            let speed = megabytes / tee(&folder, &file)?;
            if round > 0 {
                teed.push(speed);
            }
            for (index, (_, transport)) in TRANSPORTS.iter().enumerate() {
                let log = folder.path("raw.ndjson");
                let (seconds, events) = runtime.block_on(stream(&client, request(*transport, &log)))?;
                if round > 0 {
                    ours[index].push(megabytes / seconds);
                }
                lost[index] += corpus.line_count.saturating_sub(events);
            }
        }
        let tee = median(&mut teed);
        println!(
            "| {} | `child \\| tee file > /dev/null` | {tee:.0} | 1.00 | – |",
            corpus.name
        );
        for (index, (name, _)) in TRANSPORTS.iter().enumerate() {
            let speed = median(&mut ours[index]);
            println!(
                "| {} | {name} | {speed:.0} | {:.2} | {} |",
                corpus.name,
                speed / tee,
                lost[index]
            );
        }
    }
    Ok(())
}

fn tee(folder: &Folder, file: &Path) -> Result<f64, String> {
    let copy = folder.path("copy");
    let _ = std::fs::remove_file(&copy);
    let line = format!("cat {} | tee {} > /dev/null", file.display(), copy.display());
    let start = Instant::now();
    Command::new("/bin/sh")
        .args(["-c", &line])
        .status()
        .map_err(explain)?;
    Ok(start.elapsed().as_secs_f64())
}

async fn stream(client: &Client, request: claude_code::PrintRequest) -> Result<(f64, usize), String> {
    let start = Instant::now();
    let mut handle = client.print_stream_json(request).await.map_err(explain)?;
    let mut events = 0;
    while let Some(event) = handle.events.next().await {
        std::hint::black_box(event.map_err(explain)?);
        events += 1;
    }
    handle.completion.await.map_err(explain)?;
    Ok((start.elapsed().as_secs_f64(), events))
}
