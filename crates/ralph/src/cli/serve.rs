//! `ralph serve`, `ralph search`, `ralph reindex`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

/// All runs in a browser: watch, answer, steer, search; and an API for scripts
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph serve                                      then log in at the address it prints, or use the token
  ralph serve --open
  ralph serve --port 8080 --stop-runs-on-exit
  RALPH_SERVER_DATABASE=postgres://me@localhost/ralph ralph serve

Runs are processes of their own: they go on when the server ends, and are there again when it is back.
Scripts read the token from the file that it names and send it as `Authorization: Bearer`.")]
pub struct ServeArgs {
    /// The port to listen on; 0 takes any
    #[arg(long, default_value_t = 7878)]
    pub port: u16,

    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,

    /// Let other machines in: whoever has the token runs programs as you
    #[arg(long)]
    pub allow_remote: bool,

    /// Another name the server is reached by, such as the one of a proxy; may be given several times
    #[arg(long = "allow-host", value_name = "NAME")]
    pub names: Vec<String>,

    /// Where the index is kept
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Remove runs that ended more days ago than this
    #[arg(long, value_name = "DAYS", help_heading = "Retention")]
    pub keep_days: Option<u32>,

    /// Keep no more finished runs than this, the newest
    #[arg(long, value_name = "N", help_heading = "Retention")]
    pub keep_runs: Option<usize>,

    /// Remove the oldest finished runs when all runs together are larger than this many megabytes
    #[arg(long, value_name = "MB", help_heading = "Retention")]
    pub keep_megabytes: Option<u64>,

    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,

    /// End all runs when the server ends
    #[arg(long)]
    pub stop_runs_on_exit: bool,
}

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

/// Build the server's index anew from the runs on disk
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph reindex

The runs themselves are never changed. A server that runs must be ended first.")]
pub struct ReindexArgs {
    /// Where the index is kept
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Say what was done as JSON
    #[arg(long)]
    pub json: bool,
}
