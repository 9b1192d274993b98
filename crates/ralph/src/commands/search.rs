//! `ralph search`: searches everything agents said and did.

use std::path::PathBuf;

use clap::Args;
use ralph_run::Home;
use ralph_store::{SearchMode, SearchOptions, SearchPage, SearchQuery, StoreError, TextIndex, catch_up};

use super::run_client;
use super::serve::{open_index, text_index_file};
use crate::console::{render_json, write_stderr, write_stdout};
use run_view::{one_line, sanitise};

/// Search everything agents said and did
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph search \"connection refused\"
  ralph search migrat* --workspace . --limit 5
  ralph search --substring 'fn main()' --json")]
pub struct SearchArgs {
    /// Words and "phrases in quotes" that must all match
    #[arg(required = true)]
    pub text: Vec<String>,

    /// Match exactly these characters anywhere
    #[arg(long)]
    pub substring: bool,

    /// Only this run: id, unique beginning, or `latest`
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,

    /// Only runs in this directory
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,

    /// Show at most N matches
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// Directory of the index
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

const COLUMNS: usize = 200;

/// Updates the index and searches it. If a server has the index open, it keeps it up to date, and the search only reads.
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
            match text_index_file(home, args.data.as_deref(), variables)? {
                Some(words) => search_open_index(words, query).await?,
                None => return Err(error.context("ask the server instead: `GET /api/v1/search`")),
            }
        }
        Err(error) => return Err(error),
    };
    for hit in &page.hits {
        let line = if args.json {
            render_json(&serde_json::json!({
                "run": hit.run, "seq": hit.seq, "at": hit.at, "kind": hit.kind,
                "snippet": hit.snippet, "marks": hit.marks,
            }))?
        } else {
            let snippet = one_line(&sanitise(&hit.snippet), COLUMNS);
            format!("{} {} {}: {snippet}\n", hit.run, hit.seq, hit.kind)
        };
        write_stdout(&line);
    }
    if !page.is_complete {
        write_stderr("ralph: more matches not shown; use a longer text or a higher `--limit`\n");
    }
    // As with `grep`, 1 means no match.
    Ok(u8::from(page.hits.is_empty()))
}

async fn search_open_index(words: SearchOptions, query: SearchQuery) -> anyhow::Result<SearchPage> {
    write_stderr("ralph: searching the index of the running server\n");
    let searched = tokio::task::spawn_blocking(move || TextIndex::search_beside(&words, &query));
    Ok(searched.await??)
}
