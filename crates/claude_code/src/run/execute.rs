//! `Client::run`: runs one prompt to its end and returns the answer.

use std::path::PathBuf;
use std::time::Duration;

use agent_client::{CostBasis, RunEnd, SessionChoice, StopCause};
use agent_process::Exit;
use uuid::Uuid;

use super::collect::Collector;
use super::response::{Response, RunWarning};
use crate::argv::Note;
use crate::capabilities::{Capabilities, Feature};
use crate::client::{Client, Started, stderr_tail};
use crate::error::{Error, NoResult};
use crate::request::Request;
use crate::turn_tracker::TurnTracker;

/// How long a process may take to exit once everything is done, before it is stopped.
const EXIT_GRACE: Duration = Duration::from_secs(5);
/// The same for a CLI that does not report its background tasks. It exits by itself, so this is only for one that
/// hangs.
const EXIT_GRACE_WITHOUT_TASK_EVENTS: Duration = Duration::from_secs(60);

impl Client {
    /// Runs one prompt to its end and returns the answer.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use claude_code::{Client, RunOptions, Request};
    ///
    /// let client = Client::builder().cwd("/path/to/project").timeout(Duration::from_secs(600)).build();
    /// let request = Request::new("What does this project do?").options(RunOptions::new().model("haiku"));
    /// let response = client.run(request).await?;
    /// if response.is_success() {
    ///     println!("{}", response.final_text);
    /// }
    /// if let Some(cost) = response.total_cost {
    ///     println!("cost {cost}");
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// A run that failed by its own account is a response too: see [`Response::is_success`]. If there was a result,
    /// it counts, whatever the exit status says, unless another turn was cut off after it. A process that does not
    /// exit after its last result is stopped.
    ///
    /// # Errors
    /// When the request cannot be carried out, the process cannot be started, or it ended (or ran out of time)
    /// without a result; then [`Error::NoResult`] keeps what it said.
    pub async fn run(&self, request: Request) -> Result<Response, Error> {
        let mut options = request.options.or(self.defaults());
        if options.raw_log.is_none() {
            options.raw_log = self.new_log_path();
        }
        let request = Request { options, ..request };
        let options = &request.options;
        let started = self
            .start_prompt(&request, |capabilities| Some(exit_grace(capabilities)))
            .await?;
        let Started {
            mut run,
            capabilities,
            notes,
        } = started;
        let basis = options
            .cost_basis
            .unwrap_or_else(|| CostBasis::of(options.session.as_ref()));
        // Old versions do not report their own version.
        let mut collector = Collector::new(basis, capabilities.version());
        while let Some(item) = run.events.next().await {
            collector.observe(&item);
        }
        let end = run.completion.await.map_err(|_| Error::Lost)?;
        let expected_id = options.session.as_ref().and_then(SessionChoice::expected_id);
        let raw_log = options.raw_log.clone();
        conclude(collector, end, expected_id, notes, raw_log)
    }

    fn new_log_path(&self) -> Option<PathBuf> {
        let directory = self.log_directory()?;
        Some(directory.join(format!("claude-{}.ndjson", Uuid::now_v7())))
    }
}

fn exit_grace(capabilities: &Capabilities) -> Duration {
    if capabilities.has(Feature::TaskEvents) {
        EXIT_GRACE
    } else {
        EXIT_GRACE_WITHOUT_TASK_EVENTS
    }
}

fn conclude(
    collected: Collector,
    end: RunEnd,
    requested: Option<&str>,
    notes: Vec<Note>,
    raw_log: Option<PathBuf>,
) -> Result<Response, Error> {
    let was_stopped_after_result = matches!(end.stop, Some((StopCause::Lingered, _)));
    let exit = end.exit;
    let usage = collected.tokens();
    let stream_text = collected.text.text();
    let other_warnings = collected.warnings().collect::<Vec<_>>();
    let Some(result) = collected.result else {
        return Err(Error::NoResult(Box::new(NoResult {
            raw_log,
            exit: exit.exit,
            stream_text: stream_text.into(),
            session_id: collected.session_id,
            usage,
            stderr_tail: stderr_tail(&exit),
        })));
    };
    let is_success = result.is_success();
    let mut warnings = end_warnings(&collected.turns, exit.exit, was_stopped_after_result, is_success);
    if let (Some(requested), Some(received)) = (requested, &collected.session_id)
        && !requested.eq_ignore_ascii_case(received)
    {
        warnings.push(RunWarning::SessionForked);
    }
    warnings.extend(other_warnings);
    let last_text = result.result.as_deref().unwrap_or_default();
    let is_degraded = last_text.trim().is_empty() && !collected.result_text.trim().is_empty();
    Ok(Response {
        session_id: collected.session_id,
        model: collected.model,
        version: collected.version,
        final_text: if is_degraded {
            collected.result_text
        } else {
            last_text.to_owned()
        },
        stream_text,
        usage,
        total_cost: collected.account.cost(),
        session_total: collected.account.session_total(),
        permission_denials: collected.permission_denials,
        raw_log,
        degraded: is_degraded,
        result,
        earlier_results: collected.earlier_results,
        exit,
        notes,
        warnings,
    })
}

/// Warnings about how the process ended; first those that keep the run from being a success.
fn end_warnings(
    turns: &TurnTracker,
    exit: Exit,
    was_stopped_after_result: bool,
    is_success: bool,
) -> Vec<RunWarning> {
    let mut warnings = Vec::new();
    let is_done = turns.is_idle() || was_stopped_after_result;
    match exit {
        Exit::TimedOut if !is_done => warnings.push(RunWarning::TimedOut),
        Exit::Cancelled | Exit::Lost if !is_done => warnings.push(RunWarning::Stopped),
        _ => {}
    }
    if turns.open_turns() > 0 {
        warnings.push(RunWarning::UnfinishedTurn);
    }
    if turns.open_tasks() > 0 {
        warnings.push(RunWarning::OpenTasks(turns.open_tasks()));
    }
    match exit {
        Exit::TimedOut | Exit::Cancelled if is_done => warnings.push(RunWarning::StoppedAfterResult),
        Exit::Code(_) | Exit::Signal(_) if was_stopped_after_result => {
            warnings.push(RunWarning::StoppedAfterResult);
        }
        Exit::Code(_) | Exit::Signal(_) if is_success != exit.success() => {
            warnings.push(RunWarning::ExitContradictsResult);
        }
        _ => {}
    }
    warnings
}
