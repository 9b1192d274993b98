//! The guard's life: start the agent, obey the runner, outlive it just long enough to end everything.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, Signal};

use super::family::{self, Killed};
use super::launch::{self, Launched};
use super::system;
use super::wire::{self, ORDER_BYTES, Order, Report};

/// How long a guard tries to kill what does not die before it reports it as remaining.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// How often it tries again after that report.
const KILL_ATTEMPTS: usize = 120;

/// Runs a guard until nothing is left to guard, then ends the process.
pub(super) fn serve(control: &OwnedFd) -> ! {
    let served = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| guard(control)));
    system::exit_now(i32::from(!matches!(served, Ok(Ok(())))))
}

struct Guard<'a> {
    control: &'a OwnedFd,
    children: OwnedFd,
    launched: Launched,
    exited: bool,
}

fn guard(control: &OwnedFd) -> io::Result<()> {
    let _ = rustix::thread::set_name(super::GUARD_NAME);
    let (spec, stdio) = wire::receive_spec(control)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    system::notice_children();
    // Nothing but SIGKILL may end a guard before its work is done; what the agent inherits is an empty mask.
    system::block_signals()?;
    let children = system::signal_descriptor(&[libc::SIGCHLD])?;
    let launched = match launch::launch(&spec, &stdio, &system::empty_mask()) {
        Ok(launched) => launched,
        Err(failure) => {
            let report = Report::Failed {
                step: failure.step,
                error: failure.error,
            };
            return wire::write_all(control, &report.encode());
        }
    };
    drop(stdio);
    let started = Report::Started {
        pid: launched.agent.as_raw_nonzero().get(),
        guard: rustix::process::getpid().as_raw_nonzero().get(),
    };
    let orphan_grace = Duration::from_millis(spec.orphan_grace_milliseconds.into());
    drop(spec);
    let mut guard = Guard {
        control,
        children,
        launched,
        exited: false,
    };
    if guard.tell(started).is_err() {
        guard.end_orphans(orphan_grace);
        return Ok(());
    }
    loop {
        match guard.next_order()? {
            Turn::Nothing => {}
            Turn::Order(Order::Signal(signal)) => guard.signal(signal),
            Turn::Order(Order::KillAll) => {
                let gone = guard.kill_all();
                // The runner may be gone by now; then there is nobody to tell.
                let _ = guard.tell(gone);
                guard.keep_killing(gone);
                return Ok(());
            }
            Turn::RunnerGone => {
                guard.end_orphans(orphan_grace);
                return Ok(());
            }
        }
    }
}

enum Turn {
    Nothing,
    Order(Order),
    RunnerGone,
}

impl Guard<'_> {
    fn next_order(&mut self) -> io::Result<Turn> {
        let mut waiting = vec![
            PollFd::new(self.control, PollFlags::IN),
            PollFd::new(&self.children, PollFlags::IN),
        ];
        if let Some(status) = self.launched.status.as_ref().filter(|_| !self.exited) {
            waiting.push(PollFd::new(status, PollFlags::IN));
        }
        match rustix::event::poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ordered = waiting
            .first()
            .is_some_and(|control| !control.revents().is_empty());
        drop(waiting);
        self.notice_deaths();
        if !ordered {
            return Ok(Turn::Nothing);
        }
        let mut frame = [0_u8; ORDER_BYTES];
        match wire::read_exact(&self.control.as_fd(), &mut frame) {
            Ok(true) => Ok(Order::decode(frame).map_or(Turn::Nothing, Turn::Order)),
            Ok(false) | Err(_) => Ok(Turn::RunnerGone),
        }
    }

    /// Reaps whoever has ended and reports the agent's status, once.
    fn notice_deaths(&mut self) {
        while system::take_signal(&self.children).is_some() {}
        let mut ended = None;
        let child = self.launched.child;
        let has_children = family::reap(|pid, status| {
            if pid == child {
                ended = Some(status);
            }
        });
        if let Some(reported) = self.launched.status.as_ref().and_then(namespace_status) {
            ended = Some(reported);
        }
        if let Some(status) = ended.filter(|_| !self.exited) {
            self.exited = true;
            // Every orphan below us is our child: without a child there is no descendant, and nobody to look for.
            let descendants = if has_children { self.survivors() } else { 0 };
            let _ = self.tell(Report::Exited { status, descendants });
        }
    }

    /// How many of the agent's descendants are alive.
    fn survivors(&self) -> i32 {
        let own = [self.launched.child, self.launched.agent].map(|pid| pid.as_raw_nonzero().get());
        number(
            family::living_descendants()
                .iter()
                .filter(|member| !own.contains(&member.pid))
                .count(),
        )
    }

    fn signal(&self, signal: i32) {
        let Some(signal) = Signal::from_named_raw(signal) else {
            return;
        };
        if self.exited {
            return;
        }
        let _ = match self.launched.status {
            // An init forwards; only it knows whether the agent is still there to be signalled.
            Some(_) => rustix::process::kill_process(self.launched.child, signal),
            // The agent has not been reaped, so its number still means it and its group.
            None => rustix::process::kill_process_group(self.launched.agent, signal),
        };
    }

    fn kill_all(&mut self) -> Report {
        let mut ended = None;
        let Launched { child, agent, .. } = self.launched;
        let Killed { killed, remaining } =
            family::kill_all(&self.children, KILL_LIMIT, |pid: Pid, status| {
                if pid == child {
                    ended = Some(status);
                }
            });
        // The agent's own status, if its init had the time to pass it on, is better than the init's.
        let ended = self.launched.status.as_ref().and_then(namespace_status).or(ended);
        if let Some(status) = ended.filter(|_| !self.exited) {
            self.exited = true;
            let _ = self.tell(Report::Exited {
                status,
                descendants: 0,
            });
        }
        // The agent and its init are not its survivors.
        let own = [child, agent].map(|pid| pid.as_raw_nonzero().get());
        let survivors = killed.iter().filter(|(pid, _)| !own.contains(pid)).count();
        Report::Gone {
            killed: number(survivors),
            remaining: number(remaining),
        }
    }

    /// The runner is gone: the agent gets a short chance to end by itself, then everything is killed.
    fn end_orphans(&mut self, grace: Duration) {
        let deadline = Instant::now() + grace;
        self.signal(libc::SIGTERM);
        while !self.exited {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                break;
            };
            family::wait_readable(&self.children, left);
            self.notice_deaths();
        }
        let gone = self.kill_all();
        self.keep_killing(gone);
    }

    /// Does not let go of what would not die: it may yet leave the kernel, or run out of children.
    fn keep_killing(&mut self, mut gone: Report) {
        for _ in 0..KILL_ATTEMPTS {
            match gone {
                Report::Gone { remaining: 1.., .. } => gone = self.kill_all(),
                _ => return,
            }
        }
    }

    fn tell(&self, report: Report) -> io::Result<()> {
        wire::write_all(self.control, &report.encode())
    }
}

fn number(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The agent's status from its namespace's init, if it has arrived.
fn namespace_status(status: &OwnedFd) -> Option<i32> {
    let mut waiting = [PollFd::new(status, PollFlags::IN)];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    rustix::event::poll(&mut waiting, Some(&now))
        .ok()
        .filter(|ready| *ready > 0)?;
    let mut bytes = [0_u8; 4];
    wire::read_exact(status, &mut bytes)
        .ok()
        .filter(|complete| *complete)?;
    Some(i32::from_le_bytes(bytes))
}
