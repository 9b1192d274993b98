//! Who descends from a process, and ending all of them.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use super::system;

/// One process as `/proc` shows it. Process ids are reused; together with the start time they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Member {
    pub(crate) pid: i32,
    pub(crate) started_ticks: u64,
    pub(crate) parent: i32,
    zombie: bool,
}

/// How a [`kill_all`] went.
#[derive(Debug, Default)]
pub(super) struct Killed {
    /// Who was alive and is no more.
    pub(super) killed: HashSet<(i32, u64)>,
    /// How many it could not.
    pub(super) remaining: usize,
}

/// Reads one process's entry.
pub(crate) fn member(pid: i32) -> Option<Member> {
    // The line is a few hundred bytes, and the system gives it in one piece: a whole table of processes is read this way.
    let mut stat = [0_u8; 1024];
    let length = File::open(format!("/proc/{pid}/stat"))
        .ok()?
        .read(&mut stat)
        .ok()?;
    let stat = stat.get(..length)?;
    // The command's name may hold anything, also `)`: the fields start after the last one.
    let fields = stat.get(memchr::memrchr(b')', stat)? + 2..)?;
    let mut fields = std::str::from_utf8(fields).ok()?.split_ascii_whitespace();
    let zombie = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    // The start time is field 22 of the whole line, so the 18th after the parent's id.
    let started_ticks = fields.nth(17)?.parse().ok()?;
    Some(Member {
        pid,
        started_ticks,
        parent,
        zombie,
    })
}

/// Every process there is.
pub(crate) fn everyone() -> Vec<Member> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| member(entry.ok()?.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// All living descendants of `ancestor`, at any depth.
fn descendants(ancestor: i32) -> Vec<Member> {
    let mut children: HashMap<i32, Vec<Member>> = HashMap::new();
    for member in everyone() {
        children.entry(member.parent).or_default().push(member);
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

/// This process's descendants that have not ended.
pub(super) fn living_descendants() -> Vec<Member> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    descendants(own)
        .into_iter()
        .filter(|member| !member.zombie)
        .collect()
}

/// Kills a descendant of ours. A child that we have not reaped needs no descriptor to be told from others.
fn kill_descendant(target: &Member) {
    let is_child = target.parent == rustix::process::getpid().as_raw_nonzero().get();
    match Pid::from_raw(target.pid).filter(|_| is_child) {
        Some(child) => drop(rustix::process::kill_process(child, Signal::KILL)),
        None => drop(signal_member(target, Signal::KILL)),
    }
}

/// Sends a signal to exactly this process: through a descriptor that cannot come to mean another one, checked
/// after it was opened.
pub(crate) fn signal_member(target: &Member, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(target.pid) else {
        return false;
    };
    let Ok(descriptor) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    let still_the_same = member(target.pid).is_some_and(|now| now.started_ticks == target.started_ticks);
    still_the_same && rustix::process::pidfd_send_signal(descriptor, signal).is_ok()
}

/// Reaps every child that has ended and hands its status to `seen`. `false` when there is no child left at all.
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

/// Kills every descendant of this process and reaps them, those too that are born meanwhile. Orphans come to us
/// because we are their subreaper, so nobody gets away by losing its parent.
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
            return Killed {
                killed,
                remaining: living.len(),
            };
        }
        for member in living {
            // Counted even if it was gone before its turn came: an init takes its whole namespace along.
            killed.insert((member.pid, member.started_ticks));
            kill_descendant(&member);
        }
        wait_readable(children, Duration::from_millis(10));
    }
}

/// Waits until a descriptor can be read, or the time is up.
pub(super) fn wait_readable(descriptor: &OwnedFd, limit: Duration) {
    let limit = rustix::event::Timespec::try_from(limit).ok();
    let _ = rustix::event::poll(&mut [PollFd::new(descriptor, PollFlags::IN)], limit.as_ref());
}

/// Long enough to mean "until something happens".
pub(super) const FOREVER: Duration = Duration::from_secs(3600);

/// Waits for one child of ours.
pub(super) fn wait_for(pid: Pid) {
    let _ = rustix::io::retry_on_intr(|| rustix::process::waitpid(Some(pid), WaitOptions::empty()));
}

/// The first process that a namespace's init started, as this process's `/proc` shows it. None once it has ended: others
/// that lost their parent are children of the init as well, and must not be taken for it.
pub(super) fn first_of_namespace(init: Pid) -> Option<Pid> {
    let init = init.as_raw_nonzero().get();
    everyone()
        .into_iter()
        .find(|member| member.parent == init && number_within(member.pid) == Some(2))
        .and_then(|member| Pid::from_raw(member.pid))
}

/// A process's number in the innermost namespace it is in.
fn number_within(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    numbers.split_ascii_whitespace().next_back()?.parse().ok()
}
