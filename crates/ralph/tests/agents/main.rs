//! `ralph agents` and `ralph service` as a user meets them: the built program, scripted agents, killed processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod commands;
mod faults;
mod service;
mod stage;
