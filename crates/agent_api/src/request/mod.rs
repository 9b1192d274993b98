//! What to run.

mod environment;
mod extensions;
mod options;
mod run_request;
mod session;

pub use environment::{BaseEnvironment, Environment};
pub(crate) use extensions::apply_extensions;
pub use options::RunOptions;
pub use run_request::{Close, Input, RunRequest};
pub use session::{PermissionMode, SessionChoice};
