//! `ralph stop`: end a run, and everything its agent started.

use std::time::Duration;

use anyhow::bail;
use jiff::Timestamp;
use ralph_run::control::ControlCommand;
use ralph_run::{Home, RunDirectory, RunFile};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::reach;
use crate::cli::StopArgs;
use crate::console::Port;

/// How often the run's file is looked at when the runner has hung up.
const LOOK: Duration = Duration::from_millis(20);

/// How long a runner may take between hanging up and the end of the run: the stop ladder, and a slow disk.
const END_LIMIT: Duration = Duration::from_secs(60);

/// What to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Which.
    pub target: Target,
    /// Whether to wait until it is over.
    pub wait: Wait,
}

/// Which run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The one that is named by its id, the start of it, or `latest`.
    Run(String),
    /// Every one that is not over.
    All,
}

/// Whether to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Until the run is over.
    UntilEnded,
    /// Only until the runner has taken the command.
    No,
}

impl From<StopArgs> for Stop {
    fn from(args: StopArgs) -> Self {
        Self {
            // Without a name, `--all` was given: nothing else can be typed.
            target: args.run.map_or(Target::All, Target::Run),
            wait: if args.no_wait { Wait::No } else { Wait::UntilEnded },
        }
    }
}

/// Stops what is asked for and says what came of it. One that has ended already is as good as stopped.
///
/// # Errors
/// When there is no such run, or it does not end.
pub async fn execute(stop: Stop, home: &Home, out: &mut dyn Port) -> anyhow::Result<u8> {
    match &stop.target {
        Target::Run(asked) => {
            let run = reach::find(home, asked)?;
            let told = stop_one(&run, stop.wait).await?;
            out.send(&format!("{told}\n"));
            Ok(0)
        }
        Target::All => stop_all(home, stop.wait, out).await,
    }
}

async fn stop_all(home: &Home, wait: Wait, out: &mut dyn Port) -> anyhow::Result<u8> {
    let mut stops = JoinSet::new();
    for run in home.list()? {
        // What cannot be read has no runner, and what is lost has none either.
        let is_live = reach::load(&run).is_ok_and(|file| !file.is_ended() && !reach::is_lost(&file));
        if is_live {
            stops.spawn(async move { stop_one(&run, wait).await });
        }
    }
    if stops.is_empty() {
        out.send("no run is going on\n");
    }
    let mut exit_code = 0;
    while let Some(stopped) = stops.join_next().await {
        match stopped? {
            Ok(told) => out.send(&format!("{told}\n")),
            Err(error) => {
                exit_code = 1;
                out.send(&format!("not stopped: {error:#}\n"));
            }
        }
    }
    Ok(exit_code)
}

/// Stops one run, and says what came of it.
async fn stop_one(run: &RunDirectory, wait: Wait) -> anyhow::Result<String> {
    let id = run.id();
    let mut client = match reach::connect(run).await {
        Ok(client) => client,
        Err(error) => return ended_already(run).ok_or(error),
    };
    if let Err(error) = reach::request(&mut client, run, ControlCommand::Stop).await {
        return ended_already(run).ok_or(error);
    }
    match wait {
        Wait::No => Ok(format!("stopping run {id}")),
        Wait::UntilEnded => {
            client.closed().await;
            let file = wait_for_end(run).await?;
            let reason = file.reason.map_or("nobody knows why", |reason| reason.describe());
            Ok(format!("run {id} has ended: {reason}"))
        }
    }
}

fn ended_already(run: &RunDirectory) -> Option<String> {
    let file = reach::load(run).ok().filter(RunFile::is_ended)?;
    reach::describe_absence(&file, file.runner.liveness(), Timestamp::now())
}

/// The runner has hung up. Its last deed is to write down that the run is over.
async fn wait_for_end(run: &RunDirectory) -> anyhow::Result<RunFile> {
    let deadline = Instant::now() + END_LIMIT;
    loop {
        // Asked before the file is read: who is gone then has written all that he will.
        let is_gone = reach::load(run).is_ok_and(|file| reach::is_lost(&file));
        let file = reach::load(run)?;
        if file.is_ended() {
            return Ok(file);
        }
        if is_gone {
            bail!(
                "the runner of run {} died while it was stopped; `ralph runs` will note it",
                run.id()
            );
        }
        if Instant::now() > deadline {
            bail!(
                "run {} does not end: its runner is process {}",
                run.id(),
                file.runner.pid
            );
        }
        sleep(LOOK).await;
    }
}
