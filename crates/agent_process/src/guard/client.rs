//! `Guarded`: the client's side of a guard, in the process that spawns children.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::net::SendFlags;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;

use super::process_tree::{self, ProcessInfo};
use super::wire::{self, ChildSpec, FailedStep, REPORT_BYTES, Report, Request};
use super::zygote::{self, GuardSource};
use crate::error::SpawnError;
use crate::spec::Isolation;

/// How long a guard may take to start its child, which normally takes milliseconds.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A child with a guard.
#[derive(Debug)]
pub(crate) struct Guarded {
    control: UnixStream,
    pub(crate) pid: i32,
    /// Child and guard, to be killed should the guard fail.
    processes: Vec<ProcessInfo>,
    frame: [u8; REPORT_BYTES],
    filled: usize,
    /// A re-executed guard is our child and has to be reaped.
    process: Option<tokio::process::Child>,
}

/// A program to start, with everything resolved.
pub(crate) struct Resolved<'a> {
    pub(crate) program: &'a Path,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: &'a Path,
    pub(crate) isolation: Isolation,
    pub(crate) orphan_grace: Duration,
}

/// Starts a child with a new guard. The descriptors become its stdin, stdout and stderr.
pub(crate) async fn spawn_guarded(
    source: GuardSource,
    resolved: Resolved<'_>,
    descriptors: [BorrowedFd<'_>; 3],
) -> Result<Guarded, SpawnError> {
    let spec = child_spec(&resolved)?;
    let guard = |source| SpawnError::Guard { source };
    let (control, process) =
        zygote::new_guard(source).map_err(|error| SpawnError::at_fork("starting the guard", error))?;
    control.set_nonblocking(true).map_err(guard)?;
    let control = UnixStream::from_std(control).map_err(guard)?;
    let mut guarded = Guarded {
        control,
        pid: 0,
        processes: Vec::new(),
        frame: [0; REPORT_BYTES],
        filled: 0,
        process,
    };
    let report = tokio::time::timeout(START_TIMEOUT, guarded.start(&spec, descriptors))
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .map_err(guard)?;
    match report {
        Report::Started { pid, guard } => {
            guarded.pid = pid;
            guarded.processes = [pid, guard]
                .into_iter()
                .filter_map(process_tree::process_info)
                .collect();
            Ok(guarded)
        }
        Report::Failed { step, error } => {
            guarded.reap().await;
            Err(failure(step, io::Error::from_raw_os_error(error), &resolved))
        }
        Report::Exited { .. } | Report::Gone { .. } | Report::Frozen => {
            Err(guard(io::ErrorKind::InvalidData.into()))
        }
    }
}

impl Guarded {
    /// Sends the spec to a new guard and waits for its first report.
    async fn start(&mut self, spec: &ChildSpec, descriptors: [BorrowedFd<'_>; 3]) -> io::Result<Report> {
        let sent = self.send(spec, descriptors).await;
        match self.next_report().await {
            Ok(report) => Ok(report),
            // If the guard could not be forked, the zygote reports that and hangs up, maybe before we have sent the spec.
            Err(error) => Err(sent.err().unwrap_or(error)),
        }
    }

    async fn send(&self, spec: &ChildSpec, descriptors: [BorrowedFd<'_>; 3]) -> io::Result<()> {
        let header = spec.header()?;
        let control = &self.control;
        control
            .async_io(Interest::WRITABLE, || {
                wire::send_descriptors(control, &header, &descriptors)
            })
            .await?;
        let mut rest = spec.strings.as_slice();
        while !rest.is_empty() {
            let sent = control
                .async_io(Interest::WRITABLE, || send_some(control, rest))
                .await?;
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    /// The guard's next report. End of file is an error: the guard was killed. Cancel-safe.
    pub(crate) async fn next_report(&mut self) -> io::Result<Report> {
        loop {
            let rest = self.frame.get_mut(self.filled..).unwrap_or_default();
            match self.control.read(rest).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => self.filled += read,
            }
            if self.filled == REPORT_BYTES {
                self.filled = 0;
                return Report::decode(self.frame).ok_or_else(|| io::ErrorKind::InvalidData.into());
            }
        }
    }

    /// Sends a signal to the child's process group.
    pub(crate) fn signal(&self, signal: Signal) {
        self.request(Request::Signal(signal.as_raw()));
    }

    /// Stops the child and all its descendants; [`Report::Frozen`] follows.
    pub(crate) fn freeze(&self) {
        self.request(Request::Freeze);
    }

    /// Continues what was frozen.
    pub(crate) fn thaw(&self) {
        self.request(Request::Thaw);
    }

    /// Kills the child and all its descendants.
    pub(crate) fn kill_all(&self) {
        self.request(Request::KillAll);
    }

    /// Kills the child and the guard directly, after the guard was killed or stopped responding.
    pub(crate) fn kill_orphan(&self) {
        for process in &self.processes {
            process_tree::signal_process(process, Signal::KILL);
        }
    }

    /// A few bytes always fit into the otherwise empty socket. If the guard is gone, `next_report` notices.
    fn request(&self, request: Request) {
        let control = &self.control;
        let _ = control.try_io(Interest::WRITABLE, || send_some(control, &request.encode()));
    }

    /// Reaps a re-executed guard, which exits after its last report.
    pub(crate) async fn reap(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.wait().await;
        }
    }
}

/// Sends as much as fits. Unlike a plain write it raises no SIGPIPE if the guard is gone.
fn send_some(control: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(
        control,
        bytes,
        SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
    )?)
}

fn child_spec(resolved: &Resolved<'_>) -> Result<ChildSpec, SpawnError> {
    let mut strings = Vec::new();
    let mut push = |what: &'static str, parts: &[&OsStr]| {
        for part in parts {
            if part.as_bytes().contains(&0) {
                return Err(SpawnError::NulByte { what });
            }
            strings.extend_from_slice(part.as_bytes());
        }
        strings.push(0);
        Ok(())
    };
    let program = resolved.program.as_os_str();
    push("the program's path", &[program])?;
    push("the working directory", &[resolved.cwd.as_os_str()])?;
    push("the program's path", &[program])?;
    for argument in &resolved.args {
        push("an argument", &[argument])?;
    }
    for (name, value) in &resolved.env {
        push("the environment", &[name, OsStr::new("="), value])?;
    }
    Ok(ChildSpec {
        strings,
        arguments: u32::try_from(resolved.args.len() + 1).map_err(|_| SpawnError::ArgumentsTooLong)?,
        namespace: resolved.isolation == Isolation::PidNamespace,
        orphan_grace_milliseconds: u32::try_from(resolved.orphan_grace.as_millis()).unwrap_or(u32::MAX),
    })
}

fn failure(step: FailedStep, source: io::Error, resolved: &Resolved<'_>) -> SpawnError {
    match step {
        FailedStep::Exec if source.raw_os_error() == Some(libc::E2BIG) => SpawnError::ArgumentsTooLong,
        FailedStep::Exec if source.kind() == io::ErrorKind::NotFound => {
            SpawnError::not_found_at_exec(resolved.program.into(), source)
        }
        FailedStep::Exec if is_shortage(&source) => SpawnError::at_fork("executing the program", source),
        FailedStep::Namespace if is_shortage(&source) => SpawnError::at_fork("making a namespace", source),
        FailedStep::Exec => SpawnError::NotExecutable {
            program: resolved.program.into(),
            source: Some(source),
        },
        FailedStep::WorkingDirectory => SpawnError::BadWorkingDirectory {
            cwd: resolved.cwd.into(),
            source,
        },
        FailedStep::Namespace => SpawnError::Unsupported {
            what: "a PID namespace, which needs root or unprivileged user namespaces",
            source: Some(source),
        },
        FailedStep::Fork => SpawnError::at_fork("forking", source),
        FailedStep::Setup => SpawnError::at("preparing the child's streams", source),
    }
}

/// Whether the system is short of a resource, so that the request itself may be valid.
fn is_shortage(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM)
    )
}
