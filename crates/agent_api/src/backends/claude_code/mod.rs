//! Anthropic's Claude Code, and other agents that speak its dialect.

mod api_error;
mod asks;
mod backend;
mod blocks;
mod commands;
mod items;
mod mapper;
mod outcome;
mod results;
mod system;
mod text;
mod usage;

#[cfg(feature = "demo")]
pub(crate) use backend::launch;
pub use backend::{ClaudeCode, profile};
pub use mapper::{ClaudeMapper, MapperSetup};
