//! The backends that come with this crate, one cargo feature each.

#[cfg(feature = "claude_code")]
pub mod claude_code;
#[cfg(feature = "custom")]
pub mod custom;
#[cfg(any(feature = "claude_code", feature = "gemini", feature = "qwen"))]
mod tool_names;
