//! `ralph replay`: plays a run, or the recorded output of an agent, through the pipeline of a live run.

mod author;
mod pace;
mod raw;
mod source;

use std::path::Path;

use anyhow::bail;
use clap::Args;
use ralph_run::{EndReason, Home, RecordStream};

use self::pace::Pace;
use self::source::Recording;
use crate::commands::watch::{self, Leave};
use crate::console::{Console, ConsoleEnd, ConsoleThread, write_stderr};
use crate::settings::values::parse_speed;
use crate::settings::{BackendName, View, ViewArgs, backend_parser};
use run_view::one_line;

/// Replay a run, or the recorded output of an agent
#[derive(Debug, Clone, PartialEq, Args)]
#[command(after_help = "Examples:
  ralph replay latest
  ralph replay .ralph/logs/AGENT/20260102T030405.678Z-coder-run.ndjson
  ralph replay session.ndjson --output json

In a terminal it plays at the recorded speed, otherwise as fast as possible.")]
pub struct ReplayArgs {
    /// A file, a run id or a unique beginning of it, or `latest`
    #[arg(value_name = "FILE|RUN")]
    pub source: String,

    /// Agent that wrote the recording [default: recognised by its first lines]
    #[arg(short, long, value_name = "NAME", value_parser = backend_parser(), hide_possible_values = true)]
    pub backend: Option<BackendName>,

    /// 2 is twice the recorded speed, `max` skips all pauses
    #[arg(long, value_name = "X", value_parser = parse_speed)]
    pub speed: Option<f64>,

    #[command(flatten)]
    pub view: ViewArgs,
}

/// Plays a recording.
pub async fn execute(args: &ReplayArgs, home: &Home, view: &View, cwd: &Path) -> anyhow::Result<u8> {
    let Recording {
        records,
        has_times,
        run,
    } = source::open(args, home, cwd)?;
    let options = watch::options(view, run.as_ref());
    let speed = match args.speed {
        Some(speed) => (speed > 0.0).then_some(speed),
        None => (options.is_terminal && has_times).then_some(1.0),
    };
    let mut pace = Pace::new(speed, has_times);
    let clock = pace.clock();
    let mut leave = Leave::listen()?;
    let (sender, stream) = RecordStream::paced();
    let console = Console::on_stdio(options).with_clock(move || clock.now());
    let mut console = ConsoleThread::start(console, stream, None)?;
    let mut shown = 0_u64;
    for record in records {
        let record = match record {
            Ok(record) => record,
            Err(damage) => {
                write_stderr(&format!("ralph: {}\n", one_line(&damage, 500)));
                continue;
            }
        };
        let sent = async {
            pace.begin(&record);
            while pace.pause().await {}
            sender.send(record).await
        };
        tokio::select! {
            biased;
            code = leave.asked() => {
                watch::stop(console).await;
                return Ok(code);
            }
            // Nothing reads the output any more: the end is noticed below.
            is_sent = sent => if !is_sent { break },
            end = console.finished() => return Ok(exit_code(end)),
        }
        shown += 1;
    }
    drop(sender);
    let code = tokio::select! {
        biased;
        code = leave.asked() => {
            watch::stop(console).await;
            return Ok(code);
        }
        end = console.finished() => exit_code(end),
    };
    if code != 0 {
        return Ok(code);
    }
    if shown == 0 {
        bail!(
            "nothing in `{}` can be played: it is neither a run's journal nor output in the form that ralph reads from \
             this agent",
            one_line(&args.source, 500)
        );
    }
    Ok(0)
}

fn exit_code(end: ConsoleEnd) -> u8 {
    if end.is_closed {
        EndReason::OutputClosed.exit_code()
    } else {
        0
    }
}
