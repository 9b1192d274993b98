//! The command line of the demo agent: the flags of Claude Code that matter here, and `--demo-speed`.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use uuid::Uuid;

use crate::input_events::InputQueue;
use crate::session::Session;

/// The first argument that turns a program into the demo agent. See [`demo_main`].
pub const REEXEC_ARGUMENT: &str = "__demo-agent";

/// Upper bound for a pause, whatever the speed.
const MAX_PAUSE: Duration = Duration::from_secs(600);

/// Runs the demo agent and exits, if this process was started by [`Demo::reexec`](crate::Demo::reexec). Returns at once
/// otherwise.
///
/// Call it first in `main`. Call it before [`agent_api::guard_main`] to spare the demo agent a guard process, which it
/// does not need.
pub fn demo_main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == REEXEC_ARGUMENT) {
        std::process::exit(i32::from(run_cli(arguments)));
    }
}

/// Runs the demo agent with these arguments (those of Claude Code, and `--demo-speed=X`), on the standard streams and in
/// the working directory of this process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    run_cli(arguments).into()
}

fn run_cli(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match CliAction::parse(arguments) {
        Ok(CliAction::Run(arguments)) => arguments,
        Ok(CliAction::PrintVersion) => {
            let version = concat!(env!("CARGO_PKG_VERSION"), " (Demo)\n");
            return u8::from(std::io::stdout().write_all(version.as_bytes()).is_err());
        }
        Err(message) => return fail(&message),
    };
    let input = match InputQueue::open(arguments.input) {
        Ok(input) => input,
        Err(error) => return fail(&format!("cannot handle signals: {error}")),
    };
    match Session::new(arguments, input) {
        Ok(session) => session.run(),
        Err(error) => fail(&format!("cannot read the working directory: {error}")),
    }
}

/// Fails as Claude Code does: one line on stderr, nothing on stdout, exit code 1.
pub(crate) fn fail(message: &str) -> u8 {
    // The exit code still reports the failure when stderr is closed.
    let _ = writeln!(std::io::stderr(), "Error: {message}");
    1
}

/// What the command line asks for.
enum CliAction {
    Run(Arguments),
    PrintVersion,
}

pub(crate) struct Arguments {
    pub(crate) input: InputFormat,
    /// Whether the caller answers questions.
    pub(crate) can_ask: bool,
    pub(crate) partial_messages: bool,
    pub(crate) replay_messages: bool,
    pub(crate) session_id: String,
    pub(crate) model: String,
    pub(crate) permission_mode: String,
    pub(crate) speed: Speed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputFormat {
    /// All of stdin is the prompt.
    Text,
    /// Each line of stdin is a JSON message.
    StreamJson,
}

impl CliAction {
    /// Flags that make no difference to the demo are ignored.
    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut parsed = Arguments {
            input: InputFormat::Text,
            can_ask: false,
            partial_messages: false,
            replay_messages: false,
            session_id: String::new(),
            model: "demo".to_owned(),
            permission_mode: "default".to_owned(),
            speed: Speed::Times(1.0),
        };
        let mut preset_id = None;
        let mut resumed_id = None;
        let mut is_fork = false;
        for argument in arguments {
            let argument = argument.to_string_lossy();
            let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
            match (name, value) {
                ("--version" | "-v", _) => return Ok(Self::PrintVersion),
                ("--input-format", "stream-json") => parsed.input = InputFormat::StreamJson,
                ("--permission-prompt-tool", "stdio") => parsed.can_ask = true,
                ("--include-partial-messages", _) => parsed.partial_messages = true,
                ("--replay-user-messages", _) => parsed.replay_messages = true,
                ("--model", model) if !model.is_empty() => model.clone_into(&mut parsed.model),
                ("--permission-mode", mode) if !mode.is_empty() => {
                    mode.clone_into(&mut parsed.permission_mode);
                }
                ("--dangerously-skip-permissions", _) => {
                    "bypassPermissions".clone_into(&mut parsed.permission_mode);
                }
                ("--session-id", id) => preset_id = Some(parse_session_id(id)?),
                ("--resume", id) => resumed_id = Some(parse_session_id(id)?),
                ("--fork-session", _) => is_fork = true,
                ("--demo-speed", speed) => {
                    parsed.speed = Speed::parse(speed)
                        .ok_or("`--demo-speed` must be `max` or a number that is not negative")?;
                }
                _ => {}
            }
        }
        parsed.session_id = preset_id
            .or(resumed_id.filter(|_| !is_fork))
            .unwrap_or_else(Uuid::now_v7)
            .to_string();
        Ok(Self::Run(parsed))
    }
}

fn parse_session_id(text: &str) -> Result<Uuid, String> {
    Uuid::parse_str(text).map_err(|_| "Invalid session ID. Must be a valid UUID.".to_owned())
}

/// How fast the script runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Speed {
    /// Without pauses.
    Max,
    /// A multiple of the normal speed.
    Times(f64),
}

impl Speed {
    /// `max` or a number; 0 means `max`.
    fn parse(text: &str) -> Option<Self> {
        if text == "max" {
            return Some(Self::Max);
        }
        match text.parse().ok()? {
            0.0 => Some(Self::Max),
            times if f64::is_finite(times) && times > 0.0 => Some(Self::Times(times)),
            _ => None,
        }
    }

    pub(crate) fn scale(self, pause: Duration) -> Duration {
        match self {
            Self::Max => Duration::ZERO,
            Self::Times(times) => Duration::try_from_secs_f64(pause.as_secs_f64() / times)
                .map_or(MAX_PAUSE, |pause| pause.min(MAX_PAUSE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PAUSE, Speed};
    use std::time::Duration;

    #[test]
    fn a_speed_is_max_or_a_number_from_zero() {
        assert_eq!(Speed::parse("0"), Some(Speed::Max));
        assert_eq!(Speed::parse("max"), Some(Speed::Max));
        assert_eq!(Speed::parse("2.5"), Some(Speed::Times(2.5)));
        for invalid in ["", "-1", "NaN", "inf", "fast"] {
            assert_eq!(Speed::parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn pauses_are_bounded_at_any_speed() {
        let second = Duration::from_secs(1);
        assert_eq!(Speed::Max.scale(second), Duration::ZERO);
        assert_eq!(Speed::Times(4.0).scale(second), Duration::from_millis(250));
        assert_eq!(Speed::Times(1e-300).scale(second), MAX_PAUSE);
    }
}
