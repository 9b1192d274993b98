//! `describe`: what happened to an agent, in words, for `ralph agents logs` and `ralph agents up`.

use ralph_agents::{
    AgentEvent, AgentName, AgentRecord, RunConclusion, RunOutcome, StartFailureKind, WorkEnding,
};
use ralph_run::short_run_id;
use run_view::{format_cost, one_line};
use serde::Serialize;

/// Messages may quote what an agent or a program wrote.
const MESSAGE_COLUMNS: usize = 500;

/// A record with the name of its agent, as JSON.
#[derive(Debug, Serialize)]
pub(super) struct NamedRecord<'a> {
    pub(super) agent: &'a AgentName,
    #[serde(flatten)]
    pub(super) record: &'a AgentRecord,
}

/// A line about a record.
pub(super) fn describe(event: &AgentEvent) -> String {
    let short = short_run_id;
    let text = match event {
        AgentEvent::StartCounted(count) => format!("starting run {}: {}", short(&count.run), count.why),
        AgentEvent::Started { run } => format!("run {} has started", short(run)),
        AgentEvent::StartFailed { run, kind, message } => match kind {
            StartFailureKind::Barred => format!("run {} was not started: {message}", short(run)),
            StartFailureKind::Busy => format!("run {} has to wait: {message}", short(run)),
            StartFailureKind::NeedsPerson | StartFailureKind::Other => {
                format!("run {} did not start: {message}", short(run))
            }
        },
        AgentEvent::Adopted { run } => format!("adopted run {}, which is alive", short(run)),
        AgentEvent::PauseRequested { run, .. } => {
            format!("pausing run {} at the end of the turn", short(run))
        }
        AgentEvent::StopRequested { run } => format!("stopping run {}", short(run)),
        AgentEvent::Recovered { run } => {
            let run = short(run);
            format!("run {run} is healthy; earlier failures are cleared unless its work fails")
        }
        AgentEvent::RunEnded(ended) => describe_end(ended),
        AgentEvent::TaskReleased { task, ending } => {
            let how = match ending {
                WorkEnding::Finished => "its run has ended",
                WorkEnding::Failed => "it failed",
                WorkEnding::GivenUp => "the agent was stopped",
                WorkEnding::NotStarted => "no run was started",
            };
            format!("gave back task {task}: {how}")
        }
        AgentEvent::ReconcileFailed { message } => format!("error: {message}"),
        AgentEvent::Unknown => "something that a newer version of ralph has recorded".to_owned(),
    };
    one_line(&text, MESSAGE_COLUMNS)
}

fn describe_end(ended: &RunConclusion) -> String {
    let reason = ended.reason.as_ref().map(|reason| reason.describe());
    let reason = match (&reason, &ended.message) {
        // It repeats the reason.
        (Some(reason), Some(message)) if message.starts_with(reason.as_str()) => message.clone(),
        (Some(reason), Some(message)) => format!("{reason}: {message}"),
        (Some(reason), None) => reason.clone(),
        (None, Some(message)) => message.clone(),
        (None, None) => "reason unknown".to_owned(),
    };
    let next = match ended.outcome {
        RunOutcome::Finished | RunOutcome::Stopped => "",
        RunOutcome::Interrupted => "; it will be resumed",
        RunOutcome::Failed => "; it will be tried again",
        RunOutcome::NeedsPerson => "; it needs you",
        RunOutcome::Paused => "; the agent is paused",
        RunOutcome::UsageLimit => "; it continues after the reset",
        RunOutcome::DailyLimit => "; it continues tomorrow",
    };
    let (run, cost) = (short_run_id(&ended.run), format_cost(ended.cost));
    format!("run {run} has ended: {reason} ({cost}){next}")
}
