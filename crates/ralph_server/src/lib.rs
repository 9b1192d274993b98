//! Every run on one durable, live, safe server.
#![warn(missing_docs)]

mod app;
mod auth;
mod directory_probe;
mod file_stamp;
pub mod http;
mod launch;
pub mod live;
mod metrics;
mod own_server;
mod problem;
mod retention;
mod runners;
mod sandboxed_open;
mod server;
mod server_lock;
mod starts;
pub mod stream;
mod tls;
mod upkeep;

pub use app::{App, AppParts};
pub use auth::{
    Auth, AuthError, AuthOptions, NewToken, Principal, Scope, ServerStartLimits, SessionGuard, StartLimits,
    TokenEntry, TokenError, TokenFile, rotate_server_token,
};
pub use launch::{
    AuthChoice, BackendInfo, FoundBackends, LaunchError, Launcher, SessionStart, StartRun, TrustChoice,
    UntrustedSetting, UntrustedWorkspace,
};
pub use metrics::Metrics;
pub use problem::{Problem, ProblemCode};
pub use runners::{CommandError, FileStart, RawLog, RawLogName, Removal, Runners, SocketRunners};
pub use server::{Server, ServerError, ServerOptions};
pub use server_lock::{Running, RunningError};
pub use tls::{Tls, TlsError, TlsFiles};
