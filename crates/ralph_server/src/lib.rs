//! Every run on one durable, live, safe server.
#![warn(missing_docs)]

mod app;
mod auth;
pub mod http;
mod launch;
pub mod live;
mod looks;
pub mod manager;
mod metrics;
mod problem;
mod retention;
mod running;
mod server;
pub mod stream;

pub use app::{App, AppParts};
pub use auth::{Auth, AuthError, AuthOptions, Visit};
pub use launch::{
    BackendInfo, FoundBackends, LaunchError, Launcher, SessionStart, StartRun, TrustChoice, UntrustedSetting,
    UntrustedWorkspace,
};
pub use metrics::Metrics;
pub use problem::{Problem, ProblemCode};
pub use running::{Running, RunningError};
pub use server::{Server, ServerError, ServerOptions};
