//! Runs of scripted agents: how they end, what completes them, what a consumer can do to them.
#![cfg(all(unix, feature = "custom"))]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod backpressure;
mod clock;
mod consumers;
mod conversation;
mod deadlines;
mod endings;
mod gate;
mod line_agent;
mod output;
mod stage;
