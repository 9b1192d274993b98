//! `start`: spawns an agent and hands it to its loop.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use agent_process::{Process, SpawnError, SpawnSpec, StderrMode, clock};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::callbacks::Callbacks;
use super::completion::Completion;
use super::deadlines::{Deadlines, TimeLimits};
use super::driver::{Driver, Progress};
use super::events::{Events, event_stream};
use super::input::{InputLine, InputWriter};
use super::link::{RunLink, Shared};
use super::output_lines::OutputLines;
use super::protocol::Protocol;
use super::stderr_lines::StderrLines;

/// When the agent's input ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Close {
    /// As soon as everything that was asked is done: the run ends by itself.
    #[default]
    WhenIdle,
    /// When the caller says so: the run waits for further messages.
    ByCaller,
}

/// What happens to the agent's input when the last [`RunLink`] is dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WithoutControls {
    /// It ends when everything is done, and as soon as the agent asks something.
    #[default]
    CloseWhenIdle,
    /// It ends at once.
    CloseInput,
}

/// How to run an agent: the process, and the rules of its loop.
pub struct RunSetup {
    /// The process. Its stdin is a pipe if messages are to be sent.
    pub spec: SpawnSpec,
    /// Lines that the agent gets first, each with its line end.
    pub first_input: Vec<Bytes>,
    /// When the agent's input ends.
    pub close: Close,
    /// What happens to the input when no one can send any more.
    pub without_controls: WithoutControls,
    /// How long the agent may take to read what was sent before its input was closed; no limit by default.
    pub close_timeout: Option<Duration>,
    /// The time limits. The timeout is also set in the process's own limits.
    pub limits: TimeLimits,
    /// The total weight of items that wait for the consumer; then no more is read from the agent.
    pub capacity: u32,
    /// Kept until the process has exited: files that it reads, for example.
    pub keep_alive: Option<Box<dyn Any + Send>>,
}

/// A run in progress.
pub struct Run<P: Protocol> {
    /// What happens.
    pub events: Events<P::Item>,
    /// How the run ends.
    pub completion: Completion<P::Conclusion>,
    /// Reaches the agent.
    pub link: RunLink<P::Command>,
}

/// Starts an agent.
///
/// # Errors
/// If the process cannot be started.
pub async fn start<P: Protocol>(protocol: P, setup: RunSetup) -> Result<Run<P>, SpawnError> {
    let RunSetup {
        mut spec,
        first_input,
        close,
        without_controls,
        close_timeout,
        limits,
        capacity,
        keep_alive,
    } = setup;
    spec.stderr = StderrMode::Stream;
    spec.limits.timeout = limits.timeout;
    let max_line_bytes = spec.limits.max_line_bytes;
    let started = clock::now();
    let Process {
        output,
        stderr,
        stdin,
        control: process,
        exit,
    } = agent_process::spawn(spec).await?;
    let (mut input, input_ended) = InputWriter::new(stdin, close_timeout);
    for bytes in first_input {
        input.queue(InputLine {
            bytes,
            written: None,
            is_revocable: false,
            is_reply: false,
            permit: None,
        });
    }
    let shared = Arc::new(Shared::new());
    let (orders, received) = mpsc::unbounded_channel();
    let (sender, events, gate) = event_stream(capacity);
    let (concluded, outcome) = oneshot::channel();
    let link = RunLink {
        orders,
        process: process.clone(),
        shared: shared.clone(),
        input_ended,
    };
    let driver = Driver {
        protocol,
        lines: Some(OutputLines::new(output, max_line_bytes)),
        stderr: StderrLines::new(stderr),
        input,
        process,
        shared,
        callbacks: Callbacks::new(),
        deadlines: Deadlines::new(limits, started),
        close,
        without_controls,
        progress: Progress::default(),
    };
    tokio::spawn(async move {
        driver.run(exit, received, sender, concluded).await;
        drop(keep_alive);
    });
    Ok(Run {
        events,
        completion: Completion::new(outcome, gate),
        link,
    })
}
