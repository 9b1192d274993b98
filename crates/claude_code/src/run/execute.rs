//! Running a request to its end.

use std::path::PathBuf;
use std::time::Duration;

use agent_process::Exit;
use tokio::time::Instant;
use uuid::Uuid;

use super::collect::Collector;
use super::response::{Remark, Response};
use crate::client::{Client, Handle, stderr_tail};
use crate::error::{Error, NoResult};
use crate::request::{Options, Request, SessionChoice};
use crate::usage::CostBasis;

/// How long a process may take to exit after its last result (when nothing is left to do) before it is stopped.
const EXIT_AFTER_RESULT: Duration = Duration::from_secs(5);

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
    /// it counts, whatever the exit status says; a process that does not exit after it is stopped.
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
        let exit_after_result = options.exit_after_result.unwrap_or(EXIT_AFTER_RESULT);
        let handle = self.print_stream_json(request).await?;
        // Old versions do not say themselves which they are.
        let version = self.capabilities().await?.version();
        let collector = Collector::new(cost_basis(&options), version);
        collect(handle, collector, raw_log, exit_after_result).await
    }

    fn new_log_path(&self) -> PathBuf {
        let directory = self
            .log_directory()
            .map_or_else(std::env::temp_dir, PathBuf::from);
        directory.join(format!("claude-{}.ndjson", Uuid::now_v7()))
    }
}

/// What the session had cost before.
fn cost_basis(options: &Options) -> CostBasis {
    options.cost_basis.unwrap_or(match options.session {
        None | Some(SessionChoice::New { .. }) => CostBasis::NewSession,
        Some(SessionChoice::ContinueLatest { .. } | SessionChoice::Resume { .. }) => {
            CostBasis::ResumedUnknown
        }
    })
}

async fn collect(
    handle: Handle,
    mut collector: Collector,
    raw_log: PathBuf,
    exit_after_result: Duration,
) -> Result<Response, Error> {
    let Handle {
        mut events,
        completion,
        control,
        ..
    } = handle;
    let mut idle_since = None;
    let mut is_stopped = false;
    loop {
        let item = match idle_since {
            Some(since) if !is_stopped => tokio::select! {
                biased;
                item = events.next() => item,
                () = tokio::time::sleep_until(since + exit_after_result) => {
                    control.stop();
                    is_stopped = true;
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
    let exit = completion.into_report().await;
    let collected = collector.finish();
    let Some(result) = collected.result else {
        return Err(Error::NoResult(Box::new(NoResult {
            raw_log,
            exit: exit.exit,
            stream_text: collected.stream_text,
            session_id: collected.session_id,
            stderr_tail: stderr_tail(&exit),
        })));
    };
    let mut remarks = collected.remarks;
    if is_stopped {
        remarks.push(Remark::StoppedAfterResult);
    } else if result.is_success() != exit.exit.success()
        && matches!(exit.exit, Exit::Code(_) | Exit::Signal(_))
    {
        remarks.push(Remark::ExitContradictsResult);
    }
    let last_text = result.result.as_deref().unwrap_or_default();
    let is_degraded = last_text.trim().is_empty() && !collected.last_turn_text.trim().is_empty();
    Ok(Response {
        session_id: collected.session_id,
        model: collected.model,
        version: collected.version,
        final_text: if is_degraded {
            collected.last_turn_text
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
        remarks,
    })
}
