//! What `ralph replay` does.

use std::path::Path;

use anyhow::bail;
use ralph_run::{EndReason, Home, Record, RunEvent, Sink as _};

use super::pace::Pace;
use super::source::{self, Recording};
use crate::cli::ReplayArgs;
use crate::commands::screen::{self, Leave, Watched};
use crate::console::{Console, one_line, write_stderr};
use crate::settings::View;

/// Plays a recording.
///
/// # Errors
/// When there is no such recording, or nothing in it can be read.
pub async fn execute(args: &ReplayArgs, home: &Home, view: &View, cwd: &Path) -> anyhow::Result<u8> {
    let Recording {
        records,
        has_times,
        run,
    } = source::open(&args.source, home, cwd)?;
    let options = screen::options(view, run.as_ref());
    let speed = match args.speed {
        Some(speed) => (speed > 0.0).then_some(speed),
        None => (options.is_terminal && has_times).then_some(1.0),
    };
    let mut pace = Pace::new(speed, has_times);
    let clock = pace.clock();
    let mut leave = Leave::listen()?;
    let mut console = Watched(screen::patient(options, &leave).with_clock(move || clock.now()));
    let mut shown = 0_u64;
    for record in records {
        let record = match record {
            Ok(record) => record,
            Err(damage) => {
                write_stderr(&format!("ralph: {}\n", one_line(&damage, 500)));
                continue;
            }
        };
        tokio::select! {
            biased;
            asked = leave.asked() => {
                console.0.finish();
                return Ok(asked);
            }
            () = wait(&mut pace, &record, &mut console) => {}
        }
        show(&record, &mut console.0);
        shown += 1;
        if console.0.is_closed() {
            break;
        }
    }
    console.0.finish();
    if let Some(asked) = leave.is_asked() {
        return Ok(asked);
    }
    if console.0.is_closed() {
        return Ok(EndReason::OutputClosed.exit_code());
    }
    if shown == 0 {
        bail!(
            "`{}` is no recording: neither a run's journal nor the output of an agent that ralph can read",
            one_line(&args.source, 500)
        );
    }
    Ok(0)
}

fn show(record: &Record, console: &mut Console) {
    if let RunEvent::Agent(event) = &record.event {
        console.live(event);
    }
    console.record(record);
}

async fn wait(pace: &mut Pace, record: &Record, console: &mut Watched) {
    pace.begin(record);
    while !console.is_closed() && pace.pause().await {
        console.tick();
    }
    // A long recording is always ready to be read: without this, nobody would notice that somebody wants to leave.
    tokio::task::consume_budget().await;
}
