//! A run of a coding agent: a supervised loop with a durable journal and a control socket.

mod budget;
pub mod control;
mod driver;
pub mod git;
mod home;
mod journal;
mod lock;
pub mod machine;
pub mod model;
mod open;
pub mod ports;
mod prices;
pub mod prompt;
mod reason;
mod reconcile;
mod record;
mod record_stream;
mod redact;
mod sink;
mod state;
mod usage_account;
pub mod watchdog;

pub use budget::{Budget, BudgetLimits};
pub use driver::{
    DriveError, RoleSpec, RunSpec, Task, TaskReader, Verified, VerifySpec, WorkspaceCloser, drive,
    run_command_line,
};
pub use home::{
    Candidate, CleanMode, Cleaned, FindError, Home, HomeError, RUN_ID_VARIABLE, RunDirectory,
    canonical_base32, clean, is_base32, make_directory_all, open_linked_file, open_regular_file,
    private_file, random_base32, remove_ended, short_run_id,
};
pub use journal::{
    Damage, DamageKind, EventHead, JournalError, JournalFollower, JournalItem, JournalLine, JournalMatch,
    JournalPage, JournalReader, JournalRecords, JournalWriter, PageQuery, PendingSync, RecordFilter,
    RecordHead, RecordLine, Resumed, epoch_of, may_lack_text, read_journal, read_journal_tail, restore_text,
    restored_kind,
};
pub use lock::{Lock, LockError, LockHeld, LockInfo, LockSubject, fnv1a, lock_briefly};
pub use open::Open;
pub use prices::{PriceSource, context_window, estimate, price_source};
pub use reason::{EndReason, LimitKind};
pub use reconcile::{LostRun, ReconcileError, Reconciliation, reconcile};
pub use record::{
    AttemptEnded, AttemptStarted, BudgetAwaited, CommandReceived, Continued, CooldownCause, CooldownStarted,
    Evidence, FORMAT_VERSION, IterationEnded, IterationOutcome, IterationStarted, LimitRaised,
    MessageAwaited, MessageSent, Record, RunBody, RunEnded, RunEvent, RunKind, RunStarted, SessionForked,
    StopStarted, Suspended, Totals, UnknownEvent, VerifyFinished, VerifyStarted, Warned, WarningKind,
};
pub use record_stream::{FollowGuard, PacedSender, RecordSender, RecordStream, ViewUpdate};
pub use redact::{FoundSecret, RedactError, Redactor, Secret, secrets_among};
pub use sink::{Sink, Views};
pub use state::{
    BudgetState, ChargedRun, Durability, Liveness, Loaded, LogName, NotesPutAside, RunFile, RunStatus,
    Runner, RunnerSignal, SessionState, StateError, WorkspaceError, WorkspaceFiles, write_atomic,
};
pub use usage_account::{Amount, UsageAccount, UsageStep};
