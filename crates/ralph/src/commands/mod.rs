//! What each command does.

pub mod answer;
pub mod attach;
pub mod clean;
pub mod completions;
pub mod demo;
pub mod doctor;
pub mod init;
pub mod interrupt;
mod listing;
pub mod logs;
pub mod queue;
mod reach;
pub mod replay;
pub mod run;
pub mod runs;
pub mod screen;
pub mod send;
pub mod serve;
pub mod show;
pub mod stop;
