//! Every run on one durable, live, safe server.
#![warn(missing_docs)]

mod app;
mod auth;
pub mod http;
mod launch;
pub mod live;
mod looks;
mod metrics;
mod problem;
mod retention;
mod runners;
mod running;
mod sandboxed_open;
mod server;
pub mod stream;
mod upkeep;

pub use app::{App, AppParts};
pub use auth::{
    Auth, AuthError, AuthOptions, NewToken, Principal, Scope, SessionGuard, TokenEntry, TokenError,
    TokenFile, rotate_server_token,
};
pub use launch::{
    BackendInfo, FoundBackends, LaunchError, Launcher, SessionStart, StartRun, TrustChoice, UntrustedSetting,
    UntrustedWorkspace,
};
pub use metrics::Metrics;
pub use problem::{Problem, ProblemCode};
pub use runners::{CommandError, FileStart, RawLog, RawLogName, Runners, SocketRunners};
pub use running::{Running, RunningError};
pub use server::{Server, ServerError, ServerOptions};
