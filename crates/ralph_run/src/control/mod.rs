//! The control socket of a run: a unix socket in its directory, one JSON object per line.
//!
//! The runner greets: `{"ralph":"0.1.0","protocol":2,"run_id":"…","state":"running"}`. A client sends
//! `{"id":"…","command":"send","text":"…","mode":"steer"}` and gets a receipt, `{"id":"…","ok":true,"receipt":{…}}`,
//! or a refusal, `{"id":"…","ok":false,"code":"run_ended","message":"…"}`. What comes of a command is in the journal.
//!
//! The id is the client's own and must be unique within the run: a repeated one is not done twice but gets the first
//! receipt again, from any connection, so that a client that was cut off can ask once more.

mod absence;
mod client;
mod command;
mod connection;
mod error;
mod pending;
mod protocol;
mod receipts;
mod reconnecting;
mod refusal;
mod server;
mod socket;

pub use crate::machine::SendMode;
pub use absence::{describe_absence, describe_refusal};
pub use client::{ControlClient, command_id};
pub use command::{AnswerChoice, ControlCommand, ControlRequest, PermissionChoice, TopUp};
pub use error::ControlError;
pub use pending::{PendingRequest, PendingRequests};
pub use protocol::{
    Greeting, MAX_LINE_BYTES, OLDEST_PROTOCOL, PROTOCOL, QueuedReport, Receipt, Response, StatusReport,
};
pub use reconnecting::ReconnectingClient;
pub use refusal::{Refusal, RefusalCode};
pub use server::{ControlServer, Incoming, Reply};
