//! OpenAI's Codex CLI: `codex exec --json` for a single prompt, `codex app-server` for a conversation.

mod app_server;
mod backend;
mod exec;
mod items;
mod mapper;
mod profile;
mod usage;

pub use app_server::AppServerMapper;
pub use backend::Codex;
pub use mapper::CodexMapper;
pub use profile::profile;
