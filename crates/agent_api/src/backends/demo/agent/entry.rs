//! Where the program begins.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use super::arguments::{Arguments, Wish};
use super::conversation::converse;
use super::inbox::Inbox;
use super::stage::Stage;

/// The first argument that makes a program the demo agent.
pub const DEMO_WORD: &str = "__demo-agent";

/// Makes this process the demo agent if it was started as one by [`Demo::reexec`](super::super::Demo::reexec), and
/// never returns then. Returns at once otherwise.
///
/// Call it first in `main`. It may stand before or after [`agent_process::guard_main`]; before, the agent is spared a
/// guard that it has no use for.
pub fn demo_main() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == DEMO_WORD) {
        std::process::exit(i32::from(perform(arguments)));
    }
}

/// Plays the demo agent with these arguments (those of Claude Code, and `--demo-speed=X`), on this process's standard
/// streams and in its working directory. For programs that are nothing else.
pub fn play(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    perform(arguments).into()
}

fn perform(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::parse(arguments) {
        Ok(Wish::Play(arguments)) => arguments,
        Ok(Wish::Version) => {
            let version = concat!(env!("CARGO_PKG_VERSION"), " (Demo)\n");
            // Nobody is there to be told.
            let _ = std::io::stdout().write_all(version.as_bytes());
            return 0;
        }
        Err(message) => return complain(&message),
    };
    let inbox = match Inbox::open(arguments.input) {
        Ok(inbox) => inbox,
        Err(error) => return complain(&format!("cannot listen: {error}")),
    };
    match Stage::open(arguments, inbox) {
        Ok(stage) => converse(stage),
        Err(error) => complain(&format!("no working directory: {error}")),
    }
}

/// As the real CLI: one line on stderr, nothing on stdout, exit code 1.
pub(super) fn complain(message: &str) -> u8 {
    // Nobody is there to be told.
    let _ = writeln!(std::io::stderr(), "Error: {message}");
    1
}
