//! Sessions that go on.

use super::all::OLDER;
use crate::scenario::{Run, Scenario, Step, bash};
use test_support::fake_model::scripted_prompt;
use test_support::script::Signal;

const SESSION: &str = "00000000-0000-4000-8000-0000000b0001";

pub(super) fn scenarios() -> Vec<Scenario> {
    let chat = |name, what| Scenario::prompt(name, what, "SCENARIO:chat second").after(first());
    vec![
        Scenario::prompt("session_first", "--session-id", "SCENARIO:chat first")
            .flag(format!("--session-id={SESSION}")),
        chat("session_resume", "--resume")
            .flag(format!("--resume={SESSION}"))
            .also_in(&OLDER),
        chat("session_continue", "--continue").flag("--continue"),
        Scenario::prompt(
            "session_continue_none",
            "--continue without a session",
            "SCENARIO:chat",
        )
        .flag("--continue"),
        chat("session_fork", "--resume --fork-session")
            .flag(format!("--resume={SESSION}"))
            .flag("--fork-session"),
        Scenario::prompt(
            "session_after_kill",
            "--resume after SIGKILL in a tool",
            "SCENARIO:chat after the crash",
        )
        .after(killed())
        .flag(format!("--resume={SESSION}")),
    ]
}

fn first() -> Run {
    Run::prompt("SCENARIO:chat first").flag(format!("--session-id={SESSION}"))
}

fn killed() -> Run {
    Run::prompt(scripted_prompt(&[vec![bash("touch started; sleep 10")]]))
        .flag(format!("--session-id={SESSION}"))
        .step([Step::AwaitFile("started"), Step::Signal(Signal::Kill)])
}
