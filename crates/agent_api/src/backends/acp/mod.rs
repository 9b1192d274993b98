//! Agents that speak the [Agent Client Protocol](https://agentclientprotocol.com), version 1: opencode, Copilot, goose,
//! Kiro and any other by its command.
//!
//! The agent is a JSON-RPC server on its standard input and output. [`AcpMapper`] is the client: it opens a session,
//! sends prompts, and turns updates into events. It reads leniently: an update that it does not know becomes an
//! [`Unknown`](crate::Body::Unknown) event, and a field of another type counts as absent.
//!
//! | file | holds |
//! |---|---|
//! | `agents.rs`, `backend.rs` | the agents and how they are started |
//! | `mapper.rs` | the state of a conversation |
//! | `handshake.rs` | from `initialize` to the first prompt |
//! | `turns.rs`, `updates.rs` | prompts, commands, updates and permission requests |
//! | `tool_calls.rs`, `call_content.rs`, `tool_results.rs`, `text.rs`, `prose.rs`, `usage.rs`, `permissions.rs`, `session_config.rs` | one subject each |
//! | `quirks.rs` | where agents differ behind the same protocol |
//! | `recording.rs`, `native/` | recorded output: without the client's side, and of agents that ran without ACP |
//!
//! Two things to know about permissions. With [`PermissionMode::Bypass`](crate::PermissionMode::Bypass) the client
//! answers requests itself and allows them once. If the caller answers no requests and the mode does not allow the call, it
//! refuses; it never leaves an agent waiting. The client never logs in: an agent without a login fails with
//! [`ErrorClass::Auth`](crate::ErrorClass::Auth) and the hint how to log in.

mod agents;
mod backend;
mod call_content;
mod errors;
mod handshake;
mod mapper;
mod native;
mod permissions;
mod prose;
mod quirks;
mod recording;
mod session_config;
mod text;
mod tool_calls;
mod tool_results;
mod turns;
mod updates;
mod usage;

pub use backend::Acp;
pub use mapper::AcpMapper;
pub use recording::{recognises, replay_mapper};
