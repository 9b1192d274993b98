//! Google's Gemini CLI, as `gemini -o stream-json` writes: a mapping of its stream and the facts about it. It starts
//! nothing yet.

mod answer;
mod mapper;
mod profile;
mod tools;
mod usage;

pub use mapper::GeminiMapper;
pub use profile::profile;
