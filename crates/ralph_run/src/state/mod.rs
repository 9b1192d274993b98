//! State files: `run.json` of a run, and what a workspace keeps between runs in `.ralph`.

mod atomic;
mod budget;
mod json_file;
mod run_file;
mod runner;
mod session;
mod workspace;

pub use atomic::{Durability, write_atomic};
pub use budget::{BudgetState, ChargedRun};
pub use json_file::{Loaded, StateError};
pub use run_file::{RunFile, RunStatus};
pub use runner::{Liveness, Runner, RunnerSignal};
pub use session::SessionState;
pub use workspace::{LogName, NotesPutAside, WorkspaceError, WorkspaceFiles};
