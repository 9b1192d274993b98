//! `Portable` on Unix: a session, which is also a process group.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::process::Command;

use crate::child::{ChildEvent, ChildSignal, spawn_failure};
use crate::error::SpawnError;
use crate::exit::WaitStatus;
use crate::streams::ChildEnds;

/// A child in a session of its own.
#[derive(Debug)]
pub(crate) struct Portable {
    child: tokio::process::Child,
    pid: Pid,
    /// Notices the exit without reaping, so that the group's id is not reused before the group is killed.
    exited: Option<ExitWatch>,
    killing: bool,
    /// From then on the id may belong to another process.
    reaped: bool,
}

pub(crate) fn spawn_portable(mut command: Command, ends: ChildEnds) -> Result<Portable, SpawnError> {
    command.stdin(ends.stdin).stdout(ends.stdout).stderr(ends.stderr);
    start_session(&mut command)?;
    let child = command.spawn().map_err(|error| spawn_failure(error, &command))?;
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| SpawnError::at("reading the child's id", io::ErrorKind::NotFound.into()))?;
    Ok(Portable {
        child,
        pid,
        exited: Some(ExitWatch::new(pid)),
        killing: false,
        reaped: false,
    })
}

/// In a session of its own, Ctrl-C in our terminal does not reach the child, it can be signalled as a group, and what
/// insists on a terminal fails instead of being stopped in the background.
#[expect(
    unsafe_code,
    reason = "the standard library has no stable way to start a session"
)]
fn start_session(command: &mut Command) -> Result<(), SpawnError> {
    let image = ExecImage::new(command.as_std())?;
    let start = move || {
        rustix::process::setsid()?;
        Err(image.exec())
    };
    // SAFETY: after the fork only `setsid` and `execve` are called, and nothing is allocated.
    unsafe { command.pre_exec(start) };
    Ok(())
}

/// A program with its arguments and environment, ready to be executed. The standard library would hand a file that is
/// no program to the shell once it has to fork.
struct ExecImage {
    args: ExecStrings,
    env: ExecStrings,
}

struct ExecStrings {
    _strings: Vec<CString>,
    /// Ends with a null pointer.
    pointers: Vec<*const libc::c_char>,
}

#[expect(unsafe_code, reason = "pointers are not Send by themselves")]
// SAFETY: the pointers lead to strings that are never changed and that move along.
unsafe impl Send for ExecStrings {}

#[expect(unsafe_code, reason = "pointers are not Sync by themselves")]
// SAFETY: as above.
unsafe impl Sync for ExecStrings {}

impl ExecStrings {
    fn new(strings: impl Iterator<Item = Vec<u8>>, what: &'static str) -> Result<Self, SpawnError> {
        let strings: Result<Vec<CString>, _> = strings.map(CString::new).collect();
        let strings = strings.map_err(|_| SpawnError::NulByte { what })?;
        let pointers = strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]);
        Ok(Self {
            pointers: pointers.collect(),
            _strings: strings,
        })
    }
}

impl ExecImage {
    /// The command's program must be a path and its environment complete.
    fn new(command: &std::process::Command) -> Result<Self, SpawnError> {
        let args = std::iter::once(command.get_program()).chain(command.get_args());
        let env = command
            .get_envs()
            .filter_map(|(name, value)| Some([name.as_bytes(), value?.as_bytes()].join(&b'=')));
        Ok(Self {
            args: ExecStrings::new(args.map(|text| text.as_bytes().to_vec()), "an argument")?,
            env: ExecStrings::new(env, "the environment")?,
        })
    }

    /// Returns only if it failed.
    #[expect(unsafe_code, reason = "a foreign function")]
    fn exec(&self) -> io::Error {
        let [args, env] = [&self.args, &self.env].map(|strings| strings.pointers.as_ptr());
        // SAFETY: both arrays end with a null pointer, the first one not before the program's path.
        unsafe { libc::execve(*args, args, env) };
        io::Error::last_os_error()
    }
}

/// Waits for a process to exit without reaping it.
#[derive(Debug)]
enum ExitWatch {
    #[cfg(target_os = "linux")]
    Pidfd(Pid, tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>),
    /// Takes one of the runtime's blocking threads for each child.
    Thread(tokio::task::JoinHandle<io::Result<WaitStatus>>),
}

impl ExitWatch {
    #[cfg(target_os = "linux")]
    fn new(pid: Pid) -> Self {
        let flags = rustix::process::PidfdFlags::empty();
        Self::with_pidfd(pid, rustix::process::pidfd_open(pid, flags))
    }

