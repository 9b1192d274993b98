//! The guard: a small process between this one and the child, so that no descendant of the child outlives us.
//!
//! ```text
//! client ──control socket──► guard ──► child ──► its descendants
//!                            subreaper: orphans are reparented to it
//!                            end of file on the socket: TERM, then KILL for all of them
//! ```
//!
//! The child does not notice it: no namespace, no changed privileges, no tracing. With
//! [`Isolation::PidNamespace`](crate::Isolation::PidNamespace) an init process runs between guard and child, and the
//! kernel kills all descendants even if the guard itself is killed.

mod client;
mod launch;
mod main_loop;
mod process_tree;
mod system;
mod wire;
mod zygote;

pub(crate) use client::{Guarded, Resolved, spawn_guarded};
pub(crate) use process_tree::{ProcessInfo, all_processes, process_info, signal_process};
pub(crate) use wire::Report;
pub(crate) use zygote::{GuardSource, guard_source};

/// The process names of guards and zygotes, as `ps` shows them.
pub(crate) const GUARD_NAME: &std::ffi::CStr = c"agent-guard";
pub(crate) const ZYGOTE_NAME: &std::ffi::CStr = c"agent-zygote";
pub use zygote::{guard_main, guard_main_reexec};
