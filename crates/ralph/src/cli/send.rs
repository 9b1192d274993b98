//! `ralph send`.

use clap::Args;

/// Send a message to a running agent
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph send latest \"The tests are in tests/, not in src/\"
  ralph send 0198c3 --queue \"Then update the README\"
  git diff | ralph send latest -")]
pub struct SendArgs {
    /// The run: its id, the first characters of it, or `latest`
    pub run: String,

    /// The message; `-` reads it from stdin
    pub text: String,

    /// The agent reads it as soon as it can, in the middle of its turn (this is the default)
    #[arg(long, conflicts_with = "queue")]
    pub steer: bool,

    /// The agent reads it when its turn is over
    #[arg(long)]
    pub queue: bool,
}
