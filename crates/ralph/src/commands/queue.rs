//! `ralph queue`: the messages to an agent, and what becomes of them.

use std::fs::File;
use std::io::{self, Read};

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use json_lines::{Framed, LineFramer};
use ralph_run::control::{ControlCommand, ControlError, RefusalCode};
use ralph_run::{Home, RunDirectory};
use ralph_store::{MessageRow, MessageState, RunFold};
use serde::Serialize;

use super::listing::{columns, render_table};
use super::run_client;
use super::runs::note_lost;
use super::send::message_text;
use crate::console::{Port, one_line, render_json_pretty};

/// List the messages to an agent, change them or take them back
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

States: queued, sent (the agent was given it), delivered (it says that it has it), withdrawn, lost (the
agent ended first). Only a queued message can be changed or taken back."
)]
pub struct QueueArgs {
    /// The run: its id, the first characters of its short part, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// As JSON, with the whole text
    #[arg(long)]
    pub json: bool,

    /// What to do with a message; without it they are listed.
    #[command(subcommand)]
    pub command: Option<QueueCommand>,
}

/// What to do with a message.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub enum QueueCommand {
    /// Replace the text of a message that the agent was not given yet
    Edit(QueueEditArgs),
    /// Take back a message that the agent was not given yet
    Withdraw(QueueWithdrawArgs),
}

/// Replace the text of a message that the agent was not given yet
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph queue edit latest 3fd2 \"Update the README and the changelog\"
  git diff | ralph queue edit g4k7m2 3fd2 -")]
pub struct QueueEditArgs {
    /// The run: its id, the first characters of its short part, or `latest`
    pub run: String,

    /// The message: its id, or the first characters of it
    pub id: String,

    /// What it says from now on; `-` reads it from stdin
    pub text: String,
}

/// Take back a message that the agent was not given yet
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph queue withdraw latest 3fd2")]
pub struct QueueWithdrawArgs {
    /// The run: its id, the first characters of its short part, or `latest`
    pub run: String,

    /// The message: its id, or the first characters of it
    pub id: String,
}

const HEAD: [&str; 4] = ["MESSAGE", "MODE", "STATE", "TEXT"];

/// As the journal's own readers: what is longer is no record.
const MAX_RECORD_BYTES: usize = 64 << 20;
const CHUNK_BYTES: usize = 1 << 20;

/// How many messages an error names, and how much of each.
const NAMED: usize = 10;
const NAMED_COLUMNS: usize = 40;

/// How much of an id that somebody typed is repeated.
const ID_COLUMNS: usize = 160;

/// Lists the messages of a run, or changes one.
///
/// # Errors
/// When there is no such run or message, the run has ended, or the agent was given the message already.
pub async fn execute(
    args: QueueArgs,
    home: &Home,
    input: impl Read,
    out: &mut dyn Port,
) -> anyhow::Result<u8> {
    match args.command {
        None => {
            // Messages that waited for a run whose runner died are lost, and are listed as such.
            note_lost(home)?;
            let run = run_client::find_live(home, &args.run)?;
            let messages = messages(&run)?;
            out.send(&if args.json {
                render_messages_json(&messages)?
            } else if messages.is_empty() {
                format!("run {} has no messages\n", run.id())
            } else {
                render_messages(&messages, columns())
            });
        }
        Some(QueueCommand::Edit(edit)) => {
            let run = run_client::find_to_control(home, &edit.run)?;
            let text = message_text(edit.text, input)?;
            let id = change(&run, &edit.id, |message_id| ControlCommand::EditMessage {
                message_id,
                text,
            });
            out.send(&format!("changed message {} of run {}\n", id.await?, run.id()));
        }
        Some(QueueCommand::Withdraw(withdraw)) => {
            let run = run_client::find_to_control(home, &withdraw.run)?;
            let id = change(&run, &withdraw.id, |message_id| ControlCommand::WithdrawMessage {
                message_id,
            });
            out.send(&format!("withdrew message {} of run {}\n", id.await?, run.id()));
        }
    }
    Ok(0)
}

