//! `codex app-server`: JSON-RPC over standard input and output, without the `jsonrpc` member.
//!
//! `AppServerMapper` writes the handshake (`initialize`, `thread/start` or `thread/resume`, `turn/start`), maps
//! notifications to events, and answers requests for approval.

mod approvals;
mod commands;
mod errors;
mod launch;
mod mapper;
mod notifications;
mod reports;
mod requests;
mod threads;
mod usage;

pub(super) use launch::launch;
pub use mapper::AppServerMapper;
