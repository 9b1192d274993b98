//! `ralph reindex`: rebuilds the search index.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use ralph_run::Home;
use ralph_store::OtherHome;

use super::serve::recreate_index;
use crate::console::{render_json, write_stderr, write_stdout};

/// Rebuild the search index from the runs on disk
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph reindex

The runs themselves are never changed, and what removed runs cost is kept.
Stop a running server first.")]
pub struct ReindexArgs {
    /// Directory of the index
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Use an index that belongs to another state directory: delete what it holds
    #[arg(long)]
    pub take_over: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Deletes the index and builds it again from the runs on disk.
pub async fn execute(
    args: &ReindexArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<u8> {
    let started = Instant::now();
    let other = match args.take_over {
        true => OtherHome::TakeOver,
        false => OtherHome::Refuse,
    };
    let store = recreate_index(home, args.data.as_deref(), variables, other).await?;
    let mut reported_at = started;
    let done = ralph_store::reindex(store.as_ref(), &home.runs_directory(), |progress| {
        if reported_at.elapsed() > PROGRESS_INTERVAL {
            reported_at = Instant::now();
            let percent = progress.bytes * 100 / progress.all_bytes.max(1);
            write_stderr(&format!("ralph: {percent}% of the journals\n"));
        }
    })
    .await?;
    write_stderr("ralph: indexing text\n");
    while store.index_texts().await? > 0 {}
    store.close().await?;
    let seconds = started.elapsed().as_secs_f64();
    if args.json {
        let report = serde_json::json!({"runs": done.runs, "records": done.records, "seconds": seconds});
        write_stdout(&render_json(&report)?);
    } else {
        write_stdout(&format!(
            "{} runs with {} records in {seconds:.1} s\n",
            done.runs, done.records
        ));
    }
    Ok(0)
}
