//! The command line of ralph.

pub mod cli;
pub mod commands;
pub mod console;
pub mod current_process;
pub mod diagnostics;
pub mod failure;
pub mod home;
pub mod keyboard;
pub mod notify;
pub mod settings;
pub mod trust;
pub mod version_cache;
