//! The demo agent: as a program that speaks Claude's dialect, and as a backend.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod folder;
mod program;
mod runs;
mod show;
