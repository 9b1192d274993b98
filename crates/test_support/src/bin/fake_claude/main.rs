//! The scripted agent: plays the steps of a script (see `test_support::script`) as if it were Claude Code.
//!
//! The script is named by `--script=PATH` or `FAKE_CLAUDE_SCRIPT`; without one it plays the demo
//! (`FAKE_CLAUDE_PACE_MS` sets its pace). Every other argument is accepted and can be checked by the script.

mod children;
mod input;
mod output;
mod player;
mod report;
#[cfg_attr(not(unix), path = "signals_elsewhere.rs")]
mod signals;
#[cfg_attr(not(unix), path = "system_elsewhere.rs")]
mod system;

use player::{End, Player};
use report::Report;
use std::env;
use std::process::ExitCode;
use std::time::Duration;
use test_support::script::{SCRIPT_FAILED, SCRIPT_VARIABLE, Script, Stream};

fn main() -> ExitCode {
    // Taken before anything else can open a descriptor.
    let report = Report::take();
    let arguments: Vec<String> = env::args_os()
        .skip(1)
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let ended = match children::Request::from_arguments(&arguments) {
        Some(request) => children::run(&request).map_err(|error| error.to_string()),
        None => load(&arguments).and_then(|script| play(script, arguments, report)),
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            output::write(Stream::Stderr, format!("fake_claude: {message}\n").as_bytes());
            ExitCode::from(SCRIPT_FAILED)
        }
    }
}

fn load(arguments: &[String]) -> Result<Script, String> {
    let argument = arguments
        .iter()
        .find_map(|argument| argument.strip_prefix("--script="));
    let Some(path) = argument.map(Into::into).or_else(|| env::var_os(SCRIPT_VARIABLE)) else {
        let pace = env::var("FAKE_CLAUDE_PACE_MS")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(150);
        return Ok(Script::demo(Duration::from_millis(pace)));
    };
    let bytes = std::fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{} is not a script: {error}", path.display()))
}

fn play(script: Script, arguments: Vec<String>, report: Report) -> Result<u8, String> {
    let asks_version = arguments
        .iter()
        .any(|argument| argument == "--version" || argument == "-v");
    if let (true, Some(version)) = (asks_version, &script.version) {
        output::write(Stream::Stdout, format!("{version}\n").as_bytes());
        return Ok(0);
    }
    let signals = signals::Signals::watch(&script.steps, report.clone(), arguments.clone())
        .map_err(|error| format!("cannot watch signals: {error}"))?;
    match Player::new(signals, report, arguments).play(&script.steps)? {
        End::Exit(code) => Ok(code),
        End::Steps => Ok(0),
    }
}
