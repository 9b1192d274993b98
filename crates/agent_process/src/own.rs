//! Facts about this process itself.

use std::io;

/// Whether this process may do everything.
#[must_use]
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

/// As which user this process acts.
#[cfg(unix)]
#[must_use]
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Leaves the terminal and its signals behind, for a program that goes on in the background. Call it first in `main`,
/// before [`guard_main`](crate::guard_main).
///
/// # Errors
/// When the process leads a group already: it was started in the background by a shell, for example.
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

/// Whether nobody can read any more what this process writes to stdout: it is a pipe or a socket, and its other end is
/// gone. Nothing has to be written to find out.
#[must_use]
pub fn is_stdout_deserted() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdout = rustix::stdio::stdout();
        let mut descriptors = [PollFd::new(&stdout, PollFlags::empty())];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        match poll(&mut descriptors, Some(&at_once)) {
            Ok(1..) => descriptors[0].revents().contains(PollFlags::ERR),
            Ok(_) | Err(_) => false,
        }
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// Opens an ordinary file for reading. Anything else in its place, such as a link or a pipe that would make us wait for
/// ever, is an error.
///
/// # Errors
/// When there is no such file, or it is none.
pub fn open_regular(path: &std::path::Path) -> io::Result<std::fs::File> {
    #[cfg(unix)]
    let file = {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?)
    };
    #[cfg(not(unix))]
    let file = std::fs::File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not an ordinary file",
        ));
    }
    Ok(file)
}

/// More than a server with hundreds of runs needs. What is started later inherits the limit, and there are programs
/// that go through all numbers below it.
#[cfg(unix)]
const MOST_OPEN_FILES: u64 = 16_384;

/// Lets this process have as many files open as the system allows it, up to a number that is enough. Gives how many
/// that is; none if there is no limit, or nobody knows it. What is started later inherits it.
pub fn raise_open_files() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let most = limit
            .maximum
            .map_or(MOST_OPEN_FILES, |most| most.min(MOST_OPEN_FILES));
        if limit.current.is_some_and(|now| now < most) {
            let raised = Rlimit {
                current: Some(most),
                maximum: limit.maximum,
            };
            // Where it is not allowed it stays as it is, and the caller is told.
            let _ = setrlimit(Resource::Nofile, raised);
        }
        getrlimit(Resource::Nofile).current
    }
    #[cfg(not(unix))]
    None
}
