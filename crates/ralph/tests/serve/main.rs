//! `ralph serve` as a user meets it: the built program, its API, scripted agents.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on has failed"
)]

mod agent_options;
mod asking;
mod client;
mod ending;
mod escape;
mod generated_clients;
mod secrets;
mod stage;
mod start_limits;
mod starting;
mod stream_schema;
mod trust;
