//! The demo agent as a program that writes Claude's stream, and as a backend.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod agent_process;
mod folder;
mod program;
mod runs;
