//! Starting the agent from the guard: plainly, or as the first program of a PID namespace.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal};

use super::family;
use super::system::{self, Forked, SignalMask};
use super::wire::{self, ChildSpec, FailedStep};

/// A started child, seen from the guard.
pub(super) struct Launched {
    /// The guard's own child: the agent, or the namespace's init.
    pub(super) child: Pid,
    /// The agent's process id in the guard's view.
    pub(super) agent: Pid,
    /// Where a namespace's init reports the agent's status; without one the guard reaps the agent itself.
    pub(super) status: Option<OwnedFd>,
    /// Open for as long as the guard lives: how an init that is just starting learns that it does not.
    _alive: Option<OwnedFd>,
}

/// Why the child did not start.
pub(super) struct LaunchFailure {
    pub(super) step: FailedStep,
    pub(super) error: i32,
}

impl LaunchFailure {
    fn at(step: FailedStep) -> impl Fn(io::Error) -> Self {
        move |error| Self {
            step,
            error: error.raw_os_error().unwrap_or(libc::EIO),
        }
    }
}

/// The signals an init passes on to the agent.
const FORWARDED: [i32; 6] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

pub(super) fn launch(
    spec: &ChildSpec,
    stdio: &[OwnedFd; 3],
    mask: &SignalMask,
) -> Result<Launched, LaunchFailure> {
    let setup = LaunchFailure::at(FailedStep::Setup);
    let (failures, failed) =
        rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|error| setup(error.into()))?;
    let launched = if spec.namespace {
        launch_in_namespace(spec, stdio, mask, failed)?
    } else {
        let fork = LaunchFailure::at(FailedStep::Fork);
        match system::fork().map_err(fork)? {
            Forked::Child => become_agent(spec, stdio, mask, &failed),
            Forked::Parent(pid) => {
                drop(failed);
                Launched {
                    child: pid,
                    agent: pid,
                    status: None,
                    _alive: None,
                }
            }
        }
    };
    // The agent's copy of the pipe is closed by a successful exec: then this read sees the end.
    let mut failure = [0_u8; 5];
    match wire::read_exact(&failures, &mut failure) {
        Ok(true) => {
            let [step, error @ ..] = failure;
            family::wait_for(launched.child);
            Err(LaunchFailure {
                step: FailedStep::from_code(step),
                error: i32::from_le_bytes(error),
            })
        }
        Ok(false) => Ok(Launched {
            agent: agent_of(&launched),
            ..launched
        }),
        Err(error) => Err(setup(error)),
    }
}

/// A namespace's init knows the agent by another number than the guard does; the guard looks below the init.
fn agent_of(launched: &Launched) -> Pid {
    if launched.status.is_none() {
        return launched.agent;
    }
    // One that has ended already has no number any more; its init's harms nobody.
    family::first_of_namespace(launched.child).unwrap_or(launched.child)
}

fn launch_in_namespace(
    spec: &ChildSpec,
    stdio: &[OwnedFd; 3],
    mask: &SignalMask,
    failed: OwnedFd,
) -> Result<Launched, LaunchFailure> {
    let refused = LaunchFailure::at(FailedStep::Namespace);
    enter_namespaces().map_err(&refused)?;
    let pipe = || rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|error| refused(error.into()));
    let (status, report) = pipe()?;
    let (go, ready) = pipe()?;
    match system::fork().map_err(&refused)? {
        Forked::Child => {
            drop((status, ready));
            become_init(spec, stdio, mask, &go, &report, &failed)
        }
        Forked::Parent(child) => {
            drop((go, report, failed));
            wire::write_all(&ready, b"!").map_err(&refused)?;
            Ok(Launched {
                child,
                agent: child,
                status: Some(status),
                _alive: Some(ready),
            })
        }
    }
}

