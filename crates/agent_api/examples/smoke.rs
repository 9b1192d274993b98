//! Checks on this machine that a run is live and ends in order. The scripts in `scripts/smoke/` run it.
//!
//! `smoke` uses the demo agent, `smoke PROGRAM` Claude Code under that name or path. Exit code 0: all is well.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::io::{self, Write};
use std::pin::Pin;
use std::process::ExitCode;
use std::task::Poll;
use std::time::Duration;

use agent_api::backends::claude_code::ClaudeCode;
use agent_api::{AgentRegistry, Body, Close, Completion, Input, RunHandle, RunOptions, RunRequest, Severity};
use demo_agent::{Demo, SPEED_EXTENSION};

const PROMPT: &str = "Reply with the single word: ready";
const TIMEOUT: Duration = Duration::from_secs(300);

fn main() -> ExitCode {
    demo_agent::demo_main();
    agent_process::guard_main();
    let checked = match check() {
        Ok(()) => writeln!(io::stdout(), "smoke: all is well").map_err(Into::into),
        Err(error) => Err(error),
    };
    match checked {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If that cannot be written either, the exit code still says it.
            let _ = writeln!(io::stderr(), "smoke: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut options = RunOptions::new();
    options.cwd = Some(folder.path().to_owned());
    options.timeout = Some(TIMEOUT);
    let (backend, registry) = match std::env::args_os().nth(1) {
        Some(program) => {
            options.persistence = Some(agent_api::Persistence::Off);
            (
                "claude_code",
                AgentRegistry::new().with(ClaudeCode::program(program))?,
            )
        }
        None => {
            options
                .extensions
                .insert(SPEED_EXTENSION.to_owned(), "max".into());
            ("demo", AgentRegistry::new().with(Demo::reexec())?)
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        // The agent cannot exit in order before we close its input, so what comes until then came before its exit.
        let request = RunRequest::new(PROMPT)
            .input(Input::Messages(Close::ByCaller))
            .options(options);
        let run = registry.run(backend, request).await?;
        follow(run).await
    })
}

async fn follow(mut run: RunHandle) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout().lock();
    let mut count = 0_u64;
    let mut is_live = false;
    let mut finished = None;
    while let Some(event) = run.events.next().await {
        count += 1;
        if finished.is_some() {
            return Err(format!("`{}` came after the end", event.body.name()).into());
        }
        // Polled once it is there, it could not be awaited again.
        if !matches!(event.body, Body::Finished(_)) && has_resolved(&mut run.completion).await {
            return Err("the completion came before the end of the events".into());
        }
        match event.body {
            Body::TurnFinished(turn) if !is_live => {
                writeln!(
                    out,
                    "smoke: {count} events, then the turn ended: {:?}",
                    turn.outcome
                )?;
                is_live = true;
                run.control.close_input();
            }
            Body::Notice(notice) if notice.severity >= Severity::Warning => {
                writeln!(out, "smoke: {}: {}", notice.code, notice.message)?;
            }
            Body::Finished(end) => finished = Some(*end),
            _ => {}
        }
    }
    let completed = run.completion.await?;
    let finished = finished.ok_or("the events ended without `finished`")?;
    writeln!(
        out,
        "smoke: {count} events in all, {:?} after {} ms",
        finished.outcome, finished.duration_ms
    )?;
    match finished.error {
        Some(error) => Err(format!("the run failed: {}: {}", error.code, error.message).into()),
        None if !is_live => Err("no turn ended before the agent's exit".into()),
        None if completed.finished.outcome != finished.outcome => Err("two different ends".into()),
        None if !completed.is_success() => Err("the run did not succeed".into()),
        None => Ok(()),
    }
}

async fn has_resolved(completion: &mut Completion) -> bool {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *completion).poll(context).is_ready())).await
}
