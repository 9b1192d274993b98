//! `ralph search`: what all agents said and did.

use ralph_run::Home;
use ralph_store::{SearchMode, SearchQuery, catch_up};

use super::index::open_index;
use crate::cli::SearchArgs;
use crate::console::{one_line, sanitise, write_stderr, write_stdout};

const COLUMNS: usize = 200;

/// Searches. Brings the index up to date first, so it needs no server; with one, ask that.
///
/// # Errors
/// When the index cannot be opened, or the text cannot be searched for.
pub async fn search(
    args: &SearchArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<u8> {
    let store = open_index(home, args.data.as_deref(), variables).await?;
    catch_up(store.as_ref(), &home.runs_directory(), |_| {}).await?;
    while store.index_texts().await? > 0 {}
    let run = args.run.as_deref().map(|run| home.find(run)).transpose()?;
    let workspace = args.workspace.as_deref().map(std::fs::canonicalize).transpose()?;
    let query = SearchQuery {
        text: args.text.join(" "),
        mode: if args.substring {
            SearchMode::Substring
        } else {
            SearchMode::Words
        },
        run: run.map(|run| run.id().to_owned()),
        workspace: workspace.map(|path| path.display().to_string()),
        tool: args.tool.clone(),
        limit: args.limit,
        ..SearchQuery::default()
    };
    let page = store.search(&query).await?;
    for hit in &page.hits {
        let line = if args.json {
            serde_json::json!({
                "run": hit.run, "seq": hit.record.seq, "at": hit.record.at, "kind": hit.record.kind,
                "snippet": hit.snippet, "marks": hit.marks,
            })
            .to_string()
        } else {
            let snippet = one_line(&sanitise(&hit.snippet), COLUMNS);
            format!("{} {} {}: {snippet}", hit.run, hit.record.seq, hit.record.kind)
        };
        write_stdout(&format!("{line}\n"));
    }
    if !page.is_complete {
        write_stderr("ralph: there is more; narrow it down, or raise `--limit`\n");
    }
    store.close().await?;
    // As `grep` does.
    Ok(u8::from(page.hits.is_empty()))
}
