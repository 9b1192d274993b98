//! `ralph attach`: watch a run from another terminal.

use std::future::Future;
use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use ralph_run::{EndReason, Home, JournalFollower, RunBody, RunDirectory, RunEvent, Sink};
use tokio::time::{MissedTickBehavior, interval};

use super::reach;
use crate::cli::AttachArgs;
use crate::console::Port;

/// How often a status line can be drawn anew.
const FRAME: Duration = Duration::from_millis(100);

/// How often it is checked whether the runner is still there: a dead one writes nothing any more.
const LOOK: Duration = Duration::from_secs(1);

/// What to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attach {
    /// The run: its id, the start of it, or `latest`.
    pub run: String,
    /// The first record to show; the journal begins with 1.
    pub from: u64,
}

impl From<&AttachArgs> for Attach {
    fn from(args: &AttachArgs) -> Self {
        Self {
            run: args.run.clone(),
            from: args.from,
        }
    }
}

/// Shows a run in `sink` until it is over or `leave` resolves. The run does not notice either. Gives the exit code of
/// the run; 0 when it goes on. What is wrong with the journal is said in `notes`.
///
/// # Errors
/// When there is no such run, or its runner died.
pub async fn execute(
    attach: Attach,
    home: &Home,
    sink: &mut dyn Sink,
    leave: impl Future<Output = ()>,
    notes: &mut dyn Port,
) -> anyhow::Result<u8> {
    let run = reach::find(home, &attach.run)?;
    let mut journal = JournalFollower::open(&run.journal(), attach.from)
        .with_context(|| format!("run {} has no journal yet", run.id()))?;
    let mut frame = ticker(FRAME);
    let mut look = ticker(LOOK);
    tokio::pin!(leave);
    loop {
        let next = tokio::select! {
            biased;
            () = &mut leave => {
                notes.send(&format!("left run {}, which goes on; `ralph stop {0}` ends it\n", run.id()));
                return Ok(0);
            }
            _ = frame.tick() => {
                sink.tick();
                if sink.is_closed() {
                    return Ok(EndReason::OutputClosed.exit_code());
                }
                continue;
            }
            _ = look.tick() => {
                if reach::load(&run).is_ok_and(|file| file.is_ended() || reach::is_lost(&file)) {
                    journal.stop_at_end();
                }
                continue;
            }
            next = journal.next() => next,
        };
        match next {
            Some(Ok(record)) => {
                if let RunEvent::Agent(event) = &record.event {
                    sink.live(event);
                }
                sink.record(&record);
                if let RunEvent::Run(RunBody::RunEnded(ended)) = &record.event {
                    return Ok(ended.exit_code);
                }
            }
            Some(Err(damage)) => notes.send(&format!("the journal of run {}: {damage}\n", run.id())),
            None => return ended_silently(&run),
        }
        // A long journal is always ready to be read: without this, nobody would notice that somebody wants to leave.
        tokio::task::consume_budget().await;
    }
}

/// The journal is over without a last record.
fn ended_silently(run: &RunDirectory) -> anyhow::Result<u8> {
    let file = reach::load(run)?;
    if file.is_ended() {
        return Ok(file.exit_code.unwrap_or(EndReason::Lost.exit_code()));
    }
    match reach::describe_absence(&file, file.runner.liveness(), Timestamp::now()) {
        Some(why) => anyhow::bail!(why),
        None => anyhow::bail!("the journal of run {} cannot be read to its end", run.id()),
    }
}

fn ticker(period: Duration) -> tokio::time::Interval {
    let mut ticker = interval(period);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticker
}
