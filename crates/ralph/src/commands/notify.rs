//! `ralph notify`: tests the notifications of this workspace.

use std::path::Path;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use ralph_run::Home;

use super::run::RunArgs;
use crate::console::{write_stderr, write_stdout};
use crate::failure::Failure;
use crate::notify::{ChannelContext, Notification, channels};
use crate::settings::open_file;
use crate::trust::Policy;
use run_view::{one_line, sanitise};

const MAX_ERROR_CHARS: usize = 500;

/// Test the notifications that `notify` in ralph.yml configures
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(
    disable_help_subcommand = true,
    subcommand_value_name = "COMMAND",
    after_help = "Examples:
  ralph notify test
  RALPH_NOTIFY_BELL=1 ralph notify test"
)]
pub struct NotifyArgs {
    #[command(subcommand)]
    pub command: NotifySubcommand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum NotifySubcommand {
    /// Send a test notification through every configured channel
    #[command(after_help = "Examples:
  ralph notify test

Exits with 0 if every channel has sent it, otherwise with 1.")]
    Test,
}

/// Sends the test and prints one line for each channel.
pub fn execute(
    args: &NotifyArgs,
    home: &Home,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> anyhow::Result<u8> {
    match args.command {
        NotifySubcommand::Test => test(home, variables, cwd),
    }
}

fn test(home: &Home, variables: &dyn Fn(&str) -> Option<String>, cwd: &Path) -> anyhow::Result<u8> {
    let opened = open_file(None, cwd, &Policy::as_stored(home))?;
    if let Some(notice) = opened.notice() {
        write_stderr(&format!("ralph: {notice}\n"));
    }
    let (settings, _) = opened.resolve(&RunArgs::default(), variables)?;
    if settings.notify.is_empty() && matches!(variables("RALPH_NOTIFY").as_deref(), Some("" | "0" | "false"))
    {
        return Err(Failure::config("notifications are turned off by the variable `RALPH_NOTIFY`").into());
    }
    if settings.notify.is_empty() {
        return Err(Failure::config(
            "no notifications are configured: set `notify.bell`, `notify.desktop`, `notify.command` or \
             `notify.webhook` in ralph.yml",
        )
        .into());
    }
    let context = ChannelContext {
        workspace: settings.workspace.clone(),
        ..ChannelContext::default()
    };
    let notification = Notification::test(settings.workspace.display().to_string(), Timestamp::now());
    let mut has_failed = false;
    let mut channels = channels(&settings.notify, &context).map_err(Failure::config)?;
    // They run programs on a runtime of their own.
    let results = std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let sent = channels
                .iter_mut()
                .map(|channel| (channel.name(), channel.send(&notification)));
            sent.collect::<Vec<_>>()
        });
        sending.join()
    });
    let results = results.map_err(|_| anyhow!("a channel has panicked"))?;
    for (name, result) in results {
        let line = match result {
            Ok(()) => format!("{name}: sent\n"),
            Err(error) => {
                has_failed = true;
                format!("{name}: failed: {}\n", one_line(&error, MAX_ERROR_CHARS))
            }
        };
        write_stdout(&sanitise(&line));
    }
    Ok(u8::from(has_failed))
}
