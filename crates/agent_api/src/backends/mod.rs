//! The backends that come with this crate, one cargo feature each.

#[cfg(feature = "claude_code")]
pub mod claude_code;
#[cfg(feature = "codex")]
pub mod codex;
#[cfg(feature = "custom")]
pub mod custom;
#[cfg(feature = "demo")]
pub mod demo;
#[cfg(feature = "gemini")]
pub mod gemini;
#[cfg(any(feature = "codex", feature = "gemini"))]
mod json_line;
#[cfg(feature = "qwen")]
pub mod qwen;
#[cfg(any(feature = "claude_code", feature = "gemini"))]
mod tool_names;
#[cfg(any(feature = "claude_code", feature = "codex", feature = "gemini"))]
mod vendor_error;
#[cfg(any(feature = "claude_code", feature = "codex", feature = "gemini"))]
mod wire_line;
