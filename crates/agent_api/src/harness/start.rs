//! Starting a run.

use std::sync::Arc;
use std::time::Duration;

use agent_process::{Process, StderrMode, StdinMode, StdoutMode};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::control::{RunControl, State};
use super::drive::{Driver, Pace};
use super::handle::{Completion, Events, RunHandle};
use super::input::InputWriter;
use super::stdout::OutputLines;
use crate::backend::{Backend, Found, Launch, LaunchInput};
use crate::bounds::CHANNEL_EVENTS;
use crate::emitter::Emitter;
use crate::error::Error;
use crate::event::{Body, Notice, Severity};
use crate::request::{Close, RunRequest};

/// Starts a run. The request is complete: configuration and extensions are worked in.
pub(crate) async fn start(
    backend: &dyn Backend,
    request: &RunRequest,
    found: &Found,
) -> Result<RunHandle, Error> {
    let profile = Arc::new(backend.profile().clone());
    let Launch {
        mut spec,
        input,
        mapper,
        keep_alive,
        notes,
    } = backend.launch(request, found)?;
    let options = &request.options;
    spec.raw_log.clone_from(&options.raw_log);
    spec.stderr_log.clone_from(&options.stderr_log);
    spec.stderr = StderrMode::Stream;
    spec.isolation = options.isolation.unwrap_or_default();
    spec.marker.clone_from(&options.marker);
    spec.limits = options.limits.clone().unwrap_or_else(profile.limits);
    spec.limits.timeout = options.timeout;
    spec.stdout = match options.transport.unwrap_or(profile.transport) {
        // A choice of the profile's must not make a raw log compulsory.
        StdoutMode::Spool if spec.raw_log.is_none() && options.transport.is_none() => StdoutMode::Pipe,
        transport => transport,
    };
    let (first, close) = match input {
        LaunchInput::Nothing => {
            spec.stdin = StdinMode::Null;
            (Vec::new(), None)
        }
        LaunchInput::Bytes(bytes) => {
            spec.stdin = StdinMode::Bytes(bytes);
            (Vec::new(), None)
        }
        LaunchInput::Messages { first, close } => {
            spec.stdin = StdinMode::Piped;
            (first, Some(close))
        }
    };
    let max_line_bytes = spec.limits.max_line_bytes;
    let started = Instant::now();
    let Process {
        output,
        stderr,
        stdin,
        control,
        exit,
    } = agent_process::spawn(spec).await?;
    let state = Arc::new(State::default());
    let mut input = match stdin {
        Some(stdin) => InputWriter::new(stdin, state.clone()),
        None => InputWriter::closed(),
    };
    for line in first {
        input.write(line);
    }
    let mut emitter = Emitter::new(profile.kind.clone());
    for (code, message) in notes {
        emitter.emit(Body::Notice(Box::new(Notice {
            severity: Severity::Warning,
            code,
            message,
            data: None,
        })));
    }
    let (orders, ordered) = mpsc::unbounded_channel();
    let (events, received) = mpsc::channel(CHANNEL_EVENTS);
    let (completed, outcome) = oneshot::channel();
    let (gate, opened) = oneshot::channel();
    let run_control = RunControl {
        orders,
        process: control.clone(),
        state: state.clone(),
        profile: profile.clone(),
        takes_messages: close.is_some(),
    };
    let inactivity_limit = options
        .inactivity_limit
        .or(profile.inactivity_limit)
        .filter(|limit| *limit > Duration::ZERO);
    let pace = Pace {
        inactivity_limit,
        exit_after_idle: profile.exit_after_idle,
        closes_when_idle: close != Some(Close::ByCaller),
        timeout: options.timeout,
        started,
    };
    let driver = Driver::new(
        OutputLines::new(output, max_line_bytes),
        stderr,
        input,
        control,
        mapper,
        emitter,
        profile,
        state,
        pace,
    );
    tokio::spawn(async move {
        driver.run(exit, ordered, events, completed).await;
        drop(keep_alive);
    });
    Ok(RunHandle {
        events: Events {
            events: received,
            gate: Some(gate),
        },
        completion: Completion {
            outcome,
            gate: Some(opened),
        },
        control: run_control,
    })
}
