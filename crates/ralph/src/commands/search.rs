//! `ralph search`: what all agents said and did.

use std::path::PathBuf;

use clap::Args;
use ralph_run::Home;
use ralph_store::{SearchMode, SearchOptions, SearchPage, SearchQuery, StoreError, TextIndex, catch_up};

use super::run_client;
use super::serve::{open_index, words_beside};
use crate::console::{one_line, render_json, sanitise, write_stderr, write_stdout};

/// Search in what all agents said and did
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph search \"connection refused\"
  ralph search migrat* --workspace . --limit 5
  ralph search --substring 'fn main()' --json")]
pub struct SearchArgs {
    /// Words, and "phrases in quotes"; all must be there
    #[arg(required = true)]
    pub text: Vec<String>,

    /// Exactly these characters, wherever they are
    #[arg(long)]
    pub substring: bool,

    /// Only this run
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,

    /// Only runs in this directory
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,

    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// Where the index is kept
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// List as JSON
    #[arg(long)]
    pub json: bool,
}

const COLUMNS: usize = 200;

/// Searches. Brings the index up to date first, so it needs no server; a server that has the index does that itself, and
/// the search reads beside it.
///
/// # Errors
/// When the index cannot be opened, or the text cannot be searched for.
pub async fn execute(
    args: &SearchArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<u8> {
    let run = args
        .run
        .as_deref()
        .map(|run| run_client::find(home, run))
        .transpose()?;
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
    let page = match open_index(home, args.data.as_deref(), variables).await {
        Ok(store) => {
            catch_up(store.as_ref(), &home.runs_directory(), |_| {}).await?;
            while store.index_texts().await? > 0 {}
            let page = store.search(&query).await?;
            store.close().await?;
            page
        }
        Err(error) if matches!(error.downcast_ref(), Some(StoreError::InUse { .. })) => {
            match words_beside(home, args.data.as_deref(), variables)? {
                Some(words) => search_beside(words, query).await?,
                None => return Err(error.context("ask the server instead: `GET /api/v1/search`")),
            }
        }
        Err(error) => return Err(error),
    };
    for hit in &page.hits {
        let line = if args.json {
            render_json(&serde_json::json!({
                "run": hit.run, "seq": hit.record.seq, "at": hit.record.at, "kind": hit.record.kind,
                "snippet": hit.snippet, "marks": hit.marks,
            }))?
        } else {
            let snippet = one_line(&sanitise(&hit.snippet), COLUMNS);
            format!("{} {} {}: {snippet}\n", hit.run, hit.record.seq, hit.record.kind)
        };
        write_stdout(&line);
    }
    if !page.is_complete {
        write_stderr("ralph: there is more; narrow it down, or raise `--limit`\n");
    }
    // As `grep` does.
    Ok(u8::from(page.hits.is_empty()))
}

async fn search_beside(words: SearchOptions, query: SearchQuery) -> anyhow::Result<SearchPage> {
    write_stderr("ralph: a server has the index and keeps it up to date\n");
    let searched = tokio::task::spawn_blocking(move || TextIndex::search_beside(&words, &query));
    Ok(searched.await??)
}
