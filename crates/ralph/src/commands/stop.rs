//! `ralph stop`: end a run, and everything its agent started.

use std::future::Future;
use std::io::{self, IsTerminal as _};
use std::time::Duration;

use anyhow::bail;
use jiff::Timestamp;
use ralph_run::control::ControlCommand;
use ralph_run::{Home, RunDirectory, RunFile};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval_at, sleep, timeout_at};

use super::reach;
use crate::cli::StopArgs;
use crate::console::{Direct, Port};

/// How often the run's file is looked at when the runner has hung up.
const LOOK: Duration = Duration::from_millis(10);

/// How long a runner may take to end the run: the stop ladder, and a slow disk.
const END_LIMIT: Duration = Duration::from_secs(60);

/// How long it may take to leave when the run is over.
const EXIT_LIMIT: Duration = Duration::from_secs(3);

const SECOND: Duration = Duration::from_secs(1);

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
    let mut stderr = Direct::new(io::stderr());
    let is_watched = io::stderr().is_terminal();
    execute_with(
        stop,
        home,
        out,
        is_watched.then_some(&mut stderr as &mut dyn Port),
    )
    .await
}

/// The same; how long it takes is told in `progress`, where somebody can see it.
///
/// # Errors
/// When there is no such run, or it does not end.
pub async fn execute_with(
    stop: Stop,
    home: &Home,
    out: &mut dyn Port,
    progress: Option<&mut dyn Port>,
) -> anyhow::Result<u8> {
    let mut progress = Progress::new(progress);
    match &stop.target {
        Target::Run(asked) => {
            let run = reach::find(home, asked)?;
            let waiting = format!("waiting for run {} to end", run.id());
            let told = progress.during(&waiting, stop_one(&run, stop.wait)).await?;
            out.send(&format!("{told}\n"));
            Ok(0)
        }
        Target::All => stop_all(home, stop.wait, out, &mut progress).await,
    }
}

async fn stop_all(
    home: &Home,
    wait: Wait,
    out: &mut dyn Port,
    progress: &mut Progress<'_>,
) -> anyhow::Result<u8> {
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
    loop {
        let waiting = match stops.len() {
            1 => "waiting for 1 run to end".to_owned(),
            left => format!("waiting for {left} runs to end"),
        };
        let Some(stopped) = progress.during(&waiting, stops.join_next()).await else {
            return Ok(exit_code);
        };
        match stopped? {
            Ok(told) => out.send(&format!("{told}\n")),
            Err(error) => {
                exit_code = 1;
                out.send(&format!("not stopped: {error:#}\n"));
            }
        }
    }
}

/// One line that says what is waited for, while it takes longer than a moment.
struct Progress<'a> {
    port: Option<&'a mut dyn Port>,
    begun: Instant,
}

impl<'a> Progress<'a> {
    fn new(port: Option<&'a mut dyn Port>) -> Self {
        Self {
            port,
            begun: Instant::now(),
        }
    }

    async fn during<T>(&mut self, what: &str, work: impl Future<Output = T>) -> T {
        let Some(port) = self.port.as_deref_mut() else {
            return work.await;
        };
        let mut work = std::pin::pin!(work);
        let mut second = interval_at(Instant::now() + SECOND, SECOND);
        let mut is_shown = false;
        loop {
            tokio::select! {
                biased;
                done = &mut work => {
                    if is_shown {
                        port.send("\r\u{1b}[K");
                    }
                    return done;
                }
                _ = second.tick() => {
                    is_shown = true;
                    port.send(&format!("\r\u{1b}[K{what} ({}s)", self.begun.elapsed().as_secs()));
                }
            }
        }
    }
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
            let deadline = Instant::now() + END_LIMIT;
            // One that never hangs up is found below.
            let _ = timeout_at(deadline, client.closed()).await;
            let file = wait_for_end(run, deadline).await?;
            wait_for_exit(&file).await;
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
async fn wait_for_end(run: &RunDirectory, deadline: Instant) -> anyhow::Result<RunFile> {
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

/// The run is over; its runner gives back its locks and leaves, so that the next run can begin. One that does not is not
/// waited for: its last words may wait for a reader.
async fn wait_for_exit(file: &RunFile) {
    let deadline = Instant::now() + EXIT_LIMIT;
    while file.runner.is_alive() && Instant::now() < deadline {
        sleep(LOOK).await;
    }
}
