//! The backend for Claude Code, and the mapper for all agents that write its stream format.

mod api_error;
mod backend;
mod commands;
mod dialect_extras;
mod grants;
mod items;
mod mapper;
mod messages;
mod outcome;
mod permission_requests;
mod system;
mod tool_results;
mod usage;

pub use backend::{ClaudeCode, profile};
/// Hooks and tools that are closures of this process, for [`ClaudeCode::host`].
pub use claude_code::host;
pub use dialect_extras::{AnswerRetry, DialectExtras};
pub use mapper::{ClaudeMapper, MapperSetup};