/// The next child of this process becomes the init of a new PID namespace. Without privileges that needs a user
/// namespace, in which we keep our own numbers.
fn enter_namespaces() -> io::Result<()> {
    match system::unshare(libc::CLONE_NEWPID) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {}
        other => return other,
    }
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    system::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Process 1 of the namespace: starts the agent, reaps, forwards signals. The kernel ends it with the guard, and
/// everything else in the namespace with it.
fn become_init(
    spec: &ChildSpec,
    stdio: &[OwnedFd; 3],
    mask: &SignalMask,
    go: &OwnedFd,
    report: &OwnedFd,
    failed: &OwnedFd,
) -> ! {
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    // The guard may have died before the line above took effect. Its end of this pipe is open for as long as it
    // lives, so a closed one means just that.
    if !matches!(wire::read_exact(go, &mut [0]), Ok(true)) || has_hung_up(go) {
        system::exit_now(1);
    }
    let started = own_proc().and_then(|()| {
        Ok((
            system::signal_descriptor(&[&FORWARDED[..], &[libc::SIGCHLD]].concat())?,
            system::fork()?,
        ))
    });
    let (signals, agent) = match started {
        Ok((_, Forked::Child)) => become_agent(spec, stdio, mask, failed),
        Ok((signals, Forked::Parent(agent))) => (signals, agent),
        Err(error) => give_up(failed, FailedStep::Namespace, &error),
    };
    // Nobody may mistake the init for a reader or writer of the agent's streams, or for the guard.
    system::close_all_but(&[&signals, report]);
    for standard in 0..3 {
        let _ = open_null().and_then(|null| system::install(&null, standard));
    }
    let mut agent = Some(agent);
    loop {
        family::wait_readable(&signals, family::FOREVER);
        while let Some(signal) = system::take_signal(&signals) {
            let signal = Signal::from_named_raw(signal).filter(|signal| *signal != Signal::CHILD);
            if let (Some(agent), Some(signal)) = (agent, signal) {
                let _ = rustix::process::kill_process_group(agent, signal);
            }
        }
        let anyone = family::reap(|pid, status| {
            if agent == Some(pid) {
                agent = None;
                let _ = wire::write_all(report, &status.to_le_bytes());
            }
        });
        if !anyone {
            system::exit_now(0);
        }
    }
}

/// Whether the other end of a pipe is closed.
pub(super) fn has_hung_up(pipe: &OwnedFd) -> bool {
    let mut waiting = [PollFd::new(pipe, PollFlags::IN)];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let _ = rustix::event::poll(&mut waiting, Some(&now));
    waiting
        .iter()
        .any(|waiting| waiting.revents().contains(PollFlags::HUP))
}

/// A `/proc` that shows the namespace's processes only, invisible to the rest of the system.
fn own_proc() -> io::Result<()> {
    system::unshare(libc::CLONE_NEWNS)?;
    rustix::mount::mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(rustix::mount::mount("proc", "/proc", "proc", flags, None)?)
}

fn become_agent(spec: &ChildSpec, stdio: &[OwnedFd; 3], mask: &SignalMask, failed: &OwnedFd) -> ! {
    // A session of its own: no terminal's Ctrl-C reaches it past us, and it can be signalled as a group.
    let prepared = rustix::process::setsid().map_err(io::Error::from).and_then(|_| {
        (0..)
            .zip(stdio)
            .try_for_each(|(standard, descriptor)| system::install(descriptor, standard))
    });
    if let Err(error) = prepared {
        give_up(failed, FailedStep::Setup, &error);
    }
    if let Err(error) = rustix::process::chdir(spec.cwd.as_c_str()) {
        give_up(failed, FailedStep::WorkingDirectory, &error.into());
    }
    system::close_on_exec();
    system::reset_signals(mask);
    match system::exec(&spec.program, &spec.args, &spec.env) {
        Ok(never) => match never {},
        Err(error) => give_up(failed, FailedStep::Exec, &error),
    }
}

fn give_up(failed: &OwnedFd, step: FailedStep, error: &io::Error) -> ! {
    let mut failure = [step.code(); 5];
    failure[1..].copy_from_slice(&error.raw_os_error().unwrap_or(libc::EIO).to_le_bytes());
    let _ = wire::write_all(failed, &failure);
    system::exit_now(127)
}

pub(super) fn open_null() -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    Ok(rustix::fs::open(
        "/dev/null",
        OFlags::RDWR | OFlags::CLOEXEC,
        Mode::empty(),
    )?)
}
