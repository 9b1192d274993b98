//! `ralph stop`: ends runs, and everything their agents started.

use std::future::Future;
use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use jiff::Timestamp;
use ralph_run::control::{ControlClient, ControlCommand, describe_absence};
use ralph_run::{Home, RunDirectory, RunFile, RunnerSignal};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval_at, sleep, timeout_at};

use super::run_client;
use crate::console::write_text;

/// Stop a run and everything its agent started
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
#[command(after_help = "Examples:
  ralph stop latest
  ralph stop --all")]
pub struct StopArgs {
    /// Run id or a unique beginning of it, or `latest`
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub run: Option<String>,

    /// Every active run
    #[arg(long)]
    pub all: bool,

    /// Do not wait for the run to end
    #[arg(long)]
    pub no_wait: bool,
}

/// How often `run.json` is read after the runner has closed the connection.
const LOOK: Duration = Duration::from_millis(10);

/// How long a runner may take to end the run: the stop ladder, and a slow disk.
const END_LIMIT: Duration = Duration::from_secs(60);

/// How long the runner may take to exit after the run has ended.
const EXIT_LIMIT: Duration = Duration::from_secs(3);

const SECOND: Duration = Duration::from_secs(1);

/// Stops a run or all of them, and prints the results. A run that has ended already counts as stopped.
pub async fn execute(args: &StopArgs, home: &Home, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut stderr = io::stderr();
    let is_watched = stderr.is_terminal();
    execute_with(
        args,
        home,
        out,
        is_watched.then_some(&mut stderr as &mut dyn Write),
    )
    .await
}

/// The same, with a line about the time it takes in `progress`.
pub async fn execute_with(
    args: &StopArgs,
    home: &Home,
    out: &mut dyn Write,
    progress: Option<&mut dyn Write>,
) -> anyhow::Result<u8> {
    let mut progress = Progress::new(progress);
    let wait = if args.no_wait { Wait::No } else { Wait::UntilEnded };
    // Without a name, `--all` was given: clap refuses anything else.
    let Some(asked) = &args.run else {
        return stop_all(home, wait, out, &mut progress).await;
    };
    let run = run_client::find_to_control(home, asked)?;
    let waiting = format!("waiting for run {} to end", run.id());
    let stopped_text = progress.during(&waiting, stop_one(&run, wait)).await?;
    write_text(out, &format!("{stopped_text}\n"));
    Ok(0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    UntilEnded,
    /// Only until the runner has taken the command.
    No,
}

async fn stop_all(
    home: &Home,
    wait: Wait,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
) -> anyhow::Result<u8> {
    let mut stops = JoinSet::new();
    for run in home.list()? {
        // A run that cannot be read or is lost has no runner.
        let is_live = run_client::load(&run).is_ok_and(|file| file.is_live());
        if is_live {
            stops.spawn(async move { stop_one(&run, wait).await });
        }
    }
    if stops.is_empty() {
        write_text(out, "no active runs\n");
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
            Ok(stopped_text) => write_text(out, &format!("{stopped_text}\n")),
            Err(error) => {
                exit_code = 1;
                write_text(out, &format!("not stopped: {error:#}\n"));
            }
        }
    }
}

/// A line that says what the command waits for, once that takes longer than a second.
struct Progress<'a> {
    out: Option<&'a mut dyn Write>,
    begun: Instant,
}

impl<'a> Progress<'a> {
    fn new(out: Option<&'a mut dyn Write>) -> Self {
        Self {
            out,
            begun: Instant::now(),
        }
    }

    async fn during<T>(&mut self, what: &str, work: impl Future<Output = T>) -> T {
        let Some(out) = self.out.as_deref_mut() else {
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
                        write_text(out, "\r\u{1b}[K");
                    }
                    return done;
                }
                _ = second.tick() => {
                    is_shown = true;
                    write_text(out, &format!("\r\u{1b}[K{what} ({}s)", self.begun.elapsed().as_secs()));
                }
            }
        }
    }
}

/// Stops one run. Gives the result in words.
async fn stop_one(run: &RunDirectory, wait: Wait) -> anyhow::Result<String> {
    let id = run.id();
    continue_if_suspended(run);
    let client = match request_stop(run).await {
        Ok(client) => Some(client),
        Err(error) => {
            if let Some(ended) = ended_already(run) {
                return Ok(ended);
            }
            // A runner without a socket, or one that does not answer, still handles signals.
            if !terminate(run) {
                return Err(error);
            }
            None
        }
    };
    match wait {
        Wait::No => Ok(format!("stopping run {id}")),
        Wait::UntilEnded => {
            let deadline = Instant::now() + END_LIMIT;
            if let Some(mut client) = client {
                // A runner that never closes the connection is found below.
                let _ = timeout_at(deadline, client.closed()).await;
            }
            let file = wait_for_end(run, deadline).await?;
            wait_for_exit(&file).await;
            let reason = file.ended_why();
            Ok(format!("run {id} has ended: {reason}"))
        }
    }
}

async fn request_stop(run: &RunDirectory) -> anyhow::Result<ControlClient> {
    let mut client = run_client::connect(run).await?;
    run_client::request(&mut client, run, ControlCommand::Stop).await?;
    Ok(client)
}

/// A runner that was suspended with Ctrl-Z answers only after it continues.
fn continue_if_suspended(run: &RunDirectory) {
    if let Ok(file) = run_client::load(run)
        && !file.is_ended()
        && file.runner.is_stopped()
    {
        // If it is gone by now, the socket shows it.
        let _ = file.runner.signal(RunnerSignal::Continue);
    }
}

/// Sends SIGTERM to the runner. False if it is gone.
fn terminate(run: &RunDirectory) -> bool {
    run_client::load(run).is_ok_and(|file| {
        file.runner.pid != std::process::id() && file.runner.signal(RunnerSignal::Terminate).is_ok()
    })
}

fn ended_already(run: &RunDirectory) -> Option<String> {
    let file = run_client::load(run).ok().filter(RunFile::is_ended)?;
    describe_absence(&file, file.runner.liveness(), Timestamp::now())
}

/// The connection is closed. The last thing that a runner does is to record the end of the run.
async fn wait_for_end(run: &RunDirectory, deadline: Instant) -> anyhow::Result<RunFile> {
    loop {
        // Checked before the file is read: a runner that is gone by now writes nothing more.
        let is_gone = run_client::load(run).is_ok_and(|file| file.is_lost());
        let file = run_client::load(run)?;
        if file.is_ended() {
            return Ok(file);
        }
        if is_gone {
            bail!(
                "the runner of run {} died while it was being stopped; run `ralph runs` to record its end",
                run.id()
            );
        }
        if Instant::now() > deadline {
            bail!(
                "run {} does not end; its runner is process {}",
                run.id(),
                file.runner.pid
            );
        }
        sleep(LOOK).await;
    }
}

/// The run is over; its runner releases its locks and exits, so that the next run can start. The wait is limited,
/// because the runner's output may wait for a reader.
async fn wait_for_exit(file: &RunFile) {
    let deadline = Instant::now() + EXIT_LIMIT;
    while file.runner.is_alive() && Instant::now() < deadline {
        sleep(LOOK).await;
    }
}
