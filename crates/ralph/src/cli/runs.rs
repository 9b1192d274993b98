//! `ralph runs`.

use std::path::PathBuf;

use clap::Args;

/// List runs, the newest first
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph runs
  ralph runs --active
  ralph runs --json | jq -r '.[].run_id'")]
pub struct RunsArgs {
    /// Only runs that are not over
    #[arg(long)]
    pub active: bool,

    /// Only runs of this workspace
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// At most so many
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<usize>,

    /// List as JSON
    #[arg(long)]
    pub json: bool,
}
