//! What to run: [`RunRequest`].

mod attachment;
mod permission_callback;
mod run_request;

pub(crate) use agent_client::{Close, RunOptions};
pub use attachment::Attachment;
pub(crate) use permission_callback::PermissionCallback;
pub use run_request::{Input, RunRequest};
