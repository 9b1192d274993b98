//! What can be typed. Types only: what a flag that is not given means is decided in [`settings`](crate::settings).

mod answer;
mod clean;
mod command;
mod logs;
mod parse;
mod queue;
mod replay;
mod run;
mod runs;
mod send;
mod serve;
mod view;

pub use answer::AnswerArgs;
pub use clean::CleanArgs;
pub use command::{
    AttachArgs, Cli, Command, CompletionsArgs, DemoArgs, DoctorArgs, InitArgs, InterruptArgs, RunnerArgs,
    ShowArgs, StopArgs,
};
pub use logs::LogsArgs;
pub use parse::{Stop, USAGE_EXIT_CODE, command, parse};
pub use queue::{QueueArgs, QueueCommand, QueueEditArgs, QueueWithdrawArgs};
pub use replay::ReplayArgs;
pub use run::RunArgs;
pub use runs::RunsArgs;
pub use send::SendArgs;
pub use serve::{ReindexArgs, SearchArgs, ServeArgs};
pub use view::ViewArgs;
