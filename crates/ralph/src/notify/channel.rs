//! `Channel`: one way to tell people. `channels` makes those that the settings name.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use agent_process::Marker;

use super::bell::Bell;
use super::notification::Notification;
use super::program::{Desktop, ProgramChannel};
use super::webhook::Webhook;
use crate::settings::NotifySettings;

pub trait Channel: Send {
    /// As in the settings: `webhook`.
    fn name(&self) -> &'static str;

    /// The longest time that sending a notification takes.
    fn timeout(&self) -> Duration;

    /// Sends it, within a deadline. An error is one line for people.
    fn send(&mut self, notification: &Notification) -> Result<(), String>;
}

/// What the channels of a run need to know about it.
#[derive(Debug, Clone, Default)]
pub struct ChannelContext {
    pub workspace: PathBuf,
    /// Marks the processes that channels start, like all processes of the run.
    pub marker: Option<Marker>,
    /// Variables that commands do not see.
    pub withheld: Vec<OsString>,
}

/// Checks what can be checked before a run starts.
///
/// # Errors
/// If the key of the webhook's signature is missing.
pub fn check(settings: &NotifySettings) -> Result<(), String> {
    secret(settings).map(drop)
}

/// The channels that the settings name.
///
/// # Errors
/// As [`check`].
pub fn channels(
    settings: &NotifySettings,
    context: &ChannelContext,
) -> Result<Vec<Box<dyn Channel>>, String> {
    let mut channels: Vec<Box<dyn Channel>> = Vec::new();
    if settings.bell {
        channels.push(Box::new(Bell));
    }
    if settings.desktop {
        channels.push(Box::new(Desktop::new(context.clone())));
    }
    if let Some(command) = &settings.command {
        channels.push(Box::new(ProgramChannel::new(command.clone(), context.clone())));
    }
    if let Some(url) = &settings.webhook {
        channels.push(Box::new(Webhook::new(url.clone(), secret(settings)?)));
    }
    Ok(channels)
}

fn secret(settings: &NotifySettings) -> Result<Option<Vec<u8>>, String> {
    let Some(name) = &settings.webhook_secret_env else {
        return Ok(None);
    };
    match std::env::var(name) {
        Ok(secret) if !secret.is_empty() => Ok(Some(secret.into_bytes())),
        _ => Err(format!(
            "the environment variable `{name}` is not set; `notify.webhook_secret_env` names it"
        )),
    }
}
