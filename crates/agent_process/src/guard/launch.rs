//! `launch`: starts the child from the guard, directly or as the first program of a PID namespace.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::mount::{MountFlags, MountPropagationFlags};
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, Signal};

use super::process_tree;
use super::system::{self, Forked, SignalMask};
use super::wire::{self, ChildSpec, FAILURE_BYTES, FailedStep};

/// A started child, seen from the guard.
pub(super) struct Launched {
    /// The process that the guard forked: the agent, or the namespace's init.
    pub(super) child: Pid,
    /// The agent's process id, as the guard sees it.
    pub(super) agent: Pid,
    /// A pipe on which a namespace's init reports the agent's status. Without a namespace the guard reaps the agent.
    pub(super) status: Option<OwnedFd>,
    /// Open while the guard lives, so that an init that is just starting notices the guard's death.
    _alive: Option<OwnedFd>,
}

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

/// The signals that an init forwards to the agent.
const FORWARDED: [i32; 7] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGCONT,
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
    // A successful exec closes the agent's end of the pipe, so that this read sees end of file.
    let mut failure = [0_u8; FAILURE_BYTES];
    match wire::read_exact(&failures, &mut failure) {
        Ok(true) => {
            process_tree::wait_for(launched.child);
            let (step, error) = FailedStep::decode(failure);
            Err(LaunchFailure { step, error })
        }
        Ok(false) => Ok(Launched {
            agent: agent_of(&launched),
            ..launched
        }),
        Err(error) => Err(setup(error)),
    }
}

/// Inside the namespace the agent has another process id, so the guard looks it up below the init.
fn agent_of(launched: &Launched) -> Pid {
    if launched.status.is_none() {
        return launched.agent;
    }
    // If the agent has ended already, the init's id stands in for it. It is only displayed.
    process_tree::first_of_namespace(launched.child).unwrap_or(launched.child)
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

/// Makes the next child of this process the init of a new PID namespace. Without privileges that needs a user namespace,
/// in which user and group ids stay the same.
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

/// Process 1 of the namespace: starts the agent, reaps, forwards signals. The kernel kills it when the guard dies, and
/// all other processes of the namespace with it.
fn become_init(
    spec: &ChildSpec,
    stdio: &[OwnedFd; 3],
    mask: &SignalMask,
    go: &OwnedFd,
    report: &OwnedFd,
    failed: &OwnedFd,
) -> ! {
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    // The guard may have died before the line above took effect. Then its end of this pipe is closed.
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
    // The init must not hold the agent's streams or the control socket open.
    system::close_all_but(&[&signals, report]);
    for standard in 0..3 {
        let _ = open_null().and_then(|null| system::install(&null, standard));
    }
    let mut agent = Some(agent);
    loop {
        process_tree::wait_readable(&signals, None);
        while let Some(signal) = system::take_signal(&signals) {
            let signal = Signal::from_named_raw(signal).filter(|signal| *signal != Signal::CHILD);
            if let (Some(agent), Some(signal)) = (agent, signal) {
                let _ = rustix::process::kill_process_group(agent, signal);
            }
        }
        let has_children = process_tree::reap(|pid, status| {
            if agent == Some(pid) {
                agent = None;
                let _ = wire::write_all(report, &status.to_le_bytes());
            }
        });
        if !has_children {
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

/// Mounts a `/proc` that shows only the namespace's processes. Not visible outside.
fn own_proc() -> io::Result<()> {
    system::unshare(libc::CLONE_NEWNS)?;
    rustix::mount::mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(rustix::mount::mount("proc", "/proc", "proc", flags, None)?)
}

fn become_agent(spec: &ChildSpec, stdio: &[OwnedFd; 3], mask: &SignalMask, failed: &OwnedFd) -> ! {
    // In a session of its own, so that Ctrl-C in our terminal does not reach it, and it can be signalled as a group.
    let prepared = rustix::process::setsid().map_err(io::Error::from).and_then(|_| {
        (0..)
            .zip(stdio)
            .try_for_each(|(standard, descriptor)| system::install(descriptor, standard))
    });
    if let Err(error) = prepared {
        give_up(failed, FailedStep::Setup, &error);
    }
    if let Err(error) = rustix::process::chdir(spec.cwd()) {
        give_up(failed, FailedStep::WorkingDirectory, &error.into());
    }
    system::close_on_exec();
    system::reset_signals(mask);
    match system::exec(spec.program(), spec.args(), spec.env()) {
        Ok(never) => match never {},
        Err(error) => give_up(failed, FailedStep::Exec, &error),
    }
}

fn give_up(failed: &OwnedFd, step: FailedStep, error: &io::Error) -> ! {
    let error = error.raw_os_error().unwrap_or(libc::EIO);
    let _ = wire::write_all(failed, &step.encode(error));
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
