//! Runs a coding agent as a supervised child process and hands over its output without losing a byte.
//!
//! A child is described by a [`SpawnSpec`], started by [`spawn`], and held as a [`Process`]: its output, its
//! stdin, its controls and its exit. Whatever the transport ([`StdoutMode`]), the same bytes arrive; they are in
//! the raw log before anybody parses them. Stopping means the whole family: interrupt, terminate, kill, and then
//! every descendant.
//!
//! ```no_run
//! use agent_process::{Framed, SpawnSpec, spawn};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // First of all, before any thread: what makes sure that no child outlives this process.
//!     agent_process::guard_main();
//!     let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//!     runtime.block_on(async {
//!         let mut spec = SpawnSpec::new("some-agent");
//!         spec.raw_log = Some("raw.ndjson".into());
//!         let process = spawn(spec).await?;
//!         let mut lines = process.output.into_lines();
//!         while let Some(line) = lines.next_line().await {
//!             if let Framed::Line(line) = line? {
//!                 // `line.bytes` is one line, `line.offset` its place in the raw log.
//!                 assert!(!line.bytes.contains(&b'\n'));
//!             }
//!         }
//!         assert!(process.exit.await.exit.success());
//!         Ok(())
//!     })
//! }
//! ```
//!
//! This crate prints nothing, changes no environment and reads no home directory.
#![warn(missing_docs)]

mod ask;
mod beneath;
mod capabilities;
mod child;
#[cfg(target_os = "linux")]
mod code_pages;
mod error;
mod exit;
mod follow;
#[cfg(target_os = "linux")]
mod guard;
mod heap;
mod lines;
mod log;
mod own;
mod portable;
mod process;
#[cfg(unix)]
mod pty;
mod pump;
#[cfg(unix)]
mod readiness;
mod resolve;
mod spawn;
mod spec;
mod spool;
mod streams;
#[cfg(target_os = "linux")]
mod sweep;
mod tail;
#[cfg(not(target_os = "linux"))]
mod unguarded;
mod watch;

pub use ask::{ShortAnswer, ask, find_program};
pub use beneath::open_beneath;
pub use capabilities::{Capabilities, GuardKind, capabilities};
#[cfg(target_os = "linux")]
pub use code_pages::release_code_pages;
pub use error::SpawnError;
pub use exit::{Exit, ExitReport, StopStep, WaitStatus};
pub use follow::FileFollower;
#[cfg(target_os = "linux")]
pub use guard::{guard_main, guard_main_reexec};
pub use heap::share_heap;
pub use lines::{DEFAULT_MAX_LINE_BYTES, Framed, Line, LineEnding, LineFramer};
#[cfg(unix)]
pub use own::effective_user;
pub use own::{is_root, is_stdout_deserted, open_regular, raise_open_files, start_session};
pub use process::{Control, ExitWaiter, Lines, Output, Process, StderrOutput, StdinWriter};
pub use spawn::spawn;
pub use spec::{EnvPolicy, Isolation, Limits, MARKER_VARIABLE, SpawnSpec, StderrMode, StdinMode, StdoutMode};
#[cfg(target_os = "linux")]
pub use sweep::sweep;
#[cfg(not(target_os = "linux"))]
pub use unguarded::{guard_main, guard_main_reexec, release_code_pages, sweep};
