//! The command line.

use std::ffi::OsString;
use std::time::Duration;

use claude_code::SessionId;

/// Longer than any pause of the show should be, however slowly it is played.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// What the program is asked to do.
pub(super) enum Wish {
    Play(Arguments),
    Version,
}

/// What the command line says. Options that change nothing in a show are taken and forgotten.
pub(super) struct Arguments {
    pub(super) input: InputFormat,
    /// Whether somebody answers questions.
    pub(super) has_host: bool,
    pub(super) has_partials: bool,
    pub(super) replays: bool,
    pub(super) session_id: String,
    pub(super) model: String,
    pub(super) permission_mode: String,
    pub(super) speed: Speed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputFormat {
    /// All of stdin is the prompt.
    Text,
    /// Each line is a message.
    Messages,
}

/// How fast the show goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Speed {
    /// Without any pause.
    Max,
    /// So many times as fast as a person wants to watch it.
    Times(f64),
}

impl Speed {
    /// A number from 0; 0 and `max` are the same.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text == "max" {
            return Some(Self::Max);
        }
        let times: f64 = text.parse().ok()?;
        match times {
            0.0 => Some(Self::Max),
            times if times.is_finite() && times > 0.0 => Some(Self::Times(times)),
            _ => None,
        }
    }

    pub(super) fn pause(self, pause: Duration) -> Duration {
        match self {
            Self::Max => Duration::ZERO,
            Self::Times(times) => Duration::try_from_secs_f64(pause.as_secs_f64() / times)
                .map_or(LONGEST_PAUSE, |pause| pause.min(LONGEST_PAUSE)),
        }
    }
}

impl Arguments {
    pub(super) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Wish, String> {
        let mut parsed = Self {
            input: InputFormat::Text,
            has_host: false,
            has_partials: false,
            replays: false,
            session_id: String::new(),
            model: "demo".to_owned(),
            permission_mode: "default".to_owned(),
            speed: Speed::Times(1.0),
        };
        let mut resumed = None;
        let mut is_fork = false;
        for argument in arguments {
            let argument = argument.to_string_lossy();
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, value),
                None => (&*argument, ""),
            };
            match (name, value) {
                ("--version" | "-v", _) => return Ok(Wish::Version),
                ("--input-format", "stream-json") => parsed.input = InputFormat::Messages,
                ("--permission-prompt-tool", "stdio") => parsed.has_host = true,
                ("--include-partial-messages", _) => parsed.has_partials = true,
                ("--replay-user-messages", _) => parsed.replays = true,
                ("--model", model) if !model.is_empty() => parsed.model = model.to_owned(),
                ("--permission-mode", mode) if !mode.is_empty() => {
                    mode.clone_into(&mut parsed.permission_mode)
                }
                ("--dangerously-skip-permissions", _) => {
                    "bypassPermissions".clone_into(&mut parsed.permission_mode);
                }
                ("--session-id", id) => parsed.session_id = uuid(id)?,
                ("--resume", id) => resumed = Some(uuid(id)?),
                ("--fork-session", _) => is_fork = true,
                ("--demo-speed", speed) => {
                    parsed.speed =
                        Speed::parse(speed).ok_or("`--demo-speed` takes a number from 0, or `max`")?;
                }
                _ => {}
            }
        }
        if parsed.session_id.is_empty() {
            let kept = resumed.filter(|_| !is_fork);
            parsed.session_id = kept.unwrap_or_else(|| SessionId::random().to_string());
        }
        Ok(Wish::Play(parsed))
    }
}

fn uuid(text: &str) -> Result<String, String> {
    let id: Result<SessionId, _> = text.parse();
    id.map(|id| id.to_string())
        .map_err(|_| "Invalid session ID. Must be a valid UUID.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_PAUSE, Speed};
    use std::time::Duration;

    #[test]
    fn a_speed_is_a_number_from_zero_or_max() {
        assert_eq!(Speed::parse("0"), Some(Speed::Max));
        assert_eq!(Speed::parse("max"), Some(Speed::Max));
        assert_eq!(Speed::parse("2.5"), Some(Speed::Times(2.5)));
        for wrong in ["", "-1", "NaN", "inf", "fast"] {
            assert_eq!(Speed::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn no_speed_makes_a_pause_endless() {
        let second = Duration::from_secs(1);
        assert_eq!(Speed::Max.pause(second), Duration::ZERO);
        assert_eq!(Speed::Times(4.0).pause(second), Duration::from_millis(250));
        assert_eq!(Speed::Times(1e-300).pause(second), LONGEST_PAUSE);
    }
}
