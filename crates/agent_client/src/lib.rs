//! The client stack that every agent shares: options, program detection, shared figures, and the loop that owns a run.
//!
//! Without features this crate is plain data: [`RunOptions`] and its parts, [`Tokens`], [`MicroUsd`], [`Version`].
//! The feature `process` (on by default) adds everything that starts a process.
//!
//! This crate prints nothing, changes no environment variables and reads no home directory.
#![warn(missing_docs)]

#[cfg(feature = "process")]
mod detect;
mod money;
mod options;
#[cfg(feature = "process")]
mod run;
mod tokens;
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
mod version;

#[cfg(feature = "process")]
pub use detect::{DetectError, DetectedProgram, ProgramDetector, ProgramFile, ProgramQuery, VersionMemory};
pub use money::{CostBasis, MicroUsd};
pub use options::{
    BaseEnvironment, Environment, Expansion, JsonSource, PartialMessages, PermissionHost, PermissionMode,
    Persistence, RunOptions, SessionChoice, SystemPrompt, VendorEvents,
};
#[cfg(feature = "process")]
pub use run::{
    Activity, AgentLink, Callback, CallbackOrder, CancelOutcome, Close, Completion, Events, LinkError,
    Protocol, Run, RunEnd, RunLink, RunLost, RunSetup, StderrLine, StopCause, TimeLimits, WaitGuard,
    WithoutControls, start,
};
pub use tokens::Tokens;
pub use version::{Version, VersionError};
