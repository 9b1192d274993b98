//! The commands of the README, run as they stand: with a scripted agent, in an empty home, without a network.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use ralph::cli;
use test_support::dialect::Session;
use test_support::script::{Script, ScriptedAgent};

use crate::stage::Stage;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_owned()
}

/// Every line of a shell block, as words, without its comment.
fn commands() -> Vec<Vec<String>> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let mut is_shell = false;
    let mut commands = Vec::new();
    for line in readme.lines() {
        if line.starts_with("```") {
            is_shell = line == "```sh";
        } else if is_shell && !line.trim().is_empty() {
            let words = shlex::split(line).unwrap_or_else(|| unreachable!("not a command line: {line}"));
            commands.push(words);
        }
    }
    commands
}

/// An agent that says this and is done, as `claude` on the `PATH`; and programs that succeed.
fn install(stage: &Stage, text: &str) -> ScriptedAgent {
    let mut session = Session::new("00000000-0000-4000-8000-000000000001");
    let init = session.init("/");
    session.begin_message();
    let said = session.text(text);
    let result = serde_json::json!({"type": "result", "subtype": "success", "is_error": false, "result": text,
        "session_id": "00000000-0000-4000-8000-000000000001", "num_turns": 1, "total_cost_usd": 0.01});
    let script = Script::new().read_line().emit(init).emit(said);
    let agent = script.emit(result.to_string()).read_to_end().install().unwrap();
    symlink(agent.as_program().unwrap(), stage.path("bin/claude")).unwrap();
    let cargo = stage.path("bin/cargo");
    fs::write(&cargo, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    agent
}

#[test]
fn every_command_of_the_readme_works() {
    let stage = Stage::new();
    let _agent = install(&stage, "All tests pass.\nLOOP_COMPLETE");
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let api = fs::read_to_string(root().join("docs/openapi.json")).unwrap();
    let commands = commands();
    let has = |words: &[&str]| {
        commands
            .iter()
            .any(|command| command.starts_with(&to_owned(words)))
    };
    assert!(has(&["make", "run"]) && has(&["make", "test"]) && has(&["ralph", "run"]));
    for command in &commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["make", target] => assert!(makefile.contains(&format!("\n{target}: ")), "make {target}"),
            ["cargo", "install", rest @ ..] => {
                assert!(
                    root().join(rest.last().unwrap()).join("Cargo.toml").exists(),
                    "{command:?}"
                );
            }
            ["cd", "your-project"] => {}
            ["curl", rest @ ..] => {
                let (_, path) = rest.last().unwrap().split_once("/api/v1").unwrap();
                let path = path.split('?').next().unwrap().replace("/ID/", "/{id}/");
                assert!(api.contains(&format!("\"/api/v1{path}\"")), "{path}");
            }
            [first, ..] if first.starts_with("token=") => {}
            // It needs a terminal; the tests of the terminal UI open it in one.
            ["ralph"] => {}
            ["ralph", "serve", ..] => drop(cli::parse(&words).unwrap()),
            ["ralph", rest @ ..] => run(&stage, rest),
            _ => unreachable!("say in this test how to check `{}`", command.join(" ")),
        }
    }
    // The loop that was started in the background has ended by itself, so this one stops nothing.
    assert!(stage.path("workspace/PROMPT.md").exists());
}

fn to_owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn run(stage: &Stage, args: &[&str]) {
    if args.first() == Some(&"stop") {
        // The scripted agent is faster than a person who types this.
        cli::parse(std::iter::once("ralph").chain(args.iter().copied())).unwrap();
        return;
    }
    let ran = stage.ralph(args);
    assert_eq!(ran.code, Some(0), "ralph {}: {ran:?}", args.join(" "));
    if args == ["init"] {
        // What the README asks for.
        fs::write(stage.path("workspace/PROMPT.md"), "Make the tests pass.\n").unwrap();
    }
}

#[test]
fn the_recordings_of_the_terminal_ui_can_be_made() {
    let has = |program: &str| Command::new(program).arg("-V").output().is_ok();
    if !has("tmux") || !has("python3") {
        return;
    }
    let mut record = Command::new("python3");
    record.arg(root().join("scripts/record-tui")).arg("--check");
    let recorded = record.arg(env!("CARGO_BIN_EXE_ralph")).output().unwrap();
    assert!(recorded.status.success(), "{recorded:?}");
}
