//! The commands: one file each, with its arguments and `execute`.

pub mod answer;
pub mod attach;
pub mod clean;
pub mod complete;
pub mod completions;
pub mod demo;
pub mod doctor;
pub mod help;
pub mod init;
pub mod interrupt;
mod listing;
pub mod logs;
pub mod merge;
pub mod notify;
pub mod queue;
pub mod reindex;
pub mod replay;
pub mod run;
mod run_client;
pub mod runs;
pub mod search;
pub mod send;
pub mod serve;
pub mod show;
pub mod stop;
pub mod token;
pub mod top_up;
pub mod trust;
pub mod tui;
pub mod watch;
pub mod worktrees;

pub(crate) use run::find_secret;
pub(crate) use run_client::describe_refusal;
