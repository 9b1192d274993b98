//! The tree of processes in `/proc`: finding, signalling, killing and reaping descendants.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use super::system;

/// A process in `/proc`. Process ids are reused; together with the start time they are unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ProcessInfo {
    pub(crate) pid: i32,
    pub(crate) started_ticks: u64,
    pub(crate) parent: i32,
    /// The first thread has ended. The process lives on as long as it has others.
    pub(crate) leader_ended: bool,
    /// Stopped by a signal or by a debugger.
    is_stopped: bool,
    threads: u32,
}

impl ProcessInfo {
    /// Whether nothing of the process runs any more.
    fn is_zombie(&self) -> bool {
        self.leader_ended && self.threads <= 1
    }
}

/// The result of [`kill_all`].
#[derive(Debug, Default)]
pub(super) struct Killed {
    /// Process id and start time of those that were killed.
    pub(super) killed: HashSet<(i32, u64)>,
    /// How many could not be killed.
    pub(super) remaining: usize,
}

pub(crate) fn process_info(pid: i32) -> Option<ProcessInfo> {
    // The line is a few hundred bytes and comes in one piece. A fixed buffer matters because all of `/proc` is read.
    let mut stat = [0_u8; 1024];
    let length = File::open(format!("/proc/{pid}/stat"))
        .ok()?
        .read(&mut stat)
        .ok()?;
    let stat = stat.get(..length)?;
    // The command's name may contain anything, also `)`, so the fields start after the last one.
    let fields = stat.get(memchr::memrchr(b')', stat)? + 2..)?;
    let mut fields = std::str::from_utf8(fields).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let leader_ended = matches!(state, "Z" | "X");
    let is_stopped = matches!(state, "T" | "t");
    let parent = fields.next()?.parse().ok()?;
    // The parent's id is field 4 of the line, the number of threads field 20, the start time field 22.
    let threads = fields.nth(15)?.parse().ok()?;
    let started_ticks = fields.nth(1)?.parse().ok()?;
    Some(ProcessInfo {
        pid,
        started_ticks,
        parent,
        leader_ended,
        is_stopped,
        threads,
    })
}

pub(crate) fn all_processes() -> Vec<ProcessInfo> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| process_info(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// All living descendants of `ancestor`, at any depth.
fn descendants(ancestor: i32) -> Vec<ProcessInfo> {
    let mut children: HashMap<i32, Vec<ProcessInfo>> = HashMap::new();
    for process in all_processes() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut ancestors = vec![ancestor];
    while let Some(parent) = ancestors.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            ancestors.push(child.pid);
            found.push(child);
        }
    }
    found
}

/// This process's descendants, without zombies.
pub(super) fn living_descendants() -> Vec<ProcessInfo> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    descendants(own)
        .into_iter()
        .filter(|process| !process.is_zombie())
        .collect()
}

/// Kills a descendant. Our own children cannot be confused with others before we reap them, so they need no pidfd.
fn kill_descendant(target: &ProcessInfo) {
    let is_child = target.parent == rustix::process::getpid().as_raw_nonzero().get();
    match Pid::from_raw(target.pid).filter(|_| is_child) {
        Some(child) => drop(rustix::process::kill_process(child, Signal::KILL)),
        None => drop(signal_process(target, Signal::KILL)),
    }
}

/// Sends a signal to exactly this process. Opens a pidfd first and checks the start time afterwards, so that a reused
/// process id is never signalled.
pub(crate) fn signal_process(target: &ProcessInfo, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(target.pid) else {
        return false;
    };
    let Ok(descriptor) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    let still_the_same =
        process_info(target.pid).is_some_and(|now| now.started_ticks == target.started_ticks);
    still_the_same && rustix::process::pidfd_send_signal(descriptor, signal).is_ok()
}

/// Reaps every child that has ended and passes its status to `seen`. Returns `false` if no child is left.
pub(super) fn reap(mut seen: impl FnMut(Pid, i32)) -> bool {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => seen(pid, status.as_raw()),
            Ok(None) => return true,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Kills and reaps all descendants of this process, including those that are forked meanwhile. Orphans cannot escape,
/// since this process is their subreaper.
pub(super) fn kill_all(children: &OwnedFd, limit: Duration, mut seen: impl FnMut(Pid, i32)) -> Killed {
    let deadline = Instant::now() + limit;
    let mut killed = HashSet::new();
    loop {
        while system::take_signal(children).is_some() {}
        if !reap(&mut seen) {
            return Killed { killed, remaining: 0 };
        }
        let living = living_descendants();
        if Instant::now() >= deadline {
            // A child is left even if `/proc` does not show it, as with `hidepid` and another user's process.
            return Killed {
                killed,
                remaining: living.len().max(1),
            };
        }
        for process in living {
            // Counted even if it is gone by now: the death of an init ends its whole namespace.
            killed.insert((process.pid, process.started_ticks));
            kill_descendant(&process);
        }
        wait_readable(children, Some(Duration::from_millis(10)));
    }
}

/// Stops all descendants of this process by SIGSTOP, including those that are forked meanwhile, and waits until they
/// have stopped, for at most `limit`. Returns those that ran, parents before their children.
pub(super) fn stop_all(limit: Duration) -> Vec<ProcessInfo> {
    let deadline = Instant::now() + limit;
    let mut stopped: Vec<ProcessInfo> = Vec::new();
    loop {
        let mut running = living_descendants();
        running.retain(|process| !process.is_stopped);
        if running.is_empty() || Instant::now() >= deadline {
            return stopped;
        }
        for process in running {
            let is_new = !stopped
                .iter()
                .any(|known| (known.pid, known.started_ticks) == (process.pid, process.started_ticks));
            if is_new && signal_process(&process, Signal::STOP) {
                stopped.push(process);
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Continues processes that [`stop_all`] returned. Children come first: a parent that waits for stopped children must not
/// see them stopped.
pub(super) fn continue_all(stopped: Vec<ProcessInfo>) {
    for process in stopped.iter().rev() {
        signal_process(process, Signal::CONT);
    }
}

/// Waits until a descriptor is readable or the time is up.
pub(super) fn wait_readable(descriptor: &OwnedFd, limit: Option<Duration>) {
    let limit = limit.and_then(|limit| rustix::event::Timespec::try_from(limit).ok());
    let _ = rustix::event::poll(&mut [PollFd::new(descriptor, PollFlags::IN)], limit.as_ref());
}

/// Reaps one child.
pub(super) fn wait_for(pid: Pid) {
    let _ = rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(pid), WaitOptions::empty()));
}

/// The first process that a namespace's init started, under its id outside the namespace. Recognised by its id 2
/// inside, since orphans are children of the init as well.
pub(super) fn first_of_namespace(init: Pid) -> Option<Pid> {
    let init = init.as_raw_nonzero().get();
    all_processes()
        .into_iter()
        .find(|process| process.parent == init && pid_within(process.pid) == Some(2))
        .and_then(|process| Pid::from_raw(process.pid))
}

/// A process's id in its innermost PID namespace.
fn pid_within(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_ascii_whitespace().next_back()?.parse().ok()
}
