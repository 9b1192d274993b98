//! The client against a scripted agent.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod host;
mod print;
mod probe;
mod run;
mod session;
mod support;
