//! The ACP client: recordings of real agents, and conversations with a scripted one.
#![cfg(feature = "acp")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

#[cfg(unix)]
mod between_turns;
#[cfg(unix)]
mod commands;
#[cfg(unix)]
mod endings;
#[cfg(unix)]
mod large_output;
#[cfg(unix)]
mod permissions;
#[cfg(unix)]
mod prose;
mod recordings;
#[cfg(unix)]
mod scripted;
#[cfg(unix)]
mod sessions;
#[cfg(unix)]
mod updates;
mod wrong_types;
