//! Scripts for `fake_claude`: what a test wants its agent to do, step by step.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use test_support::script::{Script, Signal};
//! let agent = Script::new()
//!     .emit(r#"{"type":"system","subtype":"init"}"#)
//!     .wait_for_signal(Signal::Interrupt)
//!     .exit(0)
//!     .install()?;
//! let child = std::process::Command::new(&agent.program).args(&agent.arguments).spawn()?;
//! # Ok(()) }
//! ```

mod agent;
mod builder;
mod data;
mod flood;
mod step;
mod template;

pub use agent::{InstallError, SCRIPT_FAILED, SCRIPT_VARIABLE, ScriptedAgent};
pub use builder::Script;
pub use data::Data;
pub use flood::flood_line;
pub use step::{Case, ChildKind, Signal, Step, Stream, includes};
pub use template::fill_template;
