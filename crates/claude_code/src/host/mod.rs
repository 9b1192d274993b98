//! What your program does for the CLI while a session runs: decide on permissions, run hooks, serve tools.
//!
//! A [`Host`] collects the callbacks. It starts nothing and has no clock: the owner of the session passes it each
//! control request, awaits the [`HostResponse`] within its timeout and writes the answer back.

mod callbacks;
mod hooks;
mod permission;
mod tools;

pub use callbacks::{Host, HostResponse};
pub use hooks::{Hook, HookEvent, HookInput, HookOutput};
pub use permission::PermissionRequest;
pub use tools::{Tool, ToolError, ToolOutput, ToolServer};
