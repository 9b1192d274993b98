//! Clear messages, right codes, nothing started.

use std::fs;

use crate::stage::{Ran, Stage, says};

/// Runs it with these arguments alone: code, and what stderr says.
fn refuse(stage: &Stage, args: &[&str]) -> (i32, String) {
    let ran = Ran::of(&stage.ralph(args).output().unwrap());
    assert_eq!(ran.stdout, "", "nothing belongs on stdout");
    (ran.code.unwrap(), ran.stderr)
}

#[test]
fn usage_errors_are_64() {
    let stage = Stage::new(&says("x"));
    for (args, words) in [
        (&["run", "-p", "x", "-P", "y"][..], "cannot be used with"),
        (&["run", "-p", "x", "-v", "-q"], "cannot be used with"),
        (&["run", "-p", ""], "empty"),
        (&["run", "-P", "missing.md"], "missing.md"),
        (&["run", "-p", "x", "--output", "json", "-q"], "JSON"),
        (&["fly"], "unrecognized"),
    ] {
        let (code, stderr) = refuse(&stage, args);
        assert_eq!(code, 64, "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
    assert!(stage.runs().is_empty());
}

#[test]
fn an_unknown_backend_lists_those_there_are() {
    let (code, stderr) = refuse(&Stage::empty(), &["run", "-p", "x", "-b", "nonesuch"]);
    assert_eq!(code, 64);
    assert!(stderr.contains("claude") && stderr.contains("demo"), "{stderr}");
}

#[test]
fn an_unknown_backend_suggests_the_nearest_one_wherever_it_is_named() {
    let stage = Stage::empty();
    let (code, stderr) = refuse(&stage, &["run", "-p", "x", "-b", "cluade"]);
    assert_eq!(code, 64);
    assert!(stderr.contains("'claude'"), "{stderr}");
    stage.configure("backend: cluade\n");
    let (code, stderr) = refuse(&stage, &["run", "-p", "x"]);
    assert_eq!(code, 78);
    assert!(stderr.contains("did you mean `claude`?"), "{stderr}");
}

#[test]
fn an_option_that_the_agent_lacks_is_refused_before_it_starts_and_names_the_agent() {
    let stage = Stage::empty();
    stage.configure("cli: {backend: custom, command: cat}\n");
    for (flags, words) in [
        (&["--ask"][..], "permission requests"),
        (&["--model", "m"], "choosing a model"),
        (&["--tools", "Read"], "tool lists"),
        (&["--resume", "s"], "resuming sessions"),
        (&["--ephemeral"], "conversations that are not kept"),
        (&["--max-turns", "3"], "a turn limit"),
        (&["--max-cost", "1"], "neither costs nor tokens"),
        (&["--max-tokens", "1"], "no tokens"),
        (&["--interactive"], "takes no messages"),
    ] {
        let args = [&["run", "-p", "x"][..], flags].concat();
        let (code, stderr) = refuse(&stage, &args);
        assert!(code == 78 || code == 64, "{flags:?}: {code} {stderr}");
        assert!(
            stderr.contains("`custom`") && stderr.contains(words),
            "{flags:?}: {stderr}"
        );
    }
    assert!(stage.runs().is_empty());
}

#[test]
fn a_key_that_must_be_there_and_is_not_is_refused_before_the_agent_starts() {
    let stage = Stage::new(&says("x"));
    let ran = Ran::of(
        &stage
            .ralph(&["run", "-p", "x", "-b", "claude"])
            .env("RALPH_AUTH", "api_key")
            .env_remove("ANTHROPIC_API_KEY")
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, Some(78), "{ran:?}");
    assert!(ran.stderr.contains("needs ANTHROPIC_API_KEY"), "{}", ran.stderr);
}

#[test]
fn a_missing_agent_is_69_and_says_how_to_install_it() {
    for args in [&["run", "-p", "x", "-b", "claude"][..], &["run", "-p", "x"]] {
        let stage = Stage::empty();
        let ran = Ran::of(&stage.ralph(args).env("PATH", "/nowhere").output().unwrap());
        assert_eq!(ran.code, Some(69), "{ran:?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("npm install"), "{said}");
    }
}

#[test]
fn wrong_settings_are_78_with_line_and_column() {
    let stage = Stage::empty();
    stage.configure("event_loop:\n  max_iterations: many\n");
    let (code, stderr) = refuse(&stage, &["run", "-p", "x", "-b", "demo"]);
    assert_eq!(code, 78);
    assert!(stderr.contains("ralph.yml:2:"), "{stderr}");
}

#[test]
fn an_unknown_setting_warns_with_the_nearest_and_does_not_stop_anything() {
    let stage = Stage::empty();
    stage.configure("event_loop:\n  max_iteration: 3\n");
    let ran = Ran::of(
        &stage
            .ralph(&["run", "-p", "x", "-b", "demo", "--once", "--", "--demo-speed=max"])
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("max_iterations"), "{}", ran.stderr);
}

#[test]
fn two_runs_in_one_workspace_are_refused_and_the_holder_is_named() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    let verify = format!("{} run -p second", env!("CARGO_BIN_EXE_ralph"));
    let ran = stage.run(&["--once", "--verify", &verify]);
    assert_eq!(ran.code, Some(1));
    let runs = stage.runs();
    let id = runs[0].file_name().unwrap().to_str().unwrap().to_owned();
    assert!(
        ran.stdout.contains("is in use by run") && ran.stdout.contains(ralph_run::short_run_id(&id)),
        "{}",
        ran.stdout
    );
    assert_eq!(runs.len(), 1, "the second one left nothing behind");
}

#[test]
fn a_session_that_is_no_session_is_refused_before_anything_starts() {
    let stage = Stage::new(&says("x"));
    let ran = stage.run(&["--resume", "--dangerous"]);
    assert_ne!(ran.code, Some(0));
    assert!(stage.runs().is_empty());
}

#[test]
fn what_a_backend_cannot_do_is_refused_before_anything_is_kept() {
    for (args, flag) in [
        (&["--resume", "abc"][..], "--resume"),
        (&["--continue"], "--continue"),
        (&["--max-turns", "3"], "--max-turns"),
        (&["--tools", "Read"], "--tools"),
        (&["--detach", "--max-turns", "3"], "--max-turns"),
    ] {
        let stage = Stage::empty();
        let mut all = vec!["run", "-p", "x", "-b", "demo"];
        all.extend(args);
        let (code, stderr) = refuse(&stage, &all);
        assert_eq!(code, 78, "{args:?}: {stderr}");
        assert!(stderr.contains("demo") && stderr.contains(flag), "{stderr}");
        assert!(stage.runs().is_empty(), "{args:?}");
    }
}

#[test]
fn what_the_file_says_for_another_backend_is_left_out_with_a_warning() {
    let stage = Stage::empty();
    stage.configure("cli: {backend: claude, args: [--betas, x]}\ntools: Read\nevent_loop: {max_turns: 3}\n");
    let args = ["run", "-p", "x", "-b", "demo", "--once", "--", "--demo-speed=max"];
    let ran = Ran::of(&stage.ralph(&args).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for what in ["tool lists", "a turn limit"] {
        assert_eq!(ran.stderr.matches(what).count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn a_read_only_state_directory_is_reported() {
    let stage = Stage::new(&says("x"));
    fs::remove_dir_all(stage.path("state")).unwrap();
    fs::write(stage.path("state"), "a file in the way").unwrap();
    let ran = stage.run(&["--trust"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("state"), "{}", ran.stderr);
}

#[test]
fn notes_that_are_no_file_do_not_hang_the_run() {
    let stage = Stage::new(&says("LOOP_COMPLETE"));
    fs::create_dir_all(stage.workspace().join(".ralph")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(stage.workspace().join(".ralph/scratchpad.md"))
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(stage.run(&[]).code, Some(0));
}
