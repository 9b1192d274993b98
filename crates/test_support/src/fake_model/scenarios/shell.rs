//! The Bash tool, and several tools at once.

use super::table::Scenario;
use super::turn::{Turn, bash};
use crate::fake_model::message::{Answer, Block, Message, Usage};
use crate::fake_model::request;
use serde_json::json;

pub(super) const SCENARIOS: &[(&str, Scenario)] = &[
    ("bash", |turn| match turn.step {
        0 => [
            Block::text("I'll run a command."),
            bash(
                turn.argument_or("echo hello && echo err >&2 && pwd"),
                "Print hello",
            ),
        ]
        .into(),
        _ => [Block::text("The command printed hello.")].into(),
    }),
    ("bashfail", |turn| match turn.step {
        0 => [
            Block::text("Running a failing command."),
            bash("echo out; echo bad >&2; exit 3", "Fail with 3"),
        ]
        .into(),
        _ => [Block::text("It failed with exit code 3.")].into(),
    }),
    ("bashsleep", |turn| match turn.step {
        0 => [
            Block::text("Sleeping."),
            bash(turn.argument_or("sleep 321"), "Sleep"),
        ]
        .into(),
        _ => [Block::text("Slept.")].into(),
    }),
    ("bashbg", |turn| match turn.step {
        0 => [background(
            "for i in 1 2 3; do echo tick $i; sleep 0.3; done",
            "Background ticks",
        )]
        .into(),
        1 => [Block::text("Started in the background; ending my turn.")].into(),
        _ => [Block::text("Background job finished, noted.")].into(),
    }),
    ("bashtimeout", |turn| match turn.step {
        0 => [Block::tool(
            "Bash",
            json!({"command": "echo begin; sleep 6; echo end", "description": "Too slow", "timeout": 2000}),
        )]
        .into(),
        _ => [Block::text("It timed out.")].into(),
    }),
    ("killshell", kill_shell),
    ("big", |turn| match turn.step {
        0 => [
            Block::text("Reading 2 MB."),
            bash(r"head -c 2097152 /dev/zero | tr '\0' 'x'", "2 MB output"),
        ]
        .into(),
        _ => [Block::text("Got the big output.")].into(),
    }),
    ("parallel", |turn| match turn.step {
        0 => [
            Block::text("Running three tools at once."),
            bash("sleep 0.5; echo A", "A"),
            Block::tool("Read", json!({"file_path": turn.path("hello.txt")})),
            bash("echo B; exit 1", "B"),
        ]
        .into(),
        _ => [Block::text("All three finished.")].into(),
    }),
    ("unknowntool", |turn| match turn.step {
        0 => [Block::tool("NoSuchTool", json!({"x": 1}))].into(),
        _ => [Block::text("That tool does not exist.")].into(),
    }),
    ("badinput", |turn| match turn.step {
        0 => [Block::tool("Bash", json!({"cmd": "echo hi"}))].into(),
        _ => [Block::text("Invalid input.")].into(),
    }),
    ("badjson", |turn| match turn.step {
        0 => Message {
            broken_input: Some(r#"{"command": "echo hi"#),
            ..Message::new([bash("echo hi", "Say hi")])
        }
        .into(),
        _ => [Block::text("Broken JSON input.")].into(),
    }),
    ("loop", |turn| {
        [
            Block::text(format!("Step {}.", turn.step)),
            bash(format!("echo loop {}", turn.step), "Loop"),
        ]
        .into()
    }),
    ("costly", |turn| {
        let blocks = [
            Block::text(format!("Costly step {}.", turn.step)),
            bash(format!("echo cost {}", turn.step), "Loop"),
        ];
        let usage = Usage {
            input: 100_000,
            output: 20_000,
            cache_creation: 0,
            cache_read: 0,
        };
        Message {
            usage: Some(usage),
            ..Message::new(blocks)
        }
        .into()
    }),
];

fn background(command: &str, description: &str) -> Block {
    Block::tool(
        "Bash",
        json!({"command": command, "description": description, "run_in_background": true}),
    )
}

/// Starts a background command and stops it by the id that the CLI told.
fn kill_shell(turn: &Turn<'_>) -> Answer {
    match turn.step {
        0 => [background("sleep 300", "Background sleep")].into(),
        1 => {
            let id = request::background_id(turn.request).unwrap_or_default();
            if turn.offers("TaskStop") {
                return [Block::tool("TaskStop", json!({"task_id": id}))].into();
            }
            [Block::tool("KillShell", json!({"shell_id": id}))].into()
        }
        _ => [Block::text("Killed.")].into(),
    }
}
