//! `ralph queue`: lists, edits and withdraws messages to an agent.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use anyhow::{anyhow, bail};
use clap::{Args, Subcommand};
use ralph_run::control::{ControlCommand, ControlError, RefusalCode, SendMode};
use ralph_run::model::{Change, Message, MessageState, RunModel};
use ralph_run::{Home, RunDirectory};

use super::listing::{columns, render_table};
use super::run_client;
use super::runs::note_lost;
use super::send::message_text;
use crate::console::{render_json_pretty, write_text};
use run_view::{message_state_word, one_line};

/// List, edit or withdraw messages to an agent
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  ralph queue latest
  ralph queue g4k7m2 --json
  ralph queue edit latest 3fd2 \"Update the README and the changelog\"
  ralph queue withdraw latest 3fd2

States: queued, sent (written to the agent), delivered (confirmed by the agent),
withdrawn, lost (the agent ended first). Only a queued message can be edited or
withdrawn."
)]
pub struct QueueArgs {
    /// Run id or a unique beginning of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// Print JSON, with the full text
    #[arg(long)]
    pub json: bool,

    #[command(subcommand)]
    pub command: Option<QueueCommand>,
}

#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum QueueCommand {
    /// Replace the text of a queued message
    Edit(QueueEditArgs),
    /// Withdraw a queued message
    Withdraw(QueueWithdrawArgs),
}

/// Replace the text of a queued message
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph queue edit latest 3fd2 \"Update the README and the changelog\"
  git diff | ralph queue edit g4k7m2 3fd2 -")]
pub struct QueueEditArgs {
    /// Run id or a unique beginning of it, or `latest`
    pub run: String,

    /// Message id or a unique beginning of it
    pub id: String,

    /// The new text; `-` reads it from stdin
    pub text: String,
}

/// Withdraw a queued message
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph queue withdraw latest 3fd2")]
pub struct QueueWithdrawArgs {
    /// Run id or a unique beginning of it, or `latest`
    pub run: String,

    /// Message id or a unique beginning of it
    pub id: String,
}

const HEAD: [&str; 4] = ["MESSAGE", "MODE", "STATE", "TEXT"];

/// How many messages an error names, and how much of each.
const NAMED: usize = 10;
const NAMED_COLUMNS: usize = 40;

/// How much of a typed id a message repeats.
const ID_COLUMNS: usize = 160;

/// Lists the messages of a run, or changes one.
pub async fn execute(
    args: QueueArgs,
    home: &Home,
    input: impl Read,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    match args.command {
        None => {
            // Messages that waited for a run whose runner died are lost, and are listed as such.
            note_lost(home)?;
            let run = run_client::find_live(home, &args.run)?;
            let messages = messages(&run)?;
            write_text(
                out,
                &if args.json {
                    render_json_pretty(&messages)?
                } else if messages.is_empty() {
                    format!("run {} has no messages\n", run.id())
                } else {
                    render_messages(&messages, columns())
                },
            );
        }
        Some(QueueCommand::Edit(edit)) => {
            let run = run_client::find_to_control(home, &edit.run)?;
            let text = message_text(edit.text, input)?;
            let id = change(&run, &edit.id, |message_id| ControlCommand::EditMessage {
                message_id,
                text,
            });
            write_text(
                out,
                &format!("edited message {} of run {}\n", id.await?, run.id()),
            );
        }
        Some(QueueCommand::Withdraw(withdraw)) => {
            let run = run_client::find_to_control(home, &withdraw.run)?;
            let id = change(&run, &withdraw.id, |message_id| ControlCommand::WithdrawMessage {
                message_id,
            });
            write_text(
                out,
                &format!("withdrew message {} of run {}\n", id.await?, run.id()),
            );
        }
    }
    Ok(0)
}

/// Has the runner change a message. Gives the message's id.
async fn change(
    run: &RunDirectory,
    asked: &str,
    command: impl FnOnce(String) -> ControlCommand,
) -> anyhow::Result<String> {
    // First, so that a run that has ended is reported as such.
    let mut client = run_client::connect(run).await?;
    let id = choose(&messages(run)?, asked, run.id())?;
    match client.request(command(id.clone())).await {
        Ok(_) => Ok(one_line(&id, ID_COLUMNS)),
        Err(ControlError::Refused(refusal)) if refusal.code == RefusalCode::NoSuchMessage => {
            Err(no_such_message(&messages(run)?, asked, run.id()))
        }
        Err(error) => Err(run_client::explain(run, error)),
    }
}

/// The messages of a run, oldest first, from its journal.
fn messages(run: &RunDirectory) -> anyhow::Result<Vec<Message>> {
    let mut model = RunModel::summary_only();
    let mut messages = BTreeMap::new();
    for record in run_client::records(run)? {
        for change in model.apply(&record) {
            if let Change::Message(message) = change {
                messages.insert(message.seq, message);
            }
        }
    }
    Ok(messages.into_values().collect())
}

/// The message with this id or prefix. Whether it can still be changed is for the runner to say.
fn choose(messages: &[Message], asked: &str, run: &str) -> anyhow::Result<String> {
    if let Some(exact) = messages.iter().find(|message| message.id == asked) {
        return Ok(exact.id.clone());
    }
    let meant = |message: &&Message| !asked.is_empty() && message.id.starts_with(asked);
    let waiting: Vec<&Message> = waiting(messages).filter(meant).collect();
    match waiting.as_slice() {
        [message] => Ok(message.id.clone()),
        [] => messages
            .iter()
            .rfind(meant)
            .map(|message| message.id.clone())
            .ok_or_else(|| no_such_message(messages, asked, run)),
        several => bail!(
            "several messages of run {run} begin with `{}`; choose one of {}",
            one_line(asked, ID_COLUMNS),
            name(several)
        ),
    }
}

fn no_such_message(messages: &[Message], asked: &str, run: &str) -> anyhow::Error {
    let waiting: Vec<&Message> = waiting(messages).collect();
    let others = if waiting.is_empty() {
        "no messages are queued".to_owned()
    } else {
        format!("queued messages: {}", name(&waiting))
    };
    let asked = one_line(asked, ID_COLUMNS);
    anyhow!("run {run} has no message `{asked}`, or it was withdrawn; {others}")
}

fn waiting(messages: &[Message]) -> impl Iterator<Item = &Message> {
    let waits = |message: &&Message| message.state == MessageState::Queued;
    messages.iter().filter(waits)
}

fn name(messages: &[&Message]) -> String {
    let named = messages.iter().take(NAMED).map(|message| {
        let text = one_line(&first_line(&message.text), NAMED_COLUMNS);
        format!("{} ({text})", one_line(&message.id, ID_COLUMNS))
    });
    let mut names = named.collect::<Vec<_>>().join(", ");
    if messages.len() > NAMED {
        names.push_str(&format!(" and {} more", messages.len() - NAMED));
    }
    names
}

fn render_messages(messages: &[Message], columns: usize) -> String {
    let row = |message: &Message| {
        [
            message.id.clone(),
            mode(message.mode).to_owned(),
            message_state_word(message.state).to_owned(),
            first_line(&message.text),
        ]
    };
    let rows: Vec<[String; HEAD.len()]> = messages.iter().map(row).collect();
    render_table(HEAD, &rows, columns)
}

fn mode(mode: SendMode) -> &'static str {
    match mode {
        SendMode::Steer => "steer",
        SendMode::Queue => "queue",
    }
}

/// The first line of a text, and whether there are more.
fn first_line(text: &str) -> String {
    let mut lines = text.trim().lines();
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(_) => format!("{} …", first.trim_end()),
        None => first.to_owned(),
    }
}
