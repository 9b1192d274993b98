//! `ralph clean`.

use std::time::Duration;

use clap::Args;

use crate::settings::values::parse_duration;

/// Remove finished runs
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph clean --dry-run
  ralph clean --older-than 7d
  ralph clean --all

Runs that are not finished are never touched.")]
pub struct CleanArgs {
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,

    /// Only runs that ended longer ago than this, such as 12h or 7d
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "30d", conflicts_with = "all")]
    pub older_than: Duration,

    /// All finished runs, however new
    #[arg(long)]
    pub all: bool,

    /// List as JSON
    #[arg(long)]
    pub json: bool,
}
