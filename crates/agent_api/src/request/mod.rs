//! What to run: [`RunRequest`] and the check of its extension keys.

mod attachment;
mod extensions;
mod permission_callback;
mod run_request;

pub(crate) use agent_client::{Close, RunOptions};
pub use attachment::Attachment;
pub(crate) use extensions::refuse_unknown_extensions;
pub(crate) use permission_callback::PermissionCallback;
pub use run_request::{Input, RunRequest};
