//! `ralph send`: sends a message to a running agent.

use std::io::{Read, Write};

use anyhow::{Context as _, bail};
use clap::Args;
use ralph_run::Home;
use ralph_run::control::{ControlCommand, MAX_LINE_BYTES, SendMode};

use super::run::find_secret;
use super::run_client;
use crate::console::{write_stderr, write_text};
use run_view::one_line;

/// Send a message to a running agent
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph send latest \"The tests are in tests/, not in src/\"
  ralph send g4k7m2 --queue \"Then update the README\"
  git diff | ralph send latest -")]
pub struct SendArgs {
    /// Run id or a unique beginning of it, or `latest`
    pub run: String,

    /// The message; `-` reads it from stdin
    pub text: String,

    /// Deliver it during the agent's turn, as soon as possible (the default)
    #[arg(long, conflicts_with = "queue")]
    pub steer: bool,

    /// Deliver it after the agent's turn
    #[arg(long)]
    pub queue: bool,
}

/// Sends the message and prints the result.
pub async fn execute(
    args: SendArgs,
    home: &Home,
    input: impl Read,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    let run = run_client::find_to_control(home, &args.run)?;
    let text = message_text(args.text, input)?;
    // `--steer` is the default.
    let mode = if args.queue {
        SendMode::Queue
    } else {
        SendMode::Steer
    };
    if let Some(found) = find_secret(&text, std::iter::empty(), &[]) {
        write_stderr(&format!(
            "ralph: warning: the message contains {found}; the agent receives it\n"
        ));
    }
    let receipt = run_client::ask(&run, ControlCommand::Send { text, mode }).await?;
    let how = match mode {
        SendMode::Steer => "sent",
        SendMode::Queue => "queued",
    };
    let note = receipt.note.map(|note| format!(": {}", one_line(&note, 200)));
    write_text(
        out,
        &format!("{how} to run {}{}\n", run.id(), note.unwrap_or_default()),
    );
    Ok(0)
}

/// What was typed, or for `-` what comes from the input.
pub(super) fn message_text(typed: String, input: impl Read) -> anyhow::Result<String> {
    let text = match typed.as_str() {
        "-" => read_message(input)?,
        _ => typed,
    };
    if text.trim().is_empty() {
        bail!("an empty message: say something");
    }
    Ok(text)
}

/// As much as can be sent; one byte more shows that there is too much.
fn read_message(input: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    input
        .take(MAX_LINE_BYTES as u64 + 1)
        .read_to_string(&mut text)
        .context("cannot read the message from stdin")?;
    if text.len() > MAX_LINE_BYTES {
        bail!("the message is too long: at most {MAX_LINE_BYTES} bytes can be sent");
    }
    Ok(text)
}
