//! Claude Code from Rust: tolerant typed events from its streaming JSON, live streams, two-way sessions.
#![warn(missing_docs)]

pub mod argv;
mod blank;
mod capabilities;
mod client;
mod decoder;
mod dialect;
mod error;
pub mod event;
pub mod input;
mod json;
mod line_error;
mod money;
mod parse;
mod probe;
mod read;
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
pub mod reconcile;
mod request;
mod run;
mod session;
mod text;
mod turns;
mod usage;
mod version;

pub use agent_process::{Control, Exit, ExitReport as ExitStatus, Isolation, Limits, StdoutMode};
pub use capabilities::{Capabilities, Feature};
pub use client::{Client, ClientBuilder, Completion, Events, Handle, Prepared, PromptFiles, prepare};
pub use decoder::Decoder;
pub use dialect::Dialect;
pub use error::{Captured, Error, NoResult, RequestError, WrongShape};
pub use event::{Event, Kind};
pub use json::RawJson;
pub use line_error::{LineError, LineErrorCode};
pub use money::MicroUsd;
pub use parse::{LineEvents, parse_bytes, parse_line};
pub use probe::{Probe, ProbeError, probe};
pub use read::{EventStream, events_from};
pub use request::{
    BaseEnvironment, Environment, Expansion, Fork, Options, PartialMessages, PermissionHost, Persistence,
    PrintRequest, Replay, Request, SessionChoice, SessionId, SessionIdError, SessionRequest, SystemPrompt,
};
pub use run::{Remark, Response};
pub use session::{Receipt, ReceiptState, Session, SessionSender};
pub use text::Text;
pub use turns::{Noticed, TurnTracker};
pub use usage::{CostAccount, CostBasis, TokenCount};
pub use version::{Version, VersionError};
