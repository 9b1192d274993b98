//! `ralph send`: say something to a running agent.

use std::io::Read;

use anyhow::{Context as _, bail};
use ralph_run::Home;
use ralph_run::control::{ControlCommand, MAX_LINE_BYTES, SendMode};

use super::reach;
use crate::cli::SendArgs;
use crate::console::{Port, one_line};

/// What to send, and to whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Send {
    /// The run: its id, the start of it, or `latest`.
    pub run: String,
    /// The message; `-` reads it from the input.
    pub text: String,
    /// When the agent is to see it.
    pub mode: SendMode,
}

impl From<SendArgs> for Send {
    fn from(args: SendArgs) -> Self {
        Self {
            run: args.run,
            text: args.text,
            // `--steer` says what holds anyway.
            mode: if args.queue {
                SendMode::Queue
            } else {
                SendMode::Steer
            },
        }
    }
}

/// Sends it and says so.
///
/// # Errors
/// When there is no such run, it has ended, or it takes no messages.
pub async fn execute(send: Send, home: &Home, input: impl Read, out: &mut dyn Port) -> anyhow::Result<u8> {
    let run = reach::find(home, &send.run)?;
    let text = message_text(send.text, input)?;
    let mode = send.mode;
    let receipt = reach::ask(&run, ControlCommand::Send { text, mode }).await?;
    let how = match mode {
        SendMode::Steer => "sent",
        SendMode::Queue => "queued",
    };
    let note = receipt.note.map(|note| format!(": {}", one_line(&note, 200)));
    out.send(&format!(
        "{how} to run {}{}\n",
        run.id(),
        note.unwrap_or_default()
    ));
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
