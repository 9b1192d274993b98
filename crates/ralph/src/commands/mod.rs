//! What each command does.

pub mod answer;
pub mod attach;
pub mod completions;
pub mod init;
pub mod interrupt;
mod reach;
pub mod run;
pub mod send;
pub mod stop;
