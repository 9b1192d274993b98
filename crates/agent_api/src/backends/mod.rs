//! The backends that come with this crate, one cargo feature each.

#[cfg(feature = "acp")]
pub mod acp;
#[cfg(feature = "amp")]
pub mod amp;
mod builtin;
#[cfg(feature = "claude_code")]
pub mod claude_code;
#[cfg(feature = "codex")]
pub mod codex;
#[cfg(feature = "custom")]
pub mod custom;
#[cfg(feature = "gemini")]
pub mod gemini;
#[cfg(any(feature = "acp", feature = "codex"))]
mod json_rpc;
#[cfg(any(feature = "acp", feature = "claude_code", feature = "codex"))]
mod offered_grants;
#[cfg(feature = "pi")]
pub mod pi;
#[cfg(feature = "_installed_program")]
mod program;
#[cfg(any(feature = "claude_code", feature = "codex"))]
mod question_answers;
#[cfg(feature = "qwen")]
pub mod qwen;
#[cfg(feature = "_json_lines")]
mod recording;
#[cfg(feature = "_json_lines")]
mod retry_hint;
#[cfg(feature = "_json_lines")]
mod tool_names;
#[cfg(feature = "_json_lines")]
mod vendor_error;
#[cfg(feature = "_json_lines")]
mod wire_line;
