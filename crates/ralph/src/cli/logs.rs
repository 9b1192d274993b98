//! `ralph logs`.

use clap::Args;

use super::view::ViewArgs;

/// Show what a run has done
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph logs latest
  ralph logs 0198c3 -f -v
  ralph logs latest --raw | jq .type")]
pub struct LogsArgs {
    /// The run: its id, the first characters of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// The agent's own output, byte for byte
    #[arg(long, conflicts_with_all = ["verbose", "quiet", "output"])]
    pub raw: bool,

    /// Go on while the run does
    #[arg(short, long)]
    pub follow: bool,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}
