//! A run of a coding agent: a supervised loop with a durable journal and a control socket.
#![warn(missing_docs)]

pub mod control;
pub mod machine;
mod reason;
mod record;
mod sink;

pub use reason::{EndReason, LimitKind};
pub use record::{
    AttemptEnded, AttemptStarted, CommandReceived, FORMAT_VERSION, IterationEnded, IterationOutcome,
    IterationStarted, Record, RunBody, RunEnded, RunEvent, RunStarted, SessionForked, Totals, VerifyFinished,
    VerifyStarted, Warned, WarningKind,
};
pub use sink::Sink;
