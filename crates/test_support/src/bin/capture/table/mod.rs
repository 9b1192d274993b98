//! The scenarios, by theme.

mod all;
mod answers;
mod codex;
mod dialogues;
mod faults;
mod gemini;
mod hosts;
mod limits;
mod permissions;
mod qwen;
mod sessions;
mod signals;
mod tools;

pub(crate) use all::{MCP_SERVER, SESSION_BEFORE, of};
