//! Every command that prints JSON prints valid JSON that a terminal cannot be tricked with.

use std::collections::BTreeSet;

use run_view::is_forbidden;
use serde_json::Value;

use crate::stage::{Stage, VERIFY};

/// An escape sequence, a C1 control character, bidirectional overrides, an invisible character.
const HOSTILE: &str = "x\u{1b}[2J\u{9b}31m\u{7}\u{202e}\u{2066}\u{200b}y";

/// A run with hostile text wherever a user or an agent can put some.
fn stage() -> Stage {
    let stage = Stage::new();
    let settings = format!("verify: [\"echo {}\"]\nmodel: \"{}\"\n", "\\u202e", "\\u009b");
    std::fs::write(stage.path("workspace/ralph.yml"), settings).unwrap();
    let ran = stage.ralph(&[
        "run",
        "-b",
        "demo",
        "-p",
        HOSTILE,
        "--verify",
        VERIFY,
        "--no-trust",
        "--",
        "--demo-speed=max",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let journal = stage.directory(&stage.ids()[0]).join("journal.ndjson");
    let text = std::fs::read_to_string(&journal).unwrap();
    let hostile = Value::from(HOSTILE).to_string();
    let hostile = hostile.trim_matches('"');
    assert!(text.contains("LOOP_COMPLETE"));
    // Escapes of YAML become the characters themselves.
    let hostile_title = r#""x\e[2J\u202e\u009b""#;
    let task = format!("---\nid: k3f9a\ntitle: {hostile_title}\n---\n{HOSTILE}\n");
    std::fs::create_dir_all(stage.path("workspace/ralph/tasks")).unwrap();
    std::fs::write(stage.path("workspace/ralph/tasks/k3f9a.md"), task).unwrap();
    std::fs::write(&journal, text.replace("LOOP_COMPLETE", hostile)).unwrap();
    let created = stage.ralph(&["agents", "create", "docs", "-b", "demo", "-p", HOSTILE]);
    assert_eq!(created.code, Some(0), "{created:?}");
    stage
}

/// The command lines to try. A command that is missing here fails the test below.
fn command_lines() -> Vec<Vec<&'static str>> {
    [
        "run -b demo -p x --dry-run --output json --no-trust",
        "run -b demo -p x --once --output json --no-trust -- --demo-speed=max",
        "run -b demo -p x --once --output json --no-trust --detach -- --demo-speed=max",
        "attach --output json",
        "queue latest --json",
        "answer latest --json",
        "tasks --json",
        "tasks show k3f9a --json",
        "plan -b demo -p x --yes --output json --no-trust -- --demo-speed=max",
        "agents --json",
        "agents list --json",
        "agents show docs --json",
        "service status --json",
        "runs --json",
        "show --json",
        "logs --output json",
        "replay latest --output json",
        "doctor --json",
        "trust --json",
        "trust --list --json",
        "trust --yes --json",
        "trust --revoke --json",
        "clean --dry-run --all --json",
        "search x --json",
        "reindex --json",
        "demo --speed max --output json",
    ]
    .map(|line| line.split(' ').collect())
    .to_vec()
}

#[test]
fn every_command_that_prints_json_prints_json_that_is_safe_in_a_terminal() {
    let stage = stage();
    let mut tried = BTreeSet::new();
    for words in command_lines() {
        let ran = stage.ralph(&words);
        assert!(!ran.stdout.is_empty(), "{words:?}: {ran:?}");
        let unsafe_character = ran.stdout.chars().find(|it| *it != '\n' && is_forbidden(*it));
        assert_eq!(unsafe_character, None, "{words:?}: {}", ran.stdout);
        let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(&ran.stdout)
            .into_iter()
            .collect();
        assert!(
            values.is_ok_and(|values| !values.is_empty()),
            "{words:?}: {}",
            ran.stdout
        );
        tried.insert(words[0]);
    }
    let command = ralph::cli::command();
    let prints_json = |command: &&clap::Command| {
        let mut names = command.get_arguments().filter_map(|it| it.get_long());
        names.any(|name| name == "json" || name == "output")
    };
    // They need a repository, so they are tried with the other tests of worktrees.
    tried.extend(["worktrees", "merge"]);
    for command in command.get_subcommands().filter(prints_json) {
        assert!(
            tried.contains(command.get_name()),
            "{} is not tried",
            command.get_name()
        );
    }
}
