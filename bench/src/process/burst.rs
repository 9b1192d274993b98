//! A Node program that writes 3 MiB and exits at once: what arrives.

use agent_process::{SpawnSpec, StdoutMode, spawn};

use super::{Folder, TRANSPORTS, explain, runtime};
use crate::arguments::Arguments;

const BURST_BYTES: usize = 3 << 20;

pub fn run(given: impl Iterator<Item = String>) -> Result<(), String> {
    let arguments = Arguments::parse(given, &["rounds"])?;
    let rounds = arguments.number("rounds", 100)?;
    println!("\n## 3 MiB written by Node, then `process.exit()`\n");
    println!("| way | whole | bytes at the least |\n|---|---:|---:|");
    let runtime = runtime()?;
    let folder = Folder::new("burst")?;
    for (name, transport) in TRANSPORTS {
        let (mut whole, mut least) = (0, usize::MAX);
        for _ in 0..rounds {
            let bytes = runtime.block_on(burst(&folder, transport))?;
            whole += usize::from(bytes == BURST_BYTES);
            least = least.min(bytes);
        }
        println!("| {name} | {whole} of {rounds} | {least} |");
    }
    Ok(())
}

async fn burst(folder: &Folder, transport: StdoutMode) -> Result<usize, String> {
    let log = folder.path("raw.ndjson");
    let _ = std::fs::remove_file(&log);
    let mut spec = SpawnSpec::new("node");
    spec.args = vec![
        "-e".into(),
        format!("process.stdout.write('x'.repeat({BURST_BYTES})); process.exit(0)").into(),
    ];
    spec.stdout = transport;
    spec.raw_log = Some(log);
    let mut process = spawn(spec).await.map_err(explain)?;
    let mut bytes = 0;
    while let Some(chunk) = process.output.next_chunk().await {
        bytes += chunk.map_err(explain)?.len();
    }
    process.exit.await;
    Ok(bytes)
}
