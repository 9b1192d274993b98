//! `ProgramChannel` and `Desktop`: notifications by a program that gets them. The guard ends it with the run, so it is
//! never left behind.

use std::ffi::OsString;
use std::time::Duration;

use agent_process::{EnvPolicy, Exit, SpawnSpec, StdinMode, output_of};

use super::channel::{Channel, ChannelContext};
use super::notification::Notification;
use crate::settings::NotifyCommand;
use run_view::one_line;

/// How long a command may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ERROR_CHARS: usize = 200;

/// Runs a command with the notification as JSON on its stdin.
pub(super) struct ProgramChannel {
    command: NotifyCommand,
    context: ChannelContext,
}

impl ProgramChannel {
    pub(super) fn new(command: NotifyCommand, context: ChannelContext) -> Self {
        Self { command, context }
    }
}

impl Channel for ProgramChannel {
    fn name(&self) -> &'static str {
        "command"
    }

    fn timeout(&self) -> Duration {
        COMMAND_TIMEOUT
    }

    fn send(&mut self, notification: &Notification) -> Result<(), String> {
        let mut spec = match &self.command {
            NotifyCommand::Shell(line) => {
                let mut spec = SpawnSpec::new("sh");
                spec.args = vec!["-c".into(), line.into()];
                spec
            }
            NotifyCommand::Program(words) => {
                let (program, args) = words.split_first().ok_or("there is no program")?;
                let mut spec = SpawnSpec::new(program);
                spec.args = args.iter().map(Into::into).collect();
                spec
            }
        };
        let mut json = serde_json::to_vec(notification).map_err(|error| error.to_string())?;
        json.push(b'\n');
        spec.stdin = StdinMode::Bytes(json.into());
        run(spec, &self.context, notification)
    }
}

/// Shows a notification on the desktop.
pub(super) struct Desktop {
    context: ChannelContext,
}

impl Desktop {
    pub(super) fn new(context: ChannelContext) -> Self {
        Self { context }
    }
}

impl Channel for Desktop {
    fn name(&self) -> &'static str {
        "desktop"
    }

    fn timeout(&self) -> Duration {
        COMMAND_TIMEOUT
    }

    fn send(&mut self, notification: &Notification) -> Result<(), String> {
        let (title, text) = (notification.title.clone(), notification.text());
        run(desktop_command(title, text), &self.context, notification)
    }
}

#[cfg(target_os = "macos")]
fn desktop_command(title: String, text: String) -> SpawnSpec {
    // As arguments, so that no text is a part of the script.
    let script = [
        "on run argv",
        "display notification (item 2 of argv) with title (item 1 of argv)",
        "end run",
    ];
    let mut spec = SpawnSpec::new("osascript");
    for line in script {
        spec.args.extend(["-e".into(), line.into()]);
    }
    spec.args.extend([title.into(), text.into()]);
    spec
}

#[cfg(not(target_os = "macos"))]
fn desktop_command(title: String, text: String) -> SpawnSpec {
    // The text is markup.
    let text = text
        .replace('&', "&#38;")
        .replace('<', "&#60;")
        .replace('>', "&#62;");
    let mut spec = SpawnSpec::new("notify-send");
    spec.args = vec!["--app-name=ralph".into(), "--".into(), title.into(), text.into()];
    spec
}

fn run(mut spec: SpawnSpec, context: &ChannelContext, notification: &Notification) -> Result<(), String> {
    let set: [(&str, &str); 5] = [
        ("RALPH_EVENT", notification.event.name()),
        ("RALPH_KIND", &notification.kind),
        ("RALPH_RUN_ID", &notification.run.run_id),
        ("RALPH_WORKSPACE", &notification.run.workspace),
        ("RALPH_MESSAGE", &notification.message),
    ];
    // A variable cannot hold a zero byte.
    let value = |text: &str| OsString::from(text.replace('\0', " "));
    spec.env = EnvPolicy::Inherit {
        set: set.map(|(name, text)| (name.into(), value(text))).into(),
        remove: context.withheld.clone(),
    };
    spec.cwd = Some(context.workspace.clone());
    spec.marker.clone_from(&context.marker);
    let program = spec.program.display().to_string();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let output = runtime
        .block_on(output_of(spec, COMMAND_TIMEOUT))
        .map_err(|error| format!("cannot run `{program}`: {error}"))?;
    let report = output.exit;
    match report.exit {
        Exit::Code(0) => Ok(()),
        Exit::TimedOut => Err(format!(
            "`{program}` took longer than {} s",
            COMMAND_TIMEOUT.as_secs()
        )),
        exit => {
            let stderr = String::from_utf8_lossy(&report.stderr_tail);
            let last = stderr.lines().rfind(|line| !line.trim().is_empty());
            let last = last.map_or_else(String::new, |line| {
                format!(": {}", one_line(line, MAX_ERROR_CHARS))
            });
            Err(format!("`{program}` {exit}{last}"))
        }
    }
}
