//! The HTTP side: one table of addresses with their rules, one check of access before all of them.
//!
//! [`router`] is the only way to build it. Every address that is not listed as public needs a token, a session or a ticket,
//! also one that does not exist.

mod access;
mod access_log;
mod admission;
mod approvals;
mod backends;
mod changes;
mod client_process;
mod commands;
mod compression;
mod confinement;
mod costs;
mod failures;
mod files;
mod hidden_cursors;
mod idempotency;
mod input;
mod listener;
mod live_overlay;
mod live_streams;
mod login;
mod login_sessions;
mod messages;
mod metrics_page;
mod openapi;
mod page_of;
mod pages;
mod query_limits;
mod raw;
mod records;
mod route;
mod router;
mod run_changes;
mod runs;
mod schema;
mod search;
mod sessions;
mod start;
mod start_checks;
mod start_keys;
mod static_files;
mod status;
mod tagged_unions;
mod tickets;
mod token_connections;
mod workspaces;
mod write_timeout;

pub(crate) use access_log::AccessLog;
pub use access_log::CommandLog;
pub use client_process::ClientProcess;
pub(crate) use hidden_cursors::HiddenCursors;
pub use listener::{ServeOptions, serve};
pub use openapi::openapi;
pub use route::{Policy, RouteInfo};
pub use router::{router, routes};
pub(crate) use start_keys::StartKeys;
