//! `Portable`: a child without a guard, for programs that did not call `guard_main` and for systems other than Linux.
//! Stopping ends the child's process group (on Windows: its job). A descendant that left the group survives; on Unix,
//! all of them survive if this process is killed.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{Portable, spawn_portable};
#[cfg(windows)]
pub(crate) use windows::{Portable, spawn_portable};
