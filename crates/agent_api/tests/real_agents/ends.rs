//! Errors of the API, cancelled runs, and versions that were never tested.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use agent_api::{Body, Close, ErrorClass, Input, Outcome, ToolStatus};
use libtest_mimic::Trial;
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::{ShellGate, processes_of};

use crate::doors::Door;
use crate::stage::{Stage, finish, trial, until};

pub(crate) fn trials(door: &Door) -> Vec<Trial> {
    let rounds = cancel_rounds();
    let mut trials = vec![
        trial(door, "a_refused_key_fails_as_a_login_problem", 1, refused_key),
        trial(door, "a_bad_request_fails_once_with_a_reason", 1, bad_request),
        trial(
            door,
            "a_run_that_is_cancelled_in_a_command_leaves_no_process",
            rounds,
            async move |stage| {
                for round in 0..rounds {
                    cancel_in_command(stage, round).await;
                }
            },
        ),
        trial(
            door,
            "a_version_that_was_never_tested_is_told",
            1,
            untested_version,
        ),
    ];
    if door.ends_commands {
        trials.push(trial(
            door,
            "an_interrupt_ends_the_command_of_its_turn",
            1,
            interrupt_in_command,
        ));
    }
    trials
}

/// `make test-agents` asks for more than the default.
fn cancel_rounds() -> u32 {
    let rounds = env::var("RALPH_CANCEL_ROUNDS").ok();
    rounds.map_or(2, |rounds| rounds.parse().unwrap())
}

async fn refused_key(stage: &Stage) {
    let (_, completed) = stage.play("SCENARIO:err401").await;
    let finished = completed.finished;
    assert_eq!(finished.outcome, Outcome::Failed, "{finished:?}");
    let error = finished.error.unwrap();
    assert_eq!(error.class, ErrorClass::Auth, "{error:?}");
}

async fn bad_request(stage: &Stage) {
    let (_, completed) = stage.play("SCENARIO:err400").await;
    let finished = completed.finished;
    assert_eq!(finished.outcome, Outcome::Failed, "{finished:?}");
    let error = finished.error.unwrap();
    assert_eq!(error.class, stage.door.bad_request, "{error:?}");
    assert!(!error.message.is_empty());
}

async fn cancel_in_command(stage: &Stage, round: u32) {
    let directory = stage.workspace.path().join(format!("round-{round}"));
    fs::create_dir(&directory).unwrap();
    let mut gate = ShellGate::create(&directory).unwrap();
    let prompt = scripted_prompt(&[vec![
        Block::text("This takes a while."),
        Block::shell(&gate.command()),
    ]]);
    let handle = stage.start(&prompt, stage.options()).await;
    gate.started().await.unwrap();
    let running = processes_of(stage.workspace.root());
    assert!(running.len() >= 2, "the agent and its command: {running:?}");
    handle.control.cancel();
    let (events, completed) = finish(handle).await;
    let left = processes_of(stage.workspace.root());
    assert!(left.is_empty(), "round {round}: {left:?}");
    assert_eq!(
        completed.finished.outcome,
        Outcome::Cancelled,
        "round {round}: {:?}",
        completed.finished
    );
    let completed_tool = events.iter().find(
        |event| matches!(&event.body, Body::ToolFinished(tool) if tool.status == ToolStatus::Completed),
    );
    assert_eq!(completed_tool, None, "round {round}");
}

async fn interrupt_in_command(stage: &Stage) {
    let mut gate = ShellGate::create(&stage.workspace.path()).unwrap();
    let prompt = scripted_prompt(&[vec![Block::shell(&gate.command())], vec![Block::text("Done.")]]);
    let request = stage
        .request(&prompt, stage.options())
        .input(Input::Messages(Close::ByCaller));
    let run = stage.registry.run(stage.door.agent.name(), request).await;
    let mut handle = run.unwrap();
    gate.started().await.unwrap();
    let with_command = processes_of(stage.workspace.root());
    handle.control.interrupt().unwrap();
    let outcome = until(&mut handle.events, |event| match &event.body {
        Body::TurnFinished(turn) => Some(turn.outcome),
        _ => None,
    });
    assert_eq!(outcome.await, Outcome::Interrupted);
    // The agent says when it has ended the command, and there is time until the limit of the test.
    while processes_of(stage.workspace.root()).len() >= with_command.len() {
        let next = tokio::time::timeout(Duration::from_millis(100), handle.events.next()).await;
        assert!(!matches!(next, Ok(None)), "the run ended");
    }
    handle.control.close_input();
    finish(handle).await;
}

async fn untested_version(stage: &Stage) {
    for (version, word) in [("99.0.0", "newer"), ("0.0.1", "older")] {
        let registry = stage.with_program(wrapper(stage, version));
        let request = stage.request("SCENARIO:plain", stage.options());
        let handle = registry.run(stage.door.agent.name(), request).await.unwrap();
        let (events, completed) = finish(handle).await;
        assert_eq!(
            completed.finished.outcome,
            Outcome::Succeeded,
            "{:?}",
            completed.finished
        );
        let notice = events.iter().find_map(|event| match &event.body {
            Body::Notice(notice) if notice.code == "untested_version" => Some(notice.message.clone()),
            _ => None,
        });
        let message = notice.unwrap();
        let tested = stage.door.agent.current_version();
        assert!(
            message.contains(version) && message.contains(word) && message.contains(tested),
            "{message}"
        );
    }
}

/// A program that is the agent's, but for its version.
fn wrapper(stage: &Stage, version: &str) -> PathBuf {
    let agent = stage.door.agent.name();
    let program = stage.workspace.root().join(format!("{agent}-{version}"));
    let real = stage.cli.path().display();
    // Some agents have to be named in their answer.
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo \"{agent} Copilot {version}\" && exit\nexec '{real}' \"$@\"\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}
