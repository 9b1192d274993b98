//! The scenarios, by theme.

mod all;
mod answers;
mod dialogues;
mod faults;
mod hosts;
mod limits;
mod permissions;
mod sessions;
mod signals;
mod tools;

pub(crate) use all::{MCP_SERVER, all};
