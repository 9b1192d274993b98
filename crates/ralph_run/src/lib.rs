//! A run of a coding agent: a supervised loop with a durable journal and a control socket.
#![warn(missing_docs)]

mod activity;
mod budget;
pub mod control;
mod driver;
mod home;
mod journal;
mod lock;
pub mod machine;
mod prices;
pub mod prompt;
mod reason;
mod reconcile;
mod record;
mod redact;
mod sink;
mod state;

pub use activity::{Activity, WaitingFor};
pub use budget::{Budget, BudgetAlert, BudgetLimits};
pub use driver::{DriveError, RunSpec, drive};
pub use home::{CleanMode, Cleaned, FindError, Home, HomeError, RunDirectory, clean, remove_ended};
pub use journal::{
    Damage, DamageKind, JournalError, JournalFollower, JournalReader, JournalWriter, PendingSync, Resumed,
    read_journal,
};
pub use lock::{Lock, LockError, LockHeld, LockInfo, LockSubject};
pub use prices::{PriceSource, context_window, estimate, price_source};
pub use reason::{EndReason, LimitKind};
pub use reconcile::{LostRun, ReconcileError, Reconciliation, reconcile};
pub use record::{
    AttemptEnded, AttemptStarted, CommandReceived, FORMAT_VERSION, IterationEnded, IterationOutcome,
    IterationStarted, MessageAwaited, MessageSent, Record, RunBody, RunEnded, RunEvent, RunKind, RunStarted,
    SessionForked, Totals, VerifyFinished, VerifyStarted, Warned, WarningKind,
};
pub use redact::{RedactError, Redactor, Secret, secrets_among};
pub use sink::Sink;
pub use state::{
    Booked, BudgetState, Durability, Kept, Liveness, LogName, RunFile, RunState, RunStatus, Runner,
    SessionState, StateError, WorkspaceError, WorkspaceFiles, name_in_files, write_atomic,
};
