//! A child without a guard: the weaker mode for programs that never called `guard_main`, and for systems that
//! have no subreaper. Stopping ends the child's process group (on Windows: its job); a descendant that left the
//! group survives, and on Unix nothing is ended when we are killed ourselves.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{Portable, spawn_portable};
#[cfg(windows)]
pub(crate) use windows::{Portable, spawn_portable};
