//! Questions about, and settings of, the `ralph` process itself: user, session, stdout, open files.

use std::io;

/// Whether this process runs as root. Always `false` where there is no such user.
pub fn is_root() -> bool {
    #[cfg(unix)]
    {
        rustix::process::geteuid().is_root()
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// Whether this is our own user id, root's, or, for root, that of the user who ran `sudo`.
#[cfg(unix)]
pub fn is_own_user(uid: u32) -> bool {
    let own = rustix::process::geteuid();
    let sudo = || std::env::var("SUDO_UID").ok().and_then(|text| text.parse().ok());
    uid == 0 || uid == own.as_raw() || (own.is_root() && sudo() == Some(uid))
}

/// Starts a new session, which detaches this process from its terminal and the terminal's signals. Call it first in
/// `main`, before [`guard_main`](agent_process::guard_main).
///
/// # Errors
/// If the process leads a process group already, as one that a shell started in the background does.
pub fn start_session() -> io::Result<()> {
    #[cfg(unix)]
    {
        rustix::process::setsid().map(drop).map_err(Into::into)
    }
    #[cfg(not(unix))]
    {
        Ok(())
    }
}

/// Whether stdout is a pipe or socket whose reader is gone. Finds out without writing to it.
pub fn is_stdout_closed() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdout = rustix::stdio::stdout();
        let mut descriptors = [PollFd::new(&stdout, PollFlags::empty())];
        let no_wait = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        match poll(&mut descriptors, Some(&no_wait)) {
            Ok(1..) => descriptors[0].revents().contains(PollFlags::ERR),
            Ok(_) | Err(_) => false,
        }
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// Waits until stdin has something to read or has ended. `false` if neither happens in time.
pub fn wait_for_stdin(timeout: std::time::Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = rustix::stdio::stdin();
    let mut descriptors = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec::try_from(timeout).ok();
    !matches!(poll(&mut descriptors, timeout.as_ref()), Ok(0))
}

/// Enough for a server with hundreds of runs. Children inherit the limit, and some programs loop over every
/// descriptor number below it, so it must not be arbitrarily large.
#[cfg(unix)]
const MAX_OPEN_FILES: u64 = 16_384;

/// Raises the soft limit on open files to the hard limit, but at most to 16,384. Returns the limit now in
/// force; `None` if there is none or it is unknown.
pub fn raise_open_file_limit() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit
            .maximum
            .map_or(MAX_OPEN_FILES, |hard| hard.min(MAX_OPEN_FILES));
        if limit.current.is_some_and(|now| now < wanted) {
            let raised = Rlimit {
                current: Some(wanted),
                maximum: limit.maximum,
            };
            // If this is not allowed the limit stays as it is; the caller checks the returned value.
            let _ = setrlimit(Resource::Nofile, raised);
        }
        getrlimit(Resource::Nofile).current
    }
    #[cfg(not(unix))]
    None
}
