//! Creates guards: forks them from the zygote, a process that was forked before any thread existed, or runs this
//! executable again.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Gid, Pid, Uid, WaitOptions};

use super::system::{self, Forked};
use super::wire::{self, FailedStep, Report};
use super::{launch, main_loop};

/// The first argument of a re-executed guard.
pub(super) const GUARD_ARGUMENT: &str = "__agent_process_guard";

/// The only request to a zygote: fork a guard for the control socket that is attached.
const NEW_GUARD: u8 = b'+';

/// Set by [`guard_main`].
static PREPARED: OnceLock<Prepared> = OnceLock::new();

struct Prepared {
    /// `None` if it could not be forked or was not wanted.
    zygote: Option<Zygote>,
    /// This process's identity at that time.
    identity: Identity,
}

struct Zygote {
    requests: OwnedFd,
    /// `None` once it was reaped: from then on another child may have its id.
    unreaped: Mutex<Option<Pid>>,
}

/// The users and groups of a process. A zygote keeps those it was forked with.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    users: [Uid; 2],
    groups: [Gid; 2],
    others: Vec<Gid>,
}

impl Identity {
    fn current() -> Self {
        use rustix::process::{getegid, geteuid, getgid, getgroups, getuid};
        Self {
            users: [getuid(), geteuid()],
            groups: [getgid(), getegid()],
            others: getgroups().unwrap_or_default(),
        }
    }
}

/// How guards are created in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GuardSource {
    Forked,
    Reexec,
    None,
}

/// Enables guards for the children of this process. Call it in the first line of `main`.
///
/// It forks a small process, the zygote, from which all guards are forked later and which ends together with this
/// process. If the fork fails, or the zygote is killed later, guards are new runs of this executable; in such a run this
/// function does not return.
///
/// The fork is only safe while this process has a single thread. If there are more, the function does nothing, and
/// children run without a guard, as [`capabilities`](crate::capabilities) reports.
///
/// Guards and children inherit this process's resource limits (`ulimit`), umask, niceness and namespaces as they are
/// now. If this process changes its user or groups later, guards are re-executed from then on, with the new identity.
pub fn guard_main() {
    prepare(|| fork_zygote().ok());
}

/// Like [`guard_main`], but without a zygote: every guard is a new run of this executable. There is no extra process
/// while there is no child, but each guard takes more memory.
pub fn guard_main_reexec() {
    prepare(|| None);
}

fn prepare(zygote: impl FnOnce() -> Option<Zygote>) {
    run_if_guard();
    if is_single_threaded() {
        PREPARED.get_or_init(|| Prepared {
            zygote: zygote(),
            identity: Identity::current(),
        });
    }
}

/// Does not return if this process was started as a guard.
fn run_if_guard() {
    if std::env::args_os()
        .nth(1)
        .is_none_or(|argument| argument != GUARD_ARGUMENT)
    {
        return;
    }
    // With a second thread the guard could miss the signal that its child has ended.
    let control = is_single_threaded().then(system::take_standard_input);
    match control.and_then(Result::ok).filter(|_| detach().is_ok()) {
        Some(control) => {
            // Descriptors that our parent did not mark close-on-exec must not stay open as long as the child runs.
            system::close_all_but(&[&control]);
            main_loop::guard_process(&control)
        }
        None => system::exit_now(1),
    }
}

/// How a guard would be created now.
pub(crate) fn guard_source() -> GuardSource {
    let Some(prepared) = PREPARED.get() else {
        return GuardSource::None;
    };
    match &prepared.zygote {
        Some(zygote) if zygote.is_alive() && prepared.identity == Identity::current() => GuardSource::Forked,
        Some(_) | None => GuardSource::Reexec,
    }
}

impl Zygote {
    fn is_alive(&self) -> bool {
        let alive = !launch::has_hung_up(&self.requests);
        if !alive {
            self.reap();
        }
        alive
    }

