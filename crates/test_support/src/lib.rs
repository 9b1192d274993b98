//! What ralph's tests need and its products may not import.
//!
//! - [`script`]: a typed builder for the scripted agent `fake_claude` (a binary of this package);
//! - [`dialect`]: single lines as Claude Code writes them, and [`demo`], a short session made of them;
//! - [`recorded`]: which of the processes that a script started are still alive.
#![warn(missing_docs)]

mod binaries;
pub mod demo;
pub mod dialect;
pub mod recorded;
pub mod script;

pub use binaries::{BinaryNotBuilt, bin};
