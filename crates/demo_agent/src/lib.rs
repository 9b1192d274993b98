//! A scripted coding agent, for machines without an agent or an API key.
//!
//! It runs as a child process and writes the stream JSON of Claude Code, so everything built for real agents works with
//! it. It needs no network and changes nothing outside the folder `ralph-demo/` in its working directory.
//!
//! - The first run reads a small shell script, plans, runs it, fixes a typo and asks a question if the caller can
//!   answer. It then claims to be done, although the check still fails.
//! - The second run starts with the check, fixes what it reports and is done.
//! - Later runs only confirm that the check passes. Further messages in the same run get a short status answer.
//!
//! [`Demo`] is the [`agent_api::Backend`]. [`Demo::reexec`] starts the current program again, whose `main` must begin
//! with [`demo_main`]; [`Demo::program`] starts another program, such as this crate's `demo_agent`.
//!
//! ```text
//! stdin ──► input_events ──► session ──► messages, tools ──► stdout
//! SIGINT ─►                     ▲
//!                               └─ script: the steps of each run
//! ```
//!
//! One thread runs the script. Input waits in one queue and is handled at the next pause, so nothing needs a lock.
#![warn(missing_docs)]

mod backend;
mod cli;
mod demo_project;
mod input_events;
mod messages;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod script;
mod session;
mod tools;
mod usage_meter;
mod wire_lines;

pub use backend::{Demo, SPEED_EXTENSION};
pub use cli::{REEXEC_ARGUMENT, demo_main, run};
pub use demo_project::{PROJECT_FOLDER, VERIFY_COMMAND};
