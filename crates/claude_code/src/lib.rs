#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod argv;
mod capabilities;
#[cfg(feature = "process")]
mod client;
mod dialect;
mod error;
#[expect(
    missing_docs,
    reason = "fields are named as the CLI names them; a doc that repeats a name is left out"
)]
pub mod event;
#[cfg(feature = "process")]
mod event_stream;
pub mod host;
pub mod input;
#[cfg(feature = "process")]
mod probe;
mod receipt;
pub mod reconcile;
mod request;
#[cfg(feature = "process")]
mod run;
mod stream;
mod turn_tracker;
mod usage;

pub use agent_client::{
    BaseEnvironment, CostBasis, Environment, Expansion, JsonSource, MicroUsd, PartialMessages,
    PermissionHost, PermissionMode, Persistence, RunOptions, SessionChoice, SystemPrompt, Tokens, Version,
    VersionError,
};
#[cfg(feature = "process")]
pub use agent_process::{Control, Exit, ExitReport as ExitStatus, Isolation, Limits, StdoutMode};
pub use capabilities::{Capabilities, Feature};
#[cfg(feature = "process")]
pub use client::{
    Client, ClientBuilder, Completion, Events, Handle, Prepared, PromptFiles, Session, SessionSender, prepare,
};
pub use dialect::Dialect;
#[cfg(feature = "process")]
pub use error::{Error, NoResult};
pub use error::{RedactedText, RequestError};
pub use event::{Event, Kind};
#[cfg(feature = "process")]
pub use event_stream::{EventStream, events_from};
pub use json_lines::{LineError, LineErrorCode, RawJson, Text, WrongShape};
#[cfg(feature = "process")]
pub use probe::{Probe, ProbeError, probe};
pub use receipt::{Receipt, ReceiptState};
pub use request::{PrintRequest, Replay, Request, SessionRequest};
#[cfg(feature = "process")]
pub use run::{Response, RunWarning};
pub use stream::{Decoder, LineEvents, parse_bytes, parse_line};
pub use turn_tracker::{TurnChange, TurnTracker};
pub use usage::CostAccount;
