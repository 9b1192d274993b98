//! The command line of ralph.
#![warn(missing_docs)]

pub mod cli;
pub mod commands;
pub mod console;
pub mod diagnostics;
pub mod failure;
pub mod home;
pub mod settings;
pub mod versions;