    #[cfg(not(target_os = "linux"))]
    fn new(pid: Pid) -> Self {
        Self::with_thread(pid)
    }

    /// Old kernels and some sandboxes refuse a pidfd.
    #[cfg(target_os = "linux")]
    fn with_pidfd(pid: Pid, descriptor: rustix::io::Result<std::os::fd::OwnedFd>) -> Self {
        let watched = descriptor
            .map_err(io::Error::from)
            .and_then(crate::streams::register_readable);
        match watched {
            Ok(descriptor) => Self::Pidfd(pid, descriptor),
            Err(_) => Self::with_thread(pid),
        }
    }

    fn with_thread(pid: Pid) -> Self {
        Self::Thread(tokio::task::spawn_blocking(move || wait_unreaped(pid)))
    }

    async fn status(&mut self) -> io::Result<WaitStatus> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Pidfd(pid, descriptor) => {
                descriptor.readable().await?.retain_ready();
                wait_unreaped(*pid)
            }
            Self::Thread(waiting) => waiting.await?,
        }
    }
}

fn wait_unreaped(pid: Pid) -> io::Result<WaitStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(pid), options))?;
    let status = status.ok_or(io::ErrorKind::NotFound)?;
    Ok(match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => WaitStatus::Code(code),
        (None, Some(signal)) => WaitStatus::Signal(signal),
        (None, None) => WaitStatus::Signal(0),
    })
}

impl Portable {
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) async fn next_event(&mut self) -> ChildEvent {
        if let Some(exited) = &mut self.exited {
            let status = exited.status().await;
            self.exited = None;
            return match status {
                Ok(status) => ChildEvent::Exited {
                    status,
                    descendants: None,
                },
                Err(_) => {
                    // The system has reaped it, because this process ignores SIGCHLD.
                    self.reaped = true;
                    ChildEvent::Lost
                }
            };
        }
        if !self.killing {
            return std::future::pending().await;
        }
        let _ = self.child.wait().await;
        self.reaped = true;
        ChildEvent::Gone {
            killed: 0,
            remaining: 0,
        }
    }

    pub(crate) fn signal(&self, signal: ChildSignal) {
        self.signal_group(signal.into());
    }

    pub(crate) fn kill_all(&mut self) {
        if !self.killing {
            self.signal_group(Signal::KILL);
            self.killing = true;
        }
    }

    fn signal_group(&self, signal: Signal) {
        if self.reaped {
            return;
        }
        let _ = rustix::process::kill_process_group(self.pid, signal);
    }
}

impl Drop for Portable {
    /// If the runtime shuts down before the child is reaped, its group is killed.
    fn drop(&mut self) {
        self.signal_group(Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::{ChildEvent, Portable, spawn_portable};
    use crate::spec::{SpawnSpec, StdinMode};
    use crate::streams::{OurEnds, open_streams};
    use bytes::BytesMut;
    use rustix::process::WaitOptions;
    use tokio::io::AsyncWriteExt;

    /// A child that ends with its stdin.
    fn cat() -> (Portable, OurEnds) {
        let mut spec = SpawnSpec::new("cat");
        spec.stdin = StdinMode::Piped;
        let (ours, theirs) = open_streams(&spec).unwrap();
        let portable = spawn_portable(crate::resolve::resolved_command("cat"), theirs).unwrap();
        (portable, ours)
    }

    #[tokio::test]
    async fn no_signal_is_sent_to_an_id_that_was_given_back() {
        let (mut portable, streams) = cat();
        drop(streams);
        // As the system does when this process ignores SIGCHLD.
        rustix::process::waitpid(Some(portable.pid), WaitOptions::empty()).unwrap();
        assert_eq!(portable.next_event().await, ChildEvent::Lost);
        // Another process that got the id.
        let (other, mut streams) = cat();
        portable.pid = other.pid;
        portable.kill_all();
        drop(portable);
        let mut stdin = streams.stdin.unwrap();
        stdin.write_all(b"alive").await.unwrap();
        let mut buffer = BytesMut::with_capacity(16);
        streams.stdout.read(&mut buffer).await.unwrap();
        assert_eq!(&buffer[..], b"alive");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_system_without_pidfds_still_reports_the_exit() {
        let (mut portable, streams) = cat();
        use super::{ExitWatch, WaitStatus};
        let refused = Err(rustix::io::Errno::NOSYS);
        portable.exited = Some(ExitWatch::with_pidfd(portable.pid, refused));
        drop(streams);
        let event = portable.next_event().await;
        let exited = ChildEvent::Exited {
            status: WaitStatus::Code(0),
            descendants: None,
        };
        assert_eq!(event, exited);
    }
}
