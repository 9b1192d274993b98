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
