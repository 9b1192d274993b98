//! What does not fit together: the message and the exit code.

use crate::Said;

#[track_caller]
fn assert_mistake(said: &Said, code: u8, parts: &[&str]) {
    let (message, found) = said.error();
    assert_eq!(found, code, "{message}");
    for part in parts {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_wrong_variable_is_named_and_is_configuration() {
    for (name, value, part) in [
        ("RALPH_MAX_ITERATIONS", "many", "50"),
        ("RALPH_BACKEND", "clade", "did you mean `claude`?"),
        ("RALPH_MAX_COST", "-1", "$2.50"),
        ("RALPH_ASK_TIMEOUT", "soon", "15m"),
        ("RALPH_VERBOSE", "maybe", "true or false"),
        ("RALPH_TOOLS", "Bash(", "too many"),
    ] {
        assert_mistake(&Said::variable(name, value), 78, &[name, part]);
    }
}

#[test]
fn a_wrong_variable_does_not_matter_where_a_flag_decides() {
    let said = Said::flags("--max-iterations 3").and_variable("RALPH_MAX_ITERATIONS", "many");
    assert_eq!(said.settings().limits.iterations, Some(3));
}

#[test]
fn an_unknown_mode_lists_the_modes_and_its_place_decides_the_exit_code() {
    let parts = ["plannr", "coder, mine, planner", "did you mean `planner`"];
    let file = "modes: {mine: {once: true}}\n";
    assert_mistake(&Said::flags("--mode plannr").and_file(file), 64, &parts);
    assert_mistake(&Said::variable("RALPH_MODE", "plannr").and_file(file), 78, &parts);
    assert_mistake(
        &Said::file(file).and_file("mode: plannr\n"),
        78,
        &[parts[0], parts[1], "ralph.yml:2:7"],
    );
}

#[test]
fn two_prompts_in_one_place_are_a_mistake() {
    let said = Said::variable("RALPH_PROMPT", "a").and_variable("RALPH_PROMPT_FILE", "b");
    assert_mistake(&said, 78, &["RALPH_PROMPT and RALPH_PROMPT_FILE"]);
    assert_mistake(
        &Said::file("event_loop:\n  prompt: a\n  prompt_file: b\n"),
        78,
        &["ralph.yml:3:16", "two prompts"],
    );
}

#[test]
fn an_acp_backend_needs_a_command_and_takes_its_own_arguments() {
    assert_mistake(&Said::flags("-b acp"), 78, &["acp.command"]);
    let file = "acp: {command: bin/agent, args: [serve, --acp], env: {LEVEL: high, TOKEN: }}\n";
    let acp = Said::flags("-b acp").and_file(file).settings().agent.acp.unwrap();
    assert_eq!(acp.program, std::path::Path::new("/repo/bin/agent"));
    assert_eq!(acp.args, ["serve", "--acp"]);
    assert_eq!(acp.env["LEVEL"].as_deref(), Some("high"));
    assert_eq!(acp.env["TOKEN"], None);
    let (_, warnings) = Said::flags("-b acp").and_file(file).resolve().unwrap();
    assert_eq!(warnings, []);
    let wrong = |file: &str, parts: &[&str]| assert_mistake(&Said::flags("-b acp").and_file(file), 78, parts);
    wrong(
        "acp: {command: [a, b]}\n",
        &["ralph.yml:1:16", "`acp.command` must be text"],
    );
    wrong(
        "acp: /path/agent\n",
        &["ralph.yml:1:6", "`acp` must be a mapping"],
    );
    let misspelt = "acp: {comand: x}\n";
    let (_, warnings) = Said::file(misspelt).resolve().unwrap();
    assert!(
        warnings[0].to_string().ends_with("did you mean `acp.command`?"),
        "{warnings:?}"
    );
}

#[test]
fn a_custom_backend_needs_a_command() {
    assert_mistake(&Said::flags("-b custom"), 78, &["cli.command", "RALPH_COMMAND"]);
    Said::flags("-b custom")
        .and_variable("RALPH_COMMAND", "x")
        .settings();
}

#[test]
fn texts_that_say_nothing_are_refused() {
    let flags = |words: [&str; 2]| Said {
        flags: words.map(str::to_owned).to_vec(),
        ..Said::default()
    };
    for words in [
        ["--prompt", " "],
        ["--model", ""],
        ["--task", ""],
        ["--verify", " "],
        ["--resume", ""],
        ["--mode", ""],
    ] {
        assert_mistake(&flags(words), 64, &[words[0], "must not be empty"]);
    }
    assert_mistake(
        &Said::file("event_loop: {completion_promise: ' '}"),
        78,
        &["must not be empty"],
    );
    assert_mistake(
        &Said::file("event_loop: {completion_promise: \"a\\nb\"}"),
        78,
        &["a single line"],
    );
}

#[test]
fn a_session_or_task_cannot_look_like_an_option_or_hide_something() {
    assert_mistake(&Said::flags("--resume=--dangerous"), 64, &["--resume"]);
    assert_mistake(&Said::flags("--task=-x"), 64, &["--task"]);
    assert_mistake(&Said::flags("--resume=a\u{1b}[0m"), 64, &["\\u{1b}"]);
}
