//! `ralph logs`: prints what a run has done.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Write};
use std::time::Duration;

use agent_process::FileFollower;
use anyhow::Context as _;
use clap::Args;
use ralph_run::{EndReason, Home, RecordStream, RunDirectory, open_regular_file};

use super::run_client;
use super::watch::{self, Leave, watch};
use crate::console::{Console, ConsoleThread};
use crate::settings::{View, ViewArgs};
use run_view::Sanitiser;

/// Print what a run has done
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph logs latest
  ralph logs g4k7m2 -f -v
  ralph logs latest --raw | jq .type")]
pub struct LogsArgs {
    /// Run id or a unique beginning of it, or `latest`
    #[arg(default_value = "latest")]
    pub run: String,

    /// Print the agent's own output, byte for byte
    #[arg(long, conflicts_with_all = ["verbose", "quiet", "output"])]
    pub raw: bool,

    /// Follow the run until it ends
    #[arg(short, long)]
    pub follow: bool,

    #[command(flatten)]
    pub view: ViewArgs,
}

const CHUNK_BYTES: usize = 64 * 1024;

/// How often it is checked whether stdout is still open.
const CLOSED_INTERVAL: Duration = Duration::from_millis(100);

/// Shows what a run has done, in plain lines.
pub async fn execute(args: &LogsArgs, home: &Home, view: &View) -> anyhow::Result<u8> {
    let run = run_client::find(home, &args.run)?;
    match (args.raw, args.follow) {
        // There is nothing to clean up, so signals have their default effect, as with `cat`.
        (true, true) => finish(follow_raw(&run).await),
        (true, false) => finish(copy_raw(&run)),
        (false, true) => follow(&run, view).await,
        (false, false) => print(&run, view).await,
    }
}

/// A closed output is not a failure.
fn finish(copied: io::Result<()>) -> anyhow::Result<u8> {
    match copied {
        Ok(()) => Ok(0),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(EndReason::OutputClosed.exit_code()),
        Err(error) => Err(error).context("cannot read the agent's output"),
    }
}

/// Prints the records that exist now.
async fn print(run: &RunDirectory, view: &View) -> anyhow::Result<u8> {
    let mut leave = Leave::listen()?;
    let (guard, stream) = RecordStream::follow(&run.journal(), 1)
        .with_context(|| format!("run {} has no journal yet", run.id()))?;
    // Later records are not waited for.
    drop(guard);
    let mut console = ConsoleThread::start(Console::on_stdio(plain(view, run)), stream, None)?;
    tokio::select! {
        biased;
        code = leave.asked() => {
            watch::stop(console).await;
            Ok(code)
        }
        end = console.finished() => Ok(if end.is_closed {
            EndReason::OutputClosed.exit_code()
        } else {
            0
        }),
    }
}

async fn follow(run: &RunDirectory, view: &View) -> anyhow::Result<u8> {
    let mut leave = Leave::listen()?;
    let console = Console::on_stdio(plain(view, run));
    let watched = watch(run, 1, console, None, leave.asked()).await?;
    // The run's own exit code is not this command's.
    Ok(watched.exit_code(run, |_| 0))
}

/// Without a status line, also in a terminal.
fn plain(view: &View, run: &RunDirectory) -> crate::console::Options {
    let mut options = watch::options(view, Some(run));
    options.is_terminal = false;
    options
}

/// Copies the agent's own output: byte for byte into a pipe or file, sanitised into a terminal.
struct Raw {
    out: io::Stdout,
    sanitiser: Option<(Sanitiser, Vec<u8>)>,
    chunk: Vec<u8>,
}

impl Raw {
    fn new() -> Self {
        let out = io::stdout();
        let is_terminal = out.is_terminal();
        Self {
            sanitiser: is_terminal.then(Default::default),
            out,
            chunk: vec![0; CHUNK_BYTES],
        }
    }

    /// Copies the rest of the file.
    fn copy(&mut self, file: &mut File) -> io::Result<()> {
        loop {
            let read = match file.read(&mut self.chunk) {
                Ok(0) => return self.out.flush(),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let bytes = self.chunk.get(..read).unwrap_or_default();
            match &mut self.sanitiser {
                None => self.out.write_all(bytes)?,
                Some((sanitiser, rest)) => {
                    rest.extend_from_slice(bytes);
                    let mut clean = String::new();
                    sanitiser.push(&take_text(rest), &mut clean);
                    self.out.write_all(clean.as_bytes())?;
                }
            }
        }
    }
}

/// All but a character whose end has not been read yet.
fn take_text(bytes: &mut Vec<u8>) -> String {
    let cut = match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    };
    let rest = bytes.split_off(cut);
    let text = String::from_utf8_lossy(bytes).into_owned();
    *bytes = rest;
    text
}

/// The number of the next process with an output, after the one with this number. One that could not be started has
/// none.
fn next_raw(run: &RunDirectory, after: u32) -> Option<u32> {
    let entries = std::fs::read_dir(run.path().join("raw")).ok()?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let numbers = names.filter_map(|name| name.to_str()?.strip_suffix(".ndjson")?.parse().ok());
    numbers.filter(|number| *number > after).min()
}

fn copy_raw(run: &RunDirectory) -> io::Result<()> {
    let mut raw = Raw::new();
    let mut number = 0;
    while let Some(next) = next_raw(run, number) {
        number = next;
        raw.copy(&mut open_regular_file(&run.raw_log(number))?)?;
    }
    Ok(())
}

/// Resolves when stdout is closed.
async fn stdout_closed() {
    while !crate::current_process::is_stdout_closed() {
        tokio::time::sleep(CLOSED_INTERVAL).await;
    }
}

async fn follow_raw(run: &RunDirectory) -> io::Result<()> {
    let mut raw = Raw::new();
    let mut number = 0;
    let mut current: Option<(File, FileFollower)> = None;
    // The journal changes when a new process starts and when the run ends.
    let journal = FileFollower::open(&run.journal(), 0)?;
    loop {
        // Both checked before the file is read, so that everything written before them is copied.
        let is_over = run_client::load(run).is_ok_and(|file| file.is_ended() || file.is_lost());
        let next = next_raw(run, number);
        if let Some((file, _)) = &mut current {
            raw.copy(file)?;
        }
        if let Some(next) = next {
            number = next;
            let path = run.raw_log(number);
            current = Some((open_regular_file(&path)?, FileFollower::open(&path, 0)?));
            continue;
        }
        if is_over {
            return Ok(());
        }
        let changed = async {
            match &current {
                Some((_, follower)) => tokio::select! {
                    () = follower.changed() => {}
                    () = journal.changed() => {}
                },
                None => journal.changed().await,
            }
        };
        tokio::select! {
            () = changed => {}
            () = stdout_closed() => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::take_text;

    #[test]
    fn a_character_that_is_cut_between_two_reads_stays_whole() {
        let mut bytes = "aé".as_bytes()[..2].to_vec();
        assert_eq!(take_text(&mut bytes), "a");
        bytes.push(0xa9);
        assert_eq!(take_text(&mut bytes), "é");
        bytes.extend_from_slice(b"\xff\xfeb");
        assert_eq!(take_text(&mut bytes), "\u{fffd}\u{fffd}b");
        assert!(bytes.is_empty());
    }
}
