//! Where guards come from: forked from a process that was itself forked before any thread existed, or a new run
//! of the same executable.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::OnceLock;

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Gid, Pid, Uid, WaitOptions};

use super::system::{self, Forked};
use super::wire::{self, FailedStep, Report};
use super::{launch, serve};

/// The first argument of a process that is to be a guard.
pub(super) const GUARD_ARGUMENT: &str = "__agent_process_guard";

/// What a zygote is asked for: a guard at the other end of the descriptor that comes along, or to keep it.
const NEW_GUARD: u8 = b'+';
const KEEP: u8 = b'=';

/// What [`guard_main`] prepared.
static PREPARED: OnceLock<Prepared> = OnceLock::new();

struct Prepared {
    /// The zygote, when it could be forked.
    zygote: Option<Zygote>,
    /// Who this process was then.
    identity: Identity,
}

struct Zygote {
    requests: OwnedFd,
    pid: Pid,
}

/// Whom a process acts as. A zygote keeps the one it was forked with.
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

/// How guards are made in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Forked,
    Reexec,
    Nowhere,
}

/// Must be the first line of `main` in a program that wants its children guarded.
///
/// In a process that was started to be a guard it never returns. In any other it forks, while there is only one
/// thread, the small process that all guards are forked from later; that process ends with this one. Where the
/// fork fails, and when that process is killed, guards are new runs of this executable.
///
/// Called too late, when threads exist, it does nothing: a guard needs a process without threads. Then, and in a
/// program that never calls it, children are run in the weaker mode that
/// [`capabilities`](crate::capabilities) reports.
///
/// Guards, and so children, have the limits (`ulimit`), umask, niceness and namespaces that this process has now;
/// their environment and directory are those of the spawn. A process that changes its user or groups later gets
/// re-executed guards from then on, with the identity it has then.
pub fn guard_main() {
    prepare(|| fork_zygote().ok());
}

/// [`guard_main`] for a program that wants no process beside it while it has no child: every guard is a new run of
/// this executable, which takes more memory. It must be the first line of `main` as well.
pub fn guard_main_reexec() {
    prepare(|| None);
}

fn prepare(zygote: impl FnOnce() -> Option<Zygote>) {
    serve_if_guard();
    if is_single_threaded() {
        PREPARED.get_or_init(|| Prepared {
            zygote: zygote(),
            identity: Identity::current(),
        });
    }
}

/// Does not return in a process that was started to be a guard.
fn serve_if_guard() {
    if std::env::args_os()
        .nth(1)
        .is_none_or(|argument| argument != GUARD_ARGUMENT)
    {
        return;
    }
    // With a second thread signals could go astray; better no guard than one that misses its child's end.
    let control = is_single_threaded().then(system::take_standard_input);
    match control.and_then(Result::ok).filter(|_| detach().is_ok()) {
        Some(control) => serve::serve(&control),
        None => system::exit_now(1),
    }
}

/// Where a guard would come from now.
pub(crate) fn source() -> Source {
    let Some(prepared) = PREPARED.get() else {
        return Source::Nowhere;
    };
    match &prepared.zygote {
        Some(zygote) if zygote.is_alive() && prepared.identity == Identity::current() => Source::Forked,
        Some(_) | None => Source::Reexec,
    }
}

impl Zygote {
    fn is_alive(&self) -> bool {
        let alive = !launch::has_hung_up(&self.requests);
        if !alive {
            // It was killed; nobody else reaps it.
            let _ = rustix::process::waitpid(Some(self.pid), WaitOptions::NOHANG);
        }
        alive
    }
}

/// A new guard at the other end of a socket; with the process handle when it must be waited for.
pub(super) fn new_guard(source: Source) -> io::Result<(UnixStream, Option<tokio::process::Child>)> {
    let (ours, theirs) = UnixStream::pair()?;
    let zygote = PREPARED.get().and_then(|prepared| prepared.zygote.as_ref());
    if let Some(zygote) = zygote.filter(|_| source == Source::Forked)
        && wire::send_descriptors(&zygote.requests, &[NEW_GUARD], &[theirs.as_fd()]).is_ok()
    {
        return Ok((ours, None));
    }
    // The zygote was killed or is stuck, or there never was one.
    let mut command = tokio::process::Command::new("/proc/self/exe");
    command.arg(GUARD_ARGUMENT).env_clear().current_dir("/");
    // What the dynamic linker needs to start this executable again.
    command.envs(std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"LD_")));
    command
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let child = command.spawn()?;
    Ok((ours, Some(child)))
}

/// Has a descriptor kept open until this process has ended, in place of the last one given: what the system does when
/// the last copy is closed takes time, and then it is not ours. Where that cannot be, nothing is lost but that time.
pub(crate) fn keep_until_our_end(descriptor: &OwnedFd) {
    let zygote = PREPARED.get().and_then(|prepared| prepared.zygote.as_ref());
    if let Some(zygote) = zygote.filter(|zygote| zygote.is_alive()) {
        let _ = wire::send_descriptors(&zygote.requests, &[KEEP], &[descriptor.as_fd()]);
    }
}

fn is_single_threaded() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1)
}

fn fork_zygote() -> io::Result<Zygote> {
    let flags = SocketFlags::CLOEXEC;
    let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    match system::fork()? {
        Forked::Parent(pid) => Ok(Zygote { requests: ours, pid }),
        Forked::Child => {
            let _ = rustix::thread::set_name(super::ZYGOTE_NAME);
            drop(ours);
            if system::block_signals().and_then(|_| detach()).is_err() {
                system::exit_now(1);
            }
            system::close_all_but(&[&theirs]);
            system::ignore_children();
            breed(&theirs)
        }
    }
}

/// The zygote's whole life: one guard per request, until the process it belongs to is gone.
fn breed(requests: &OwnedFd) -> ! {
    let mut _kept = None;
    loop {
        let mut request = [0_u8; 1];
        let Ok(mut received) = wire::receive_descriptors(requests, &mut request) else {
            system::exit_now(0)
        };
        let Some(control) = received.pop() else { continue };
        if request == [KEEP] {
            _kept = Some(control);
            continue;
        }
        match system::fork() {
            Ok(Forked::Child) => {
                // Requests and their end are the zygote's business; this copy would keep nothing alive, but is not ours.
                system::close_all_but(&[&control]);
                serve::serve(&control)
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

/// Lets go of the terminal, the caller's streams and its directory: nothing may wait for a guard to close them.
fn detach() -> io::Result<()> {
    let _ = rustix::process::setsid();
    let null = launch::open_null()?;
    for standard in 0..3 {
        system::install(&null, standard)?;
    }
    Ok(rustix::process::chdir("/")?)
}
