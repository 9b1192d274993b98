//! Records, and the test's own program as another process.

use std::path::Path;
use std::process::Command;

use agent_api::{AgentKind, MicroUsd};
use jiff::Timestamp;
use ralph_run::{
    EndReason, FORMAT_VERSION, Record, RunBody, RunEnded, RunEvent, RunFile, RunKind, RunStarted, RunStatus,
    Runner, Totals, Warned, WarningKind,
};

/// Tells a second process of this program what to work on.
const ROLE: &str = "RALPH_TEST_ROLE";

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The file of a run that has begun.
pub(crate) fn run_file(run_id: &str, started_at: &str) -> RunFile {
    RunFile {
        version: RunFile::VERSION,
        run_id: run_id.to_owned(),
        workspace: "/w".to_owned(),
        backend: AgentKind::DEMO,
        display_name: "Demo".to_owned(),
        model: None,
        agent_version: None,
        permission_mode: None,
        cwd: None,
        tools: Vec::new(),
        mcp_servers: Vec::new(),
        session_ids: Vec::new(),
        mode: None,
        task: None,
        kind: RunKind::Loop.into(),
        by: None,
        resumed_from: None,
        is_ephemeral: false,
        prompt: "do it".to_owned(),
        started_at: at(started_at),
        ended_at: None,
        status: RunStatus::default(),
        reason: None,
        exit_code: None,
        runner: Runner::current(),
        ralph_version: "0.1.0".to_owned(),
        other: serde_json::Map::new(),
    }
}

fn record(seq: u64, event: RunBody) -> Record {
    Record {
        seq,
        at: at("2026-11-15T23:59:59.5Z"),
        iteration: 2,
        attempt: 1,
        event: RunEvent::Run(event),
    }
}

pub(crate) fn started(run_id: &str) -> Record {
    record(
        1,
        RunBody::RunStarted(Box::new(RunStarted {
            format_version: FORMAT_VERSION,
            run_id: run_id.to_owned(),
            ralph_version: "0.1.0".to_owned(),
            workspace: "/w".to_owned(),
            backend: AgentKind::DEMO,
            display_name: "Demo".to_owned(),
            model: None,
            mode: Some("coder".to_owned()),
            task: None,
            permission_mode: None,
            max_iterations: 50,
            max_cost: Some(MicroUsd::new(10_000_000)),
            verify: vec!["make test".to_owned()],
            kind: ralph_run::RunKind::Loop.into(),
            by: None,
            resumed_from: None,
            is_ephemeral: false,
            start_commit: None,
            spent_before: None,
        })),
    )
}

/// A record with a text that contains everything a line must survive.
pub(crate) fn warned(seq: u64, message: &str) -> Record {
    record(
        seq,
        RunBody::Warned(Warned::new(
            WarningKind::Degraded,
            format!("{message} é \u{2028} \n \" \\ {seq}"),
        )),
    )
}

pub(crate) fn ended(seq: u64) -> Record {
    record(
        seq,
        RunBody::RunEnded(RunEnded {
            reason: EndReason::Completed.into(),
            exit_code: 0,
            message: None,
            iterations: 2,
            totals: Totals::default(),
        }),
    )
}

/// This program again, playing the role `name` in `directory`: a test that does nothing otherwise.
pub(crate) fn role(name: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture", "--test-threads=1"]);
    command.env_clear().env(ROLE, directory);
    command
}

/// The same, after some words of shell.
pub(crate) fn role_after(shell: &str, name: &str, directory: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{shell}\nexec \"$0\" \"$@\"")]);
    let plain = role(name, directory);
    command.arg(plain.get_program()).args(plain.get_args());
    command.env_clear().env(ROLE, directory);
    command
}

/// What to work on, if this process plays a role.
pub(crate) fn my_role() -> Option<std::path::PathBuf> {
    std::env::var_os(ROLE).map(Into::into)
}
