//! OpenAI's Codex, as `codex exec --json` writes: a mapping of its stream and the facts about it. It starts nothing yet.

mod items;
mod mapper;
mod profile;
mod usage;

pub use mapper::CodexMapper;
pub use profile::profile;
