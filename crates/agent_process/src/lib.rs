#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod capabilities;
mod child;
pub mod clock;
mod connection_origin;
mod error;
mod exit;
mod follow;
#[cfg(target_os = "linux")]
mod guard;
mod lineage;
mod log;
mod portable;
mod process;
#[cfg(unix)]
mod pty;
mod pump;
mod resolve;
mod run_to_completion;
#[cfg(unix)]
mod signals;
mod spawn;
mod spec;
mod streams;
mod suspend;
mod sweep;
mod tail;
mod watch;

pub use capabilities::{Capabilities, GuardKind, capabilities};
#[cfg(not(target_os = "linux"))]
pub use capabilities::{guard_main, guard_main_reexec};
pub use connection_origin::{ConnectionOrigin, connection_origin};
pub use error::SpawnError;
pub use exit::{Exit, ExitReport, StopStep, WaitStatus};
pub use follow::FileFollower;
#[cfg(target_os = "linux")]
pub use guard::{guard_main, guard_main_reexec};
pub use lineage::{Lineage, lineage};
pub use process::{Control, ExitWaiter, Output, Process, StderrOutput, StdinWriter};
pub use resolve::find_program;
pub use run_to_completion::{ShortOutput, output_of, output_up_to};
#[cfg(unix)]
pub use signals::is_signal_ignored;
pub use spawn::spawn;
pub use spec::{EnvPolicy, Isolation, Limits, Marker, SpawnSpec, StderrMode, StdinMode, StdoutMode};
pub use suspend::Suspension;
pub use sweep::sweep;
