//! Wrappers for the system calls that need `unsafe`. All of them run in processes with a single thread.
#![expect(
    unsafe_code,
    reason = "fork, exec, signal masks and raw descriptors have no safe interface"
)]

use std::convert::Infallible;
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

use rustix::process::Pid;

pub(super) enum Forked {
    Child,
    Parent(Pid),
}

/// Forks. This process must have a single thread; only then may the child do more than async-signal-safe calls.
pub(super) fn fork() -> io::Result<Forked> {
    // SAFETY: with a single thread no lock can be left held in the child.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Pid::from_raw(pid)
            .map(Forked::Parent)
            .ok_or_else(io::Error::last_os_error),
    }
}

/// Exits without running exit handlers, which belong to the process that this one was forked from.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// The signal mask as it was before a change.
pub(super) struct SignalMask(libc::sigset_t);

/// Blocks all signals that can be blocked. Returns the previous mask.
pub(super) fn block_signals() -> io::Result<SignalMask> {
    // SAFETY: both sets are plain memory that the calls fill.
    unsafe {
        let mut all = std::mem::zeroed::<libc::sigset_t>();
        let mut before = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&raw mut all);
        checked(libc::sigprocmask(
            libc::SIG_SETMASK,
            &raw const all,
            &raw mut before,
        ))?;
        Ok(SignalMask(before))
    }
}

/// A descriptor that is readable when one of these signals is pending. They must be blocked.
pub(super) fn signal_descriptor(signals: &[i32]) -> io::Result<OwnedFd> {
    // SAFETY: the set is plain memory; the new descriptor has no other owner.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut set);
        for signal in signals {
            libc::sigaddset(&raw mut set, *signal);
        }
        let descriptor = checked(libc::signalfd(
            -1,
            &raw const set,
            libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
        ))?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// The number of the next pending signal, if any.
pub(super) fn take_signal(descriptor: &OwnedFd) -> Option<i32> {
    let mut info = [0_u8; size_of::<libc::signalfd_siginfo>()];
    match rustix::io::read(descriptor, &mut info) {
        // The signal's number is the first field.
        Ok(read) if read == info.len() => Some(i32::from_ne_bytes([info[0], info[1], info[2], info[3]])),
        Ok(_) | Err(_) => None,
    }
}

/// Resets all signals to their default action and sets the mask, as a program expects at its start.
pub(super) fn reset_signals(mask: &SignalMask) {
    // SAFETY: default actions have no handler that could be invalid. It fails for KILL and STOP, which does not matter.
    unsafe {
        for signal in 1..=64 {
            libc::signal(signal, libc::SIG_DFL);
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const mask.0, ptr::null_mut());
    }
}

/// An empty mask, for a process that inherited a full one.
pub(super) fn empty_mask() -> SignalMask {
    // SAFETY: the set is plain memory that the call fills.
    unsafe {
        let mut none = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut none);
        SignalMask(none)
    }
}

/// Makes the kernel reap this process's children.
pub(super) fn ignore_children() {
    // SAFETY: `SIG_IGN` is a valid disposition.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
    }
}

/// Undoes [`ignore_children`].
pub(super) fn notice_children() {
    // SAFETY: `SIG_DFL` is a valid disposition.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// Closes all descriptors above stderr except these.
pub(super) fn close_all_but(keep: &[&OwnedFd]) {
    let mut kept: Vec<u32> = keep
        .iter()
        .filter_map(|kept| u32::try_from(kept.as_raw_fd()).ok())
        .collect();
    kept.sort_unstable();
    let mut first = 3;
    for kept in kept.into_iter().filter(|kept| *kept >= 3).chain([u32::MAX]) {
        if kept > first {
            let last = if kept == u32::MAX { kept } else { kept - 1 };
            close_range(first, last, 0);
        }
        first = kept.saturating_add(1);
    }
}

/// Marks all descriptors above stderr close-on-exec.
pub(super) fn close_on_exec() {
    close_range(3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
}

/// Closes or marks all descriptors from `first` to `last`; one by one on kernels before 5.11.
fn close_range(first: u32, last: u32, flags: u32) {
    // SAFETY: no owner of these descriptors is ever dropped in this process.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) } == 0 {
        return;
    }
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else {
        return;
    };
    let open: Vec<i32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for descriptor in open
        .into_iter()
        .filter(|open| (first..=last).contains(&open.unsigned_abs()))
    {
        // SAFETY: as above. A descriptor that is closed already is a harmless error.
        unsafe {
            if flags == 0 {
                libc::close(descriptor);
            } else {
                libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC);
            }
        }
    }
}

/// Makes `source` the standard descriptor `target`.
pub(super) fn install(source: &OwnedFd, target: RawFd) -> io::Result<()> {
    if source.as_raw_fd() == target {
        let flags = rustix::io::fcntl_getfd(source)?;
        return Ok(rustix::io::fcntl_setfd(
            source,
            flags - rustix::io::FdFlags::CLOEXEC,
        )?);
    }
    // SAFETY: `target` is 0, 1 or 2, which no object in this process owns.
    checked(unsafe { libc::dup2(source.as_raw_fd(), target) }).map(drop)
}

/// Duplicates standard input to a close-on-exec descriptor.
pub(super) fn take_standard_input() -> io::Result<OwnedFd> {
    // SAFETY: descriptor 0 is open for the length of the call.
    let borrowed = unsafe { BorrowedFd::borrow_raw(0) };
    Ok(rustix::io::fcntl_dupfd_cloexec(borrowed, 3)?)
}

/// Executes another program. Returns only if that failed.
pub(super) fn exec<'a>(
    program: &CStr,
    args: impl Iterator<Item = &'a CStr>,
    env: impl Iterator<Item = &'a CStr>,
) -> io::Result<Infallible> {
    let args: Vec<_> = args.map(CStr::as_ptr).chain([ptr::null()]).collect();
    let env: Vec<_> = env.map(CStr::as_ptr).chain([ptr::null()]).collect();
    // SAFETY: both arrays end with a null pointer, and their strings outlive the call.
    unsafe {
        libc::execve(program.as_ptr(), args.as_ptr(), env.as_ptr());
    }
    Err(io::Error::last_os_error())
}

/// Moves this process's future children (and, for a user namespace, itself) into new namespaces.
pub(super) fn unshare(flags: i32) -> io::Result<()> {
    // SAFETY: there is no other thread whose view could change.
    checked(unsafe { libc::unshare(flags) }).map(drop)
}

fn checked(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
