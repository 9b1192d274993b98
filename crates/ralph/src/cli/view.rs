//! What a person sees.

use clap::Args;

use crate::settings::{ColorChoice, Output};

/// How a run is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct ViewArgs {
    /// Also show tool results, thinking, usage and summaries
    #[arg(short, long, conflicts_with = "quiet", help_heading = "Output")]
    pub verbose: bool,

    /// Show nothing; the exit code tells how it went
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// When to use colours [default: auto]
    #[arg(long, value_name = "WHEN", value_enum, help_heading = "Output")]
    pub color: Option<ColorChoice>,

    /// For people, or one JSON record per line [default: text]
    #[arg(long, value_name = "FORMAT", value_enum, help_heading = "Output")]
    pub output: Option<Output>,
}
