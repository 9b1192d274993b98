//! Qwen Code: `qwen -o stream-json`. It writes Claude's stream in a dialect of its own, so `ClaudeMapper` maps it.

mod backend;
mod dialect;
mod profile;

pub use backend::Qwen;
pub use dialect::{DIALECT, EXTRAS};
pub use profile::profile;
