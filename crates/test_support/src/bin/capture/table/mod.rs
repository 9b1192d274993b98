//! The scenarios, by theme.

mod acp;
mod all;
mod answers;
mod codex;
mod copilot;
mod dialogues;
mod faults;
mod gemini;
mod hosts;
mod limits;
mod opencode;
mod permissions;
mod qwen;
mod sessions;
mod signals;
mod tools;

pub(crate) use acp::DIRECTORY;
pub(crate) use all::{MCP_SERVER, SESSION_BEFORE, of};
