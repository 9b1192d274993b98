//! `start`: turns a resolved request into a run of the shared loop.

use std::sync::Arc;
use std::time::Duration;

use agent_client::{Close, Run, RunOptions, RunSetup, TimeLimits, WithoutControls};
use agent_process::{StdinMode, StdoutMode};

use super::control::RunControl;
use super::handle::{Completion, RunHandle};
use super::protocol::MapperProtocol;
use crate::backend::{Backend, InstalledAgent, Launch, LaunchInput, Profile, TOOL_INACTIVITY_LIMIT, launch};
use crate::bounds::CHANNEL_EVENTS;
use crate::error::Error;
use crate::event::Severity;
use crate::request::RunRequest;

/// How long background tasks may be silent after the last turn.
const BACKGROUND_GRACE: Duration = Duration::from_secs(30);

/// Starts a run. Configuration and extensions are already applied to the request.
pub(crate) async fn start(
    backend: &dyn Backend,
    request: &RunRequest,
    found: &InstalledAgent,
) -> Result<RunHandle, Error> {
    let profile = Arc::new(backend.profile().clone());
    let Launch {
        mut spec,
        input,
        mapper,
        keep_alive,
        notes,
    } = launch(backend, request, found)?;
    let options = &request.options;
    spec.raw_log.clone_from(&options.raw_log);
    spec.stderr_log.clone_from(&options.stderr_log);
    spec.isolation = options.isolation.unwrap_or_default();
    spec.marker.clone_from(&options.marker);
    spec.limits = options.limits.clone().unwrap_or_else(|| profile.limits.clone());
    spec.stdout = match options.transport.unwrap_or(profile.transport) {
        // The profile's choice must not make a raw log compulsory.
        StdoutMode::Spool if spec.raw_log.is_none() && options.transport.is_none() => StdoutMode::Pipe,
        transport => transport,
    };
    let (stdin, first_input, close) = match input {
        LaunchInput::Nothing => (StdinMode::Null, Vec::new(), None),
        LaunchInput::Bytes(bytes) => (StdinMode::Bytes(bytes), Vec::new(), None),
        LaunchInput::Messages { first, close } => (StdinMode::Piped, first, Some(close)),
    };
    spec.stdin = stdin;
    let mut protocol = MapperProtocol::new(mapper, profile.clone(), request);
    for (code, message) in notes {
        protocol.add_notice(Severity::Warning, &code, message);
    }
    let untested = found
        .version
        .and_then(|version| profile.untested_version(version));
    if let Some(untested) = untested {
        let severity = if untested.is_older {
            Severity::Warning
        } else {
            Severity::Info
        };
        protocol.add_notice(severity, "untested_version", untested.message);
    }
    let Run {
        events,
        completion,
        link,
    } = agent_client::start(
        protocol,
        RunSetup {
            spec,
            first_input,
            close: close.unwrap_or(Close::WhenIdle),
            without_controls: WithoutControls::CloseWhenIdle,
            close_timeout: None,
            limits: time_limits(options, &profile),
            capacity: u32::try_from(CHANNEL_EVENTS).unwrap_or(u32::MAX),
            keep_alive,
        },
    )
    .await?;
    Ok(RunHandle {
        events,
        completion: Completion(completion),
        control: RunControl {
            link,
            profile,
            takes_messages: close.is_some(),
        },
    })
}

fn time_limits(options: &RunOptions, profile: &Profile) -> TimeLimits {
    let nonzero = |limit: Duration| Some(limit).filter(|limit| *limit > Duration::ZERO);
    let inactivity = options
        .inactivity_limit
        .or(profile.inactivity_limit)
        .and_then(nonzero);
    let tool_inactivity = match options.tool_inactivity_limit {
        Some(limit) => nonzero(limit),
        None => inactivity.map(|limit| limit.max(TOOL_INACTIVITY_LIMIT)),
    };
    TimeLimits {
        timeout: options.timeout,
        inactivity,
        tool_inactivity,
        background_grace: Some(options.background_grace.unwrap_or(BACKGROUND_GRACE)),
        exit_grace: Some(options.exit_grace.unwrap_or(profile.exit_after_idle)),
    }
}
