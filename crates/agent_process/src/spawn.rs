//! `spawn`: starts a child and the task that owns it.

use std::fs::File;
use std::path::{Path, PathBuf};

use tokio::sync::{mpsc, oneshot};

use crate::child::Child;
use crate::error::SpawnError;
use crate::process::{Control, ExitWaiter, Output, Process, StderrOutput, StdinWriter};
use crate::pump::{Pump, StdinFeed};
use crate::resolve::{resolve_cwd, resolve_env, resolve_program};
use crate::spec::{Isolation, SpawnSpec, StderrMode, StdinMode, StdoutMode};
use crate::streams::{OurEnds, create_log};
use crate::suspend::Registration;

/// How many chunks may wait for the consumer: at most 2 MiB, given the largest chunk that [`Pump`] reads.
const CHANNEL_CHUNKS: usize = 16;

/// Starts a child. Needs a tokio runtime with I/O and time enabled, on which a task then owns the child. That task
/// writes the logs with blocking calls, as a log on a local disk is faster than handing it to another thread.
///
/// This process must ignore SIGPIPE, as Rust programs do by default, since a child may close its stdin at any time.
/// Without a guard it must not ignore SIGCHLD; otherwise every exit is [`Exit::Lost`](crate::Exit::Lost).
///
/// # Errors
/// If the request is invalid or the system refuses it. No process is left running, and no log file is left behind.
pub async fn spawn(spec: SpawnSpec) -> Result<Process, SpawnError> {
    if spec.stdout == StdoutMode::Spool && spec.raw_log.is_none() {
        return Err(SpawnError::SpoolWithoutLog);
    }
    let env = resolve_env(&spec);
    let cwd = resolve_cwd(&spec)?;
    let program = resolve_program(&spec.program, &cwd, &env)?;
    let mut fresh = FreshLogs(Vec::new());
    let raw_log = spec
        .raw_log
        .as_deref()
        .map(|path| fresh.create(path))
        .transpose()?;
    let stderr_log = spec
        .stderr_log
        .as_deref()
        .map(|path| fresh.create(path))
        .transpose()?;
    let (child, ours) = start(&spec, &program, &cwd, env).await?;
    fresh.0.clear();
    let (stdin, feed) = match spec.stdin {
        StdinMode::Null => (None, None),
        StdinMode::Bytes(bytes) => (None, ours.stdin.map(|writer| StdinFeed { writer, bytes })),
        StdinMode::Piped => (ours.stdin.map(StdinWriter), None),
    };
    let (chunks, received) = mpsc::channel(CHANNEL_CHUNKS);
    let (commands, ordered) = mpsc::unbounded_channel();
    let (exit, report) = oneshot::channel();
    let (stderr_chunks, stderr) = match spec.stderr {
        StderrMode::Tail => (None, None),
        StderrMode::Stream => {
            let (sender, chunks) = mpsc::channel(CHANNEL_CHUNKS);
            (Some(sender), Some(StderrOutput { chunks }))
        }
    };
    let registration = Registration::new(commands.clone());
    let control = Control {
        commands,
        pid: child.pid(),
    };
    let pump = Pump::new(
        child,
        ours.stdout,
        ours.stderr,
        feed,
        spec.limits.clone(),
        chunks,
        ordered,
        exit,
    )
    .with_logs(raw_log, stderr_log)
    .with_registration(registration)
    .with_marker(spec.marker)
    .with_stderr_stream(stderr_chunks);
    tokio::spawn(pump.run());
    let output = Output { chunks: received };
    Ok(Process {
        output,
        stderr,
        stdin,
        control,
        exit: ExitWaiter { report: Some(report) },
    })
}

/// Log files of a child that is not running yet; removed again if it does not start.
struct FreshLogs(Vec<PathBuf>);

impl FreshLogs {
    fn create(&mut self, path: &Path) -> Result<File, SpawnError> {
        let log = create_log(path)?;
        self.0.push(path.to_owned());
        Ok(log)
    }
}

impl Drop for FreshLogs {
    fn drop(&mut self) {
        for log in &self.0 {
            let _ = std::fs::remove_file(log);
        }
    }
}

#[cfg(target_os = "linux")]
async fn start(
    spec: &SpawnSpec,
    program: &Path,
    cwd: &Path,
    env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
) -> Result<(Child, OurEnds), SpawnError> {
    use std::os::fd::AsFd;

    use crate::guard::{GuardSource, Resolved, guard_source, spawn_guarded};

    let source = guard_source();
    if source == GuardSource::None {
        return start_portable(spec, program, cwd, env);
    }
    let (ours, theirs) = crate::streams::open_streams(spec)?;
    let resolved = Resolved {
        program,
        args: spec.args.clone(),
        env,
        cwd,
        isolation: spec.isolation,
        orphan_grace: spec.limits.orphan_grace,
    };
    let descriptors = [theirs.stdin.as_fd(), theirs.stdout.as_fd(), theirs.stderr.as_fd()];
    let guarded = spawn_guarded(source, resolved, descriptors).await?;
    Ok((Child::Guarded(guarded), ours))
}

#[cfg(not(target_os = "linux"))]
async fn start(
    spec: &SpawnSpec,
    program: &Path,
    cwd: &Path,
    env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
) -> Result<(Child, OurEnds), SpawnError> {
    start_portable(spec, program, cwd, env)
}

fn start_portable(
    spec: &SpawnSpec,
    program: &Path,
    cwd: &Path,
    env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
) -> Result<(Child, OurEnds), SpawnError> {
    if spec.isolation == Isolation::PidNamespace {
        let what = "a PID namespace, which needs Linux and a call of `guard_main` at the start of `main`";
        return Err(SpawnError::Unsupported { what, source: None });
    }
    let has_nul = |text: &std::ffi::OsStr| text.as_encoded_bytes().contains(&0);
    if spec.args.iter().any(|argument| has_nul(argument)) {
        return Err(SpawnError::NulByte { what: "an argument" });
    }
    if env.iter().any(|(name, value)| has_nul(name) || has_nul(value)) {
        return Err(SpawnError::NulByte {
            what: "the environment",
        });
    }
    let mut command = tokio::process::Command::new(program);
    command.args(&spec.args).env_clear().envs(env).current_dir(cwd);
    #[cfg(unix)]
    {
        let (ours, theirs) = crate::streams::open_streams(spec)?;
        let child = crate::portable::spawn_portable(command, theirs)?;
        Ok((Child::Portable(child), ours))
    }
    #[cfg(windows)]
    {
        let (child, ours) = crate::portable::spawn_portable(command, spec)?;
        Ok((Child::Portable(child), ours))
    }
}
