//! `ralph top-up`: raises the limits of a running run.

use std::io::Write;
use std::time::Duration;

use agent_api::MicroUsd;
use clap::{ArgGroup, Args};
use ralph_run::Home;
use ralph_run::control::{ControlCommand, TopUp};

use super::run_client;
use crate::console::write_text;
use crate::settings::values::{parse_count, parse_duration, parse_money, parse_tokens};
use run_view::one_line;

/// Raise the limits of a run; one that waits for that continues
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    group = ArgGroup::new("amount").required(true).multiple(true).args(["cost", "tokens", "iterations", "time"]),
    override_usage = "ralph top-up <RUN> [OPTIONS]",
    after_help = "Examples:
  ralph top-up latest --cost 5
  ralph top-up g4k7m2 --iterations 10 --time 1h
  ralph top-up latest --tokens 100k"
)]
pub struct TopUpArgs {
    /// Run id or a unique beginning of it, or `latest`
    pub run: String,

    /// Dollars to add to the cost limit
    #[arg(long, value_name = "USD", value_parser = parse_money)]
    pub cost: Option<MicroUsd>,

    /// Tokens to add to the token limit
    #[arg(long, value_name = "N", value_parser = parse_tokens)]
    pub tokens: Option<u64>,

    /// Iterations to add to the iteration limit
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub iterations: Option<u32>,

    /// Time to add to the time limit, such as 30m
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub time: Option<Duration>,
}

/// Raises the limits and prints what they are now.
pub async fn execute(args: &TopUpArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let run = run_client::find_to_control(home, &args.run)?;
    let amounts = TopUp {
        cost: args.cost,
        tokens: args.tokens,
        iterations: args.iterations,
        seconds: args.time.map(|time| time.as_secs()),
    };
    let receipt = run_client::ask(&run, ControlCommand::TopUp(amounts)).await?;
    let note = receipt.note.map(|note| format!(": {}", one_line(&note, 200)));
    write_text(
        out,
        &format!(
            "raised the limits of run {}{}\n",
            run.id(),
            note.unwrap_or_default()
        ),
    );
    Ok(0)
}
