//! Agents, their plan and their reconciler, without processes.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has to fail"
)]

mod endings;
mod plans;
mod properties;
mod reconciling;
mod simulation;
mod stored;
mod tasks;
mod world;
