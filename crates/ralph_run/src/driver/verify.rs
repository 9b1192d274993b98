//! `Verifying`: a command line that the driver runs to verify work, with a time limit and a log. `run_command_line` does
//! the same for callers without a run, such as a merge.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agent_api::ExitInfo;
use agent_process::{Control, EnvPolicy, Exit, Marker, SpawnSpec, WaitStatus, clock};
use tokio::sync::oneshot;

/// How much of its end is kept.
const TAIL_BYTES: usize = 16 * 1024;

/// A command line for the user's shell.
#[derive(Debug, Clone)]
pub struct VerifySpec {
    pub command: String,
    pub workspace: PathBuf,
    pub log: Option<PathBuf>,
    pub marker: Option<Marker>,
    /// Variables that it sees besides our own.
    pub environment: Vec<(OsString, OsString)>,
    /// What it does not see of our environment.
    pub withheld: Vec<OsString>,
    pub timeout: Option<Duration>,
}

pub(super) struct Verifying {
    pub(super) control: Option<Control>,
    pub(super) outcome: oneshot::Receiver<Verified>,
}

impl Verifying {
    /// Resolves once, when it has ended.
    pub(super) async fn finished(&mut self) -> Verified {
        let verified = (&mut self.outcome).await;
        verified.unwrap_or_else(|_| Verified {
            is_ok: false,
            exit: ExitInfo::default(),
            output: String::new(),
            duration: Duration::ZERO,
            is_timed_out: false,
            error: Some("it was lost".to_owned()),
        })
    }
}

/// How it ended.
#[derive(Debug)]
pub struct Verified {
    pub is_ok: bool,
    pub exit: ExitInfo,
    /// The end of what it wrote.
    pub output: String,
    pub duration: Duration,
    pub is_timed_out: bool,
    /// Why it could not even be started.
    pub error: Option<String>,
}

/// Runs a command line to its end, as a run verifies its work.
pub async fn run_command_line(spec: VerifySpec) -> Verified {
    start(spec).await.finished().await
}

/// Starts a command line in the workspace, as the user's shell would, under the guard.
pub(super) async fn start(spec: VerifySpec) -> Verifying {
    let started = clock::now();
    let (sender, outcome) = oneshot::channel();
    let mut process = SpawnSpec::new("sh");
    // One stream for both, so that messages are in their order.
    process.args = vec!["-c".into(), "exec 2>&1; eval \"$0\"".into(), spec.command.into()];
    process.cwd = Some(spec.workspace);
    process.raw_log = spec.log;
    process.marker = spec.marker;
    process.env = EnvPolicy::Inherit {
        set: spec.environment,
        remove: spec.withheld,
    };
    process.limits.timeout = spec.timeout;
    process.limits.interrupt_grace = Duration::from_secs(2);
    process.limits.terminate_grace = Duration::from_secs(2);
    let mut process = match agent_process::spawn(process).await {
        Ok(process) => process,
        Err(error) => {
            let _ = sender.send(Verified {
                is_ok: false,
                exit: ExitInfo::default(),
                output: String::new(),
                duration: clock::elapsed_since(started),
                is_timed_out: false,
                error: Some(error.to_string()),
            });
            return Verifying {
                control: None,
                outcome,
            };
        }
    };
    let control = process.control.clone();
    tokio::spawn(async move {
        let mut tail = Vec::new();
        while let Some(chunk) = process.output.next_chunk().await {
            // After a read error the command is still waited for.
            let Ok(chunk) = chunk else { continue };
            tail.extend_from_slice(&chunk);
            if tail.len() > 2 * TAIL_BYTES {
                tail.drain(..tail.len() - TAIL_BYTES);
            }
        }
        let report = process.exit.await;
        let surplus = tail.len().saturating_sub(TAIL_BYTES);
        let output = String::from_utf8_lossy(&tail[surplus..]).into_owned();
        // The run may be gone.
        let _ = sender.send(Verified {
            is_ok: report.exit.success(),
            exit: ExitInfo {
                code: match report.status {
                    Some(WaitStatus::Code(code)) => Some(code),
                    _ => None,
                },
                signal: match report.status {
                    Some(WaitStatus::Signal(signal)) => Some(signal),
                    _ => None,
                },
                was_stopped: report.stopped_by.is_some(),
                survivors_killed: report.survivors_killed,
            },
            output,
            duration: clock::elapsed_since(started),
            is_timed_out: report.exit == Exit::TimedOut,
            error: None,
        });
    });
    Verifying {
        control: Some(control),
        outcome,
    }
}
