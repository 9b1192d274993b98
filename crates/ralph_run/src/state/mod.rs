//! Small files that are replaced as a whole: what a run is doing, and what a workspace remembers between runs.

mod atomic;
mod budget;
mod kept;
mod run_file;
mod runner;
mod session;
mod workspace;

pub use atomic::{Durability, write_atomic};
pub use budget::{Booked, BudgetState};
pub use kept::{Kept, StateError};
pub use run_file::{RunFile, RunStatus};
pub use runner::{Liveness, Runner, RunnerSignal};
pub use session::SessionState;
pub use workspace::{LogName, WorkspaceError, WorkspaceFiles};