    /// Reaps it after it was killed, once.
    fn reap(&self) {
        let mut unreaped = self.unreaped.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running =
            |pid: Pid| matches!(rustix::process::waitpid(Some(pid), WaitOptions::NOHANG), Ok(None));
        *unreaped = unreaped.filter(|pid| is_running(*pid));
    }
}

/// Creates a guard. Returns its control socket and, if it has to be reaped, its process.
pub(super) fn new_guard(source: GuardSource) -> io::Result<(UnixStream, Option<tokio::process::Child>)> {
    let (ours, theirs) = UnixStream::pair()?;
    let zygote = PREPARED.get().and_then(|prepared| prepared.zygote.as_ref());
    if let Some(zygote) = zygote.filter(|_| source == GuardSource::Forked)
        && wire::send_descriptors(&zygote.requests, &[NEW_GUARD], &[theirs.as_fd()]).is_ok()
    {
        return Ok((ours, None));
    }
    // There is no zygote, or it was killed or does not respond.
    let mut command = tokio::process::Command::new("/proc/self/exe");
    command.arg(GUARD_ARGUMENT).env_clear().current_dir("/");
    // The dynamic linker may need these to start this executable.
    command.envs(std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"LD_")));
    command
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn()?;
    Ok((ours, Some(child)))
}

fn is_single_threaded() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

fn fork_zygote() -> io::Result<Zygote> {
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    match system::fork()? {
        Forked::Parent(pid) => Ok(Zygote {
            requests: ours,
            unreaped: Mutex::new(Some(pid)),
        }),
        Forked::Child => {
            let _ = rustix::thread::set_name(super::ZYGOTE_NAME);
            drop(ours);
            if system::block_signals().and_then(|_| detach()).is_err() {
                system::exit_now(1);
            }
            system::close_all_but(&[&theirs]);
            system::ignore_children();
            zygote_main(&theirs)
        }
    }
}

/// Forks one guard per request, until the client is gone.
fn zygote_main(requests: &OwnedFd) -> ! {
    loop {
        let mut request = [0_u8; 1];
        let Ok(mut received) = wire::receive_descriptors(requests, &mut request) else {
            system::exit_now(0)
        };
        let Some(control) = received.pop() else { continue };
        match system::fork() {
            Ok(Forked::Child) => {
                system::close_all_but(&[&control]);
                main_loop::guard_process(&control)
            }
            Ok(Forked::Parent(_)) => {}
            Err(error) => {
                let error = error.raw_os_error().unwrap_or(libc::EAGAIN);
                let report = Report::Failed {
                    step: FailedStep::Fork,
                    error,
                };
                let _ = wire::write_all(&control, &report.encode());
            }
        }
    }
}

/// Detaches from the terminal, the caller's standard streams and its working directory, so that a guard does not keep
/// them in use.
fn detach() -> io::Result<()> {
    let _ = rustix::process::setsid();
    let null = launch::open_null()?;
    for standard in 0..3 {
        system::install(&null, standard)?;
    }
    Ok(rustix::process::chdir("/")?)
}

#[cfg(test)]
mod tests {
    use super::Zygote;
    use rustix::process::Pid;
    use std::os::unix::net::UnixStream;
    use std::process::Command;
    use std::sync::Mutex;

    #[test]
    fn a_dead_zygote_is_reaped_once_and_its_id_is_then_left_alone() {
        let mut killed = Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&killed);
        let (ours, theirs) = UnixStream::pair().unwrap();
        let zygote = Zygote {
            requests: ours.into(),
            unreaped: Mutex::new(Some(pid)),
        };
        assert!(zygote.is_alive());
        drop(theirs);
        assert!(!zygote.is_alive());
        assert_eq!(*zygote.unreaped.lock().unwrap(), Some(pid), "it still runs");
        killed.kill().unwrap();
        while zygote.unreaped.lock().unwrap().is_some() {
            assert!(!zygote.is_alive());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(!zygote.is_alive(), "nothing is left to wait for");
        killed.wait().unwrap_err();
    }
}
