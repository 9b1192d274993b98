//! The guard's main loop: starts the agent, handles requests, and kills all descendants when its client is gone.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal};

use super::launch::{self, Launched};
use super::process_tree::{self, Killed, ProcessInfo};
use super::system;
use super::wire::{self, ChildSpec, REQUEST_BYTES, Report, Request};

/// After this time, processes that are still alive are reported as remaining.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long descendants may take to stop. One in a system call that cannot be interrupted stops when it returns.
const FREEZE_TIMEOUT: Duration = Duration::from_secs(1);

/// How often the guard tries again after that report.
const KILL_ATTEMPTS: usize = 120;

/// Runs a guard until no descendant is left, then exits.
pub(super) fn guard_process(control: &OwnedFd) -> ! {
    let served = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| guard(control)));
    system::exit_now(i32::from(!matches!(served, Ok(Ok(())))))
}

struct Guard<'a> {
    control: &'a OwnedFd,
    children: OwnedFd,
    launched: Launched,
    exited: bool,
    /// Processes that were stopped on request.
    frozen: Vec<ProcessInfo>,
}

fn guard(control: &OwnedFd) -> io::Result<()> {
    let _ = rustix::thread::set_name(super::GUARD_NAME);
    let (spec, stdio) = ChildSpec::receive(control)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    system::notice_children();
    // Only SIGKILL may end a guard before its work is done. The agent gets an empty mask.
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
        frozen: Vec::new(),
    };
    if guard.report(started).is_err() {
        guard.stop_orphans(orphan_grace);
        return Ok(());
    }
    loop {
        match guard.next_turn()? {
            Turn::Nothing => {}
            Turn::Request(Request::Signal(signal)) => guard.signal(signal),
            Turn::Request(Request::Freeze) => {
                let stopped = process_tree::stop_all(FREEZE_TIMEOUT);
                guard.frozen.extend(stopped);
                let _ = guard.report(Report::Frozen);
            }
            Turn::Request(Request::Thaw) => guard.thaw(),
            Turn::Request(Request::KillAll) => {
                let gone = guard.kill_all();
                // The client may be gone by now.
                let _ = guard.report(gone);
                guard.keep_killing(gone);
                return Ok(());
            }
            Turn::ClientGone => {
                guard.stop_orphans(orphan_grace);
                return Ok(());
            }
        }
    }
}

enum Turn {
    Nothing,
    Request(Request),
    ClientGone,
}

impl Guard<'_> {
    fn next_turn(&mut self) -> io::Result<Turn> {
        let mut waiting = vec![PollFd::new(self.control, PollFlags::IN)];
        waiting.extend(self.exit_sources());
        match rustix::event::poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has_request = waiting
            .first()
            .is_some_and(|control| !control.revents().is_empty());
        drop(waiting);
        self.reap_and_report();
        if !has_request {
            return Ok(Turn::Nothing);
        }
        let mut frame = [0_u8; REQUEST_BYTES];
        match wire::read_exact(&self.control.as_fd(), &mut frame) {
            Ok(true) => Ok(Request::decode(frame).map_or(Turn::Nothing, Turn::Request)),
            Ok(false) | Err(_) => Ok(Turn::ClientGone),
        }
    }

    /// What becomes readable when the agent or another descendant ends.
    fn exit_sources(&self) -> impl Iterator<Item = PollFd<'_>> {
        let status = self.launched.status.as_ref().filter(|_| !self.exited);
        std::iter::once(&self.children)
            .chain(status)
            .map(|source| PollFd::new(source, PollFlags::IN))
    }

    /// Reaps all processes that have ended and reports the agent's status, once.
    fn reap_and_report(&mut self) {
        while system::take_signal(&self.children).is_some() {}
        let mut ended = None;
        let child = self.launched.child;
        let has_children = process_tree::reap(|pid, status| {
            if pid == child {
                ended = Some(status);
            }
        });
        if let Some(reported) = self.launched.status.as_ref().and_then(namespace_status) {
            ended = Some(reported);
        }
        if let Some(status) = ended.filter(|_| !self.exited) {
            self.exited = true;
            // Orphans become our children, so without a child there is no descendant.
            let descendants = if has_children { self.survivors() } else { 0 };
            let _ = self.report(Report::Exited { status, descendants });
        }
    }

    /// The number of living descendants of the agent.
    fn survivors(&self) -> i32 {
        let own = [self.launched.child, self.launched.agent].map(|pid| pid.as_raw_nonzero().get());
        saturating(
            process_tree::living_descendants()
                .iter()
                .filter(|process| !own.contains(&process.pid))
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
            // The init forwards it, as only the init knows whether the agent has been reaped.
            Some(_) => rustix::process::kill_process(self.launched.child, signal),
            // The agent has not been reaped, so its id is still its group's.
            None => rustix::process::kill_process_group(self.launched.agent, signal),
        };
    }

    fn thaw(&mut self) {
        process_tree::continue_all(std::mem::take(&mut self.frozen));
    }

    fn kill_all(&mut self) -> Report {
        let mut ended = None;
        let Launched { child, agent, .. } = self.launched;
        let Killed { killed, remaining } =
            process_tree::kill_all(&self.children, KILL_TIMEOUT, |pid: Pid, status| {
                if pid == child {
                    ended = Some(status);
                }
            });
        // Prefer the agent's own status, if its init still reported it, over the init's.
        let ended = self.launched.status.as_ref().and_then(namespace_status).or(ended);
        if let Some(status) = ended.filter(|_| !self.exited) {
            self.exited = true;
            let _ = self.report(Report::Exited {
                status,
                descendants: 0,
            });
        }
        // The agent and its init do not count as survivors.
        let own = [child, agent].map(|pid| pid.as_raw_nonzero().get());
        let survivors = killed.iter().filter(|(pid, _)| !own.contains(pid)).count();
        Report::Gone {
            killed: saturating(survivors),
            remaining: saturating(remaining),
        }
    }

    /// After the client's death: asks the agent to terminate, then kills everything.
    fn stop_orphans(&mut self, grace: Duration) {
        let deadline = Instant::now() + grace;
        self.signal(Signal::TERM.as_raw());
        // A stopped process handles the signal when it continues.
        self.thaw();
        while !self.exited {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else {
                break;
            };
            let mut waiting: Vec<_> = self.exit_sources().collect();
            let _ = rustix::event::poll(&mut waiting, Timespec::try_from(left).ok().as_ref());
            drop(waiting);
            self.reap_and_report();
        }
        let gone = self.kill_all();
        self.keep_killing(gone);
    }

    /// Retries for processes that did not die: they may still leave the kernel.
    fn keep_killing(&mut self, mut gone: Report) {
        for _ in 0..KILL_ATTEMPTS {
            match gone {
                Report::Gone { remaining: 1.., .. } => gone = self.kill_all(),
                _ => return,
            }
        }
    }

    fn report(&self, report: Report) -> io::Result<()> {
        wire::write_all(self.control, &report.encode())
    }
}

fn saturating(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// The agent's status, if its namespace's init has reported it.
fn namespace_status(status: &OwnedFd) -> Option<i32> {
    let mut waiting = [PollFd::new(status, PollFlags::IN)];
    let now = Timespec {
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
