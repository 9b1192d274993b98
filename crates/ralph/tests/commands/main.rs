//! The commands around a run as a user meets them: the built program, the demo agent at full speed.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod another_home;
mod demo;
mod doctor;
mod future;
mod json;
mod leaving;
mod listings;
mod logs;
mod readme;
mod replay;
mod stage;
mod tasks;
mod tokens;
mod watching;
