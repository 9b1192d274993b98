//! Google's Gemini CLI: `gemini -o stream-json`.

mod answer;
mod backend;
mod mapper;
mod profile;
mod tools;
mod usage;

pub use backend::Gemini;
pub use mapper::GeminiMapper;
pub use profile::profile;
