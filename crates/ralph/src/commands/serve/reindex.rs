//! `ralph reindex`: the index anew.

use std::time::{Duration, Instant};

use ralph_run::Home;

use super::index::open_index_anew;
use crate::cli::ReindexArgs;
use crate::console::{write_stderr, write_stdout};

const TELL_EVERY: Duration = Duration::from_secs(1);

/// Forgets the index and builds it anew from the runs on disk.
///
/// # Errors
/// When it cannot be opened or written.
pub async fn reindex(
    args: &ReindexArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<u8> {
    let started = Instant::now();
    let store = open_index_anew(home, args.data.as_deref(), variables).await?;
    let mut told = started;
    let done = ralph_store::reindex(store.as_ref(), &home.runs_directory(), |progress| {
        if told.elapsed() > TELL_EVERY {
            told = Instant::now();
            let percent = progress.bytes * 100 / progress.all_bytes.max(1);
            write_stderr(&format!("ralph: {percent} % of the journals\n"));
        }
    })
    .await?;
    write_stderr("ralph: texts\n");
    while store.index_texts().await? > 0 {}
    store.close().await?;
    let seconds = started.elapsed().as_secs_f64();
    if args.json {
        let report = serde_json::json!({"runs": done.runs, "records": done.records, "seconds": seconds});
        write_stdout(&format!("{report}\n"));
    } else {
        write_stdout(&format!(
            "{} runs with {} records in {seconds:.1} s\n",
            done.runs, done.records
        ));
    }
    Ok(0)
}
