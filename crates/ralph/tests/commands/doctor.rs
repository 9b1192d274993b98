//! `doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::stage::{Ran, Stage};

/// Something that answers like Claude Code.
fn install_claude(stage: &Stage, version: &str) {
    let program = stage.path("bin/claude");
    fs::write(&program, format!("#!/bin/sh\necho '{version} (Claude Code)'\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Without what depends on the machine.
fn masked(stage: &Stage, ran: &Ran) -> String {
    let lines = ran.stdout.lines().filter(|line| {
        !["disk", "namespaces", "watching"]
            .iter()
            .any(|subject| line.get(10..).is_some_and(|rest| rest.starts_with(subject)))
    });
    let text: Vec<&str> = lines.collect();
    text.join("\n")
        .replace(&stage.path("").display().to_string(), "[ROOT]/")
}

#[test]
fn without_an_agent_it_says_how_to_get_one() {
    let stage = Stage::new();
    let ran = stage.ralph(&["doctor"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""));
    insta::assert_snapshot!("doctor_without_an_agent", masked(&stage, &ran));
}

#[test]
fn with_an_agent_it_says_what_holds() {
    let stage = Stage::new();
    install_claude(&stage, "2.1.325");
    let ran = stage.ralph(&["doctor"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    insta::assert_snapshot!("doctor_with_an_agent", masked(&stage, &ran));
}

#[test]
fn an_old_agent_a_key_and_a_wrong_file_are_noticed() {
    let stage = Stage::new();
    install_claude(&stage, "0.9.1");
    fs::write(
        stage.path("workspace/ralph.yml"),
        "event_loop:\n  max_iterations: many\n",
    )
    .unwrap();
    let output = stage
        .command(&["doctor", "--json"])
        .env("ANTHROPIC_API_KEY", "made-up-and-secret")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains("made-up-and-secret"), "{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["is_ready"], false);
    let claude = &report["agents"][0];
    assert_eq!(
        (claude["kind"].as_str(), claude["version"].as_str()),
        (Some("claude_code"), Some("0.9.1"))
    );
    let level = |subject: &str| {
        let checks = claude["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["subject"] == subject);
        check.map(|check| check["level"].clone())
    };
    assert_eq!(level("version"), Some("warning".into()));
    assert_eq!(level("login"), Some("ok".into()));
    assert_eq!(report["settings"][0]["level"], "failed");
}

#[test]
fn as_root_it_says_what_bypassing_permissions_needs() {
    let stage = Stage::new();
    install_claude(&stage, "2.1.325");
    let output = stage
        .command(&["doctor"])
        .env_remove("IS_SANDBOX")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    assert_eq!(text.contains("warning permissions"), is_root, "{text}");
    assert_eq!(output.status.code(), Some(i32::from(is_root)));
    assert_eq!(text.contains("A run cannot start: "), is_root, "{text}");
}

#[test]
fn its_verdict_is_what_a_run_would_say() {
    for (file, code, reason) in [
        ("redact: ['([']\n", 78, "regular expression"),
        (
            "cli: {backend: custom, command: /no/such/agent}\n",
            69,
            "/no/such/agent",
        ),
        ("auth: api_key\n", 78, "ANTHROPIC_API_KEY"),
    ] {
        let stage = Stage::new();
        install_claude(&stage, "2.1.325");
        fs::write(stage.path("workspace/ralph.yml"), file).unwrap();
        stage.ralph(&["trust", "--yes"]);
        let run = stage.ralph(&["run", "-p", "x", "--once"]);
        assert_eq!(run.code, Some(code), "{run:?}");
        let planned = stage.ralph(&["run", "-p", "x", "--dry-run"]);
        assert_eq!(planned.code, Some(code), "{planned:?}");
        let doctor = stage.ralph(&["doctor"]);
        assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
        let verdict = doctor.stdout.lines().last().unwrap();
        assert!(verdict.starts_with("A run cannot start: "), "{verdict}");
        assert!(run.stderr.contains(reason), "{}", run.stderr);
        assert!(doctor.stdout.contains(reason), "{}", doctor.stdout);
    }
}

#[test]
fn a_broken_file_is_not_reported_as_a_missing_agent() {
    let stage = Stage::new();
    fs::write(
        stage.path("workspace/ralph.yml"),
        "event_loop: {max_iterations: many}\n",
    )
    .unwrap();
    let doctor = stage.ralph(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
    let verdict = doctor.stdout.split("\n\n").last().unwrap();
    assert_eq!(verdict.trim_end(), "A run cannot start: fix the settings first");
}

#[test]
fn a_file_that_is_not_trusted_and_a_state_directory_that_is_none_keep_a_run_from_starting() {
    let stage = Stage::new();
    install_claude(&stage, "2.1.325");
    fs::write(stage.path("workspace/ralph.yml"), "verify: [make test]\n").unwrap();
    let run = stage.ralph(&["run", "-p", "x", "--once"]);
    assert_eq!(run.code, Some(78), "{run:?}");
    let doctor = stage.ralph(&["doctor"]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
    assert!(doctor.stdout.contains("failed  trust"), "{}", doctor.stdout);
    let verdict = doctor.stdout.split("\n\n").last().unwrap();
    assert!(
        verdict.starts_with("A run cannot start: ") && verdict.contains("ralph trust"),
        "{verdict}"
    );
    assert_eq!(stage.ralph(&["trust", "--yes"]).code, Some(0));
    assert_eq!(stage.ralph(&["doctor"]).code, Some(0));

    fs::write(stage.path("file"), "").unwrap();
    let elsewhere = |args: &[&str]| {
        let mut command = stage.command(args);
        command.env("XDG_STATE_HOME", stage.path("file"));
        command.output().unwrap().status.code()
    };
    assert_eq!(elsewhere(&["doctor"]), Some(1));
    assert_ne!(elsewhere(&["run", "-p", "x", "--once"]), Some(0));
}

#[test]
fn a_run_cannot_start_without_the_agent_of_the_settings() {
    let stage = Stage::new();
    install_claude(&stage, "2.1.325");
    fs::write(stage.path("workspace/ralph.yml"), "backend: goose\n").unwrap();
    assert_eq!(stage.ralph(&["trust", "--yes"]).code, Some(0));
    let ran = stage.ralph(&["doctor"]);
    assert_eq!(ran.code, Some(1));
    let verdict = "A run cannot start: the settings choose the backend `goose`, which is missing.\n";
    assert!(ran.stdout.ends_with(verdict), "{}", ran.stdout);
}
