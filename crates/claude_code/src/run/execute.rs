//! Running a request to its end.

use std::path::PathBuf;
use std::time::Duration;

use agent_process::{Exit, ExitReport};
use tokio::time::Instant;
use uuid::Uuid;

use super::collect::{Collected, Collector};
use super::response::{Remark, Response};
use super::turns::Left;
use crate::argv::Note;
use crate::capabilities::{Capabilities, Feature};
use crate::client::{Client, Handle, stderr_tail};
use crate::error::{Error, NoResult};
use crate::request::{Fork, Request, SessionChoice, SessionId};
use crate::usage::CostBasis;

/// How long a process may take to exit after its last result (when nothing is left to do) before it is stopped.
const EXIT_AFTER_RESULT: Duration = Duration::from_secs(5);
/// The same for a CLI that does not tell whether background work goes on. It exits by itself, so this is only for one
/// that hangs.
const EXIT_AFTER_RESULT_UNTOLD: Duration = Duration::from_secs(60);

impl Client {
    /// Runs one prompt to its end and gives the answer. The whole output is kept in a raw log, which the response or
    /// the error names.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use claude_code::{Client, Options, Request};
    ///
    /// let client = Client::builder().cwd("/path/to/project").timeout(Duration::from_secs(600)).build();
    /// let request = Request::new("What does this project do?").options(Options::new().model("haiku"));
    /// let response = client.run(request).await?;
    /// if response.is_success() {
    ///     println!("{}", response.final_text);
    /// }
    /// if let Some(cost) = response.total_cost {
    ///     println!("cost {cost}, see {}", response.raw_events_path.display());
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
        let mut request = request;
        let raw_log = match request
            .options
            .raw_log
            .clone()
            .or_else(|| self.defaults().raw_log.clone())
        {
            Some(path) => path,
            None => self.new_log_path(),
        };
        request.options.raw_log = Some(raw_log.clone());
        let options = request.options.clone().or(self.defaults());
        let (handle, capabilities) = self.start_print(request).await?;
        let exit_after_result = options
            .exit_after_result
            .unwrap_or_else(|| default_grace(&capabilities));
        // Old versions do not say themselves which they are.
        let basis = options
            .cost_basis
            .unwrap_or_else(|| CostBasis::of(options.session.as_ref()));
        let collector = Collector::new(basis, capabilities.version());
        let notes = handle.notes.clone();
        let Ended { collected, exit, end } = follow(handle, collector, exit_after_result).await;
        conclude(
            collected,
            exit,
            end,
            requested_id(options.session.as_ref()),
            notes,
            raw_log,
        )
    }

    fn new_log_path(&self) -> PathBuf {
        let directory = self
            .log_directory()
            .map_or_else(std::env::temp_dir, PathBuf::from);
        directory.join(format!("claude-{}.ndjson", Uuid::now_v7()))
    }
}

/// The id that the session should have, if that is known.
fn requested_id(choice: Option<&SessionChoice>) -> Option<&SessionId> {
    match choice? {
        SessionChoice::New { id } => id.as_ref(),
        SessionChoice::Resume { id, fork: None } => Some(id),
        SessionChoice::Resume {
            fork: Some(Fork { id }),
            ..
        }
        | SessionChoice::ContinueLatest {
            fork: Some(Fork { id }),
        } => id.as_ref(),
        SessionChoice::ContinueLatest { fork: None } => None,
    }
}

fn default_grace(capabilities: &Capabilities) -> Duration {
    if capabilities.has(Feature::TaskEvents) {
        EXIT_AFTER_RESULT
    } else {
        EXIT_AFTER_RESULT_UNTOLD
    }
}

/// A process that is gone, and all it said.
struct Ended {
    collected: Collected,
    exit: ExitReport,
    end: End,
}

/// Who ended the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The process, or something outside.
    Itself,
    /// We did, because it did not exit after its last result.
    AfterResult,
}

async fn follow(handle: Handle, mut collector: Collector, exit_after_result: Duration) -> Ended {
    let Handle {
        mut events,
        completion,
        control,
        ..
    } = handle;
    let mut idle_since = None;
    let mut end = End::Itself;
    loop {
        let item = match idle_since {
            Some(since) if end == End::Itself => tokio::select! {
                biased;
                item = events.next() => item,
                () = tokio::time::sleep_until(since + exit_after_result) => {
                    control.stop();
                    end = End::AfterResult;
                    continue;
                }
            },
            _ => events.next().await,
        };
        let Some(item) = item else { break };
        collector.notice(&item);
        // From the moment when there was nothing left to do; what the CLI still says changes nothing.
        idle_since = if collector.is_idle() {
            idle_since.or_else(|| Some(Instant::now()))
        } else {
            None
        };
    }
    Ended {
        exit: completion.into_report().await,
        collected: collector.finish(),
        end,
    }
}

fn conclude(
    collected: Collected,
    exit: ExitReport,
    end: End,
    requested: Option<&SessionId>,
    notes: Vec<Note>,
    raw_log: PathBuf,
) -> Result<Response, Error> {
    let Some(result) = collected.result else {
        return Err(Error::NoResult(Box::new(NoResult {
            raw_log,
            exit: exit.exit,
            stream_text: collected.stream_text.into(),
            session_id: collected.session_id,
            usage: collected.tokens,
            stderr_tail: stderr_tail(&exit),
        })));
    };
    let mut remarks = remarks_on_the_end(collected.left, exit.exit, end, result.is_success());
    if let (Some(requested), Some(received)) = (requested, &collected.session_id)
        && !requested.as_str().eq_ignore_ascii_case(received)
    {
        remarks.push(Remark::SessionForked);
    }
    remarks.extend(collected.remarks);
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
        stream_text: collected.stream_text,
        usage: collected.tokens,
        total_cost: collected.total_cost,
        session_total: collected.session_total,
        permission_denials: collected.permission_denials,
        raw_events_path: raw_log,
        degraded: is_degraded,
        result,
        earlier_results: collected.earlier_results,
        exit,
        notes,
        remarks,
    })
}

/// What is to be said about how the process ended; first what keeps the run from being a success.
fn remarks_on_the_end(left: Left, exit: Exit, end: End, is_success: bool) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let is_done = left == Left::default();
    match exit {
        Exit::TimedOut if !is_done => remarks.push(Remark::TimedOut),
        Exit::Cancelled | Exit::Lost if !is_done => remarks.push(Remark::Stopped),
        _ => {}
    }
    if left.turns > 0 {
        remarks.push(Remark::UnfinishedTurn);
    }
    if left.tasks > 0 {
        remarks.push(Remark::OpenTasks(left.tasks));
    }
    match exit {
        Exit::TimedOut | Exit::Cancelled if is_done => remarks.push(Remark::StoppedAfterResult),
        Exit::Code(_) | Exit::Signal(_) if end == End::AfterResult => {
            remarks.push(Remark::StoppedAfterResult);
        }
        Exit::Code(_) | Exit::Signal(_) if is_success != exit.success() => {
            remarks.push(Remark::ExitContradictsResult);
        }
        _ => {}
    }
    remarks
}
