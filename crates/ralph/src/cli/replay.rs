//! `ralph replay`.

use clap::Args;

use super::view::ViewArgs;
use crate::settings::values::parse_speed;

/// Play a recorded run, or any recorded output of an agent
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_help = "Examples:
  ralph replay latest
  ralph replay .ralph/logs/claude/20260102T030405.678Z-coder-run.ndjson --speed 4
  ralph replay session.ndjson --output json

In a terminal it plays as recorded, otherwise as fast as possible.")]
pub struct ReplayArgs {
    /// A file, or a run: its id, the first characters of it, or `latest`
    #[arg(value_name = "FILE|RUN")]
    pub source: String,

    /// 2 is twice as fast as recorded, `max` is without any pause
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,

    /// How it is shown.
    #[command(flatten)]
    pub view: ViewArgs,
}
