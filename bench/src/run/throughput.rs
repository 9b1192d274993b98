//! A flood through everything a run does with it, against a child whose output `tee` copies to a file.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::stage::{Stage, timed};
use crate::arguments::Arguments;
use crate::corpus::{Corpus, FIXTURES};
use crate::process::{explain, median};

/// Captured lines have denials, failures and costs in them, none of which may end the measurement.
pub const SETTINGS: &str = "\
  output_format: stream-json
denials: continue
event_loop:
  max_cost_usd: 0
";

/// `bench run_throughput`.
pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["fixtures", "megabytes", "rounds"])?;
    let size_bytes = arguments.number("megabytes", 110)? * 1_000_000;
    let rounds = arguments.number("rounds", 9)?;
    let fixtures = arguments.text("fixtures", FIXTURES);
    let corpora = [
        (Corpus::of_mixed(Path::new(&fixtures), size_bytes)?, 0.2),
        (Corpus::of_fixtures(Path::new(&fixtures), size_bytes)?, 0.2),
    ];
    println!(
        "\n## A flood through `ralph run --quiet`: raw log, journal and redaction, median of {rounds} rounds\n"
    );
    println!("| corpus | tee MB/s | ralph MB/s | ralph of tee | at least | journal of raw log |");
    println!("|---|---:|---:|---:|---:|---:|");
    for (corpus, least) in corpora {
        let stage = Stage::new("throughput", "")?;
        let file = stage.path("corpus");
        std::fs::write(&file, &corpus.bytes).map_err(explain)?;
        configure(&stage, &[&file])?;
        let megabytes = corpus.bytes.len() as f64 / 1e6;
        let (mut teed, mut ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let mut journal_bytes = 0;
        // The first round fills caches and is not counted.
        for round in 0..=rounds {
            let tee = megabytes / tee(&stage, &file)?;
            let start = Instant::now();
            // What the captured agents came to is not ours to judge.
            stage
                .ralph(&["run", "--quiet", "--once", "-p", "x"])
                .status()
                .map_err(explain)?;
            let ralph = megabytes / start.elapsed().as_secs_f64();
            journal_bytes = check(&stage, corpus.bytes.len() as u64)?;
            stage.forget()?;
            if round > 0 {
                teed.push(tee);
                ours.push(ralph);
                ratios.push(ralph / tee);
            }
        }
        let (tee, ralph, ratio) = (median(&mut teed), median(&mut ours), median(&mut ratios));
        let journal = journal_bytes as f64 / corpus.bytes.len() as f64;
        println!(
            "| {} | {tee:.0} | {ralph:.0} | {ratio:.2} | {least} | {journal:.2} |",
            corpus.name
        );
    }
    Ok(())
}

/// An agent that writes these files.
pub fn configure(stage: &Stage, files: &[&Path]) -> Result<(), String> {
    let list: String = files
        .iter()
        .map(|file| format!("    - {}\n", file.display()))
        .collect();
    let settings = format!("cli:\n  backend: custom\n  command: /bin/cat\n  args:\n{list}{SETTINGS}");
    std::fs::write(stage.path("workspace/ralph.yml"), settings).map_err(explain)
}

/// The raw log must have everything. Gives the journal's length.
pub fn check(stage: &Stage, expected_bytes: u64) -> Result<u64, String> {
    let run = stage.runs().pop().ok_or("there was no run")?;
    let length = |name| {
        std::fs::metadata(run.join(name))
            .map(|metadata| metadata.len())
            .map_err(explain)
    };
    let raw = length("raw/1.ndjson")?;
    if raw != expected_bytes {
        return Err(format!("the raw log has {raw} bytes of {expected_bytes}"));
    }
    length("journal.ndjson")
}

fn tee(stage: &Stage, file: &Path) -> Result<f64, String> {
    let copy = stage.path("copy");
    let _ = std::fs::remove_file(&copy);
    let line = format!("cat {} | tee {} > /dev/null", file.display(), copy.display());
    let mut command = Command::new("/bin/sh");
    Ok(timed(command.args(["-c", &line]))?.0.as_secs_f64())
}
