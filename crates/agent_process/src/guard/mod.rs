//! The guard: a small process between us and the agent, so that nothing the agent starts outlives us.
//!
//! ```text
//! runner ──control socket──► guard ──► agent ──► whatever it starts
//!                            subreaper: orphans come back to it
//!                            end of file on the socket: TERM, then KILL for all of them
//! ```
//!
//! The agent does not notice it: no namespace, no changed privileges, no tracing. With
//! [`Isolation::PidNamespace`](crate::Isolation::PidNamespace) an init of its own stands between guard and agent,
//! and the kernel does the killing even if the guard itself is killed.

mod family;
mod host;
mod launch;
mod serve;
mod system;
mod wire;
mod zygote;

pub(crate) use family::{everyone, member, signal_member};
pub(crate) use host::{Guarded, Resolved, spawn_guarded};
pub(crate) use wire::Report;
pub(crate) use zygote::{Source, keep_until_our_end, source};

/// What guards and their zygote call themselves.
pub(crate) const GUARD_NAME: &std::ffi::CStr = c"agent-guard";
pub(crate) const ZYGOTE_NAME: &std::ffi::CStr = c"agent-zygote";
pub use zygote::{guard_main, guard_main_reexec};