/// Has the runner change a message, and says which one it was.
async fn change(
    run: &RunDirectory,
    asked: &str,
    command: impl FnOnce(String) -> ControlCommand,
) -> anyhow::Result<String> {
    // First of all, so that of a run that has ended nobody is told which messages wait.
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

/// The messages of a run, in the order they came, from its journal.
fn messages(run: &RunDirectory) -> anyhow::Result<Vec<MessageRow>> {
    let fail = || format!("run {} has no journal yet", run.id());
    let mut journal = File::open(run.journal()).with_context(fail)?;
    let mut fold = RunFold::named(run.id()).without_rows();
    let mut framer = LineFramer::new(MAX_RECORD_BYTES);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = match journal.read(&mut chunk) {
            // A last line without an end is not there yet.
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read the journal of run {}", run.id()));
            }
        };
        framer.push(chunk.get(..read).unwrap_or_default().to_vec().into());
        while let Some(framed) = framer.next_line() {
            // What is damaged is not this command's business: `ralph logs` tells.
            if let Framed::Line(line) = framed {
                fold.push(&line.bytes);
            }
        }
    }
    let mut messages = fold.take().map(|batch| batch.messages).unwrap_or_default();
    messages.sort_by_key(|message| message.seq);
    Ok(messages)
}

/// The message that is meant. Whether it can still be changed is for the runner to say.
fn choose(messages: &[MessageRow], asked: &str, run: &str) -> anyhow::Result<String> {
    if let Some(exact) = messages.iter().find(|message| message.id == asked) {
        return Ok(exact.id.clone());
    }
    let meant = |message: &&MessageRow| !asked.is_empty() && message.id.starts_with(asked);
    let waiting: Vec<&MessageRow> = waiting(messages).filter(meant).collect();
    match waiting.as_slice() {
        [message] => Ok(message.id.clone()),
        [] => messages
            .iter()
            .rfind(meant)
            .map(|message| message.id.clone())
            .ok_or_else(|| no_such_message(messages, asked, run)),
        several => bail!(
            "several messages of run {run} begin with `{}`, say which: {}",
            one_line(asked, ID_COLUMNS),
            name(several)
        ),
    }
}

fn no_such_message(messages: &[MessageRow], asked: &str, run: &str) -> anyhow::Error {
    let waiting: Vec<&MessageRow> = waiting(messages).collect();
    let others = if waiting.is_empty() {
        "none waits".to_owned()
    } else {
        format!("those that wait are {}", name(&waiting))
    };
    let asked = one_line(asked, ID_COLUMNS);
    anyhow!("run {run} has no message `{asked}`, or it was taken back; {others}")
}

fn waiting(messages: &[MessageRow]) -> impl Iterator<Item = &MessageRow> {
    let waits = |message: &&MessageRow| message.state == MessageState::Queued;
    messages.iter().filter(waits)
}

fn name(messages: &[&MessageRow]) -> String {
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

fn render_messages(messages: &[MessageRow], columns: usize) -> String {
    let row = |message: &MessageRow| {
        [
            message.id.clone(),
            message.mode.clone(),
            describe(message.state).to_owned(),
            first_line(&message.text),
        ]
    };
    let rows: Vec<[String; HEAD.len()]> = messages.iter().map(row).collect();
    render_table(HEAD, &rows, columns)
}

fn describe(state: MessageState) -> &'static str {
    match state {
        MessageState::Queued => "queued",
        MessageState::Sent => "sent",
        MessageState::Delivered => "delivered",
        MessageState::Withdrawn => "withdrawn",
        MessageState::Lost => "lost",
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

/// A message as the server's API tells it.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    id: &'a str,
    command_id: &'a str,
    seq: u64,
    at: Timestamp,
    mode: &'a str,
    text: &'a str,
    state: MessageState,
}

fn render_messages_json(messages: &[MessageRow]) -> serde_json::Result<String> {
    let listed = messages.iter().map(|message| Listed {
        id: &message.id,
        command_id: &message.command_id,
        seq: message.seq,
        at: message.at,
        mode: &message.mode,
        text: &message.text,
        state: message.state,
    });
    render_json_pretty(&listed.collect::<Vec<_>>())
}
