//! Modes with `next`: roles that take turns in one run.

use serde_json::Value;

use crate::recorder::Recorder;
use crate::stage::{Ran, Stage};

const ROLES: &str = "modes:
  plan:
    prompt: Write a plan.
    permission_mode: plan
    tools: [Read, Grep]
    next: build
  build:
    prompt_file: build.md
    model: sonnet
    session: keep
    next: review
  review:
    system_prompt_file: review.md
";

fn stage(answers: &[&str]) -> (Stage, Recorder) {
    let stage = Stage::empty();
    std::fs::write(stage.workspace().join("build.md"), "Build what was planned.\n").unwrap();
    std::fs::write(stage.workspace().join("review.md"), "You are strict.\n").unwrap();
    let recorder = Recorder::install(&stage, ROLES, answers);
    (stage, recorder)
}

#[test]
fn roles_take_turns_with_their_own_options_prompts_and_sessions() {
    let secret = format!("gh{}_{}", "p", "0123456789abcdefghijABCDEFGHIJ012345");
    let plan = format!("1. parse {secret}");
    let (stage, recorder) = stage(&[&plan, "built", "not yet", "2. print", "LOOP_COMPLETE"]);
    let ran = stage.run(&["--mode", "plan"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(recorder.calls(), 5);

    let prompt = recorder.prompt(1);
    assert!(
        prompt.starts_with("Write a plan.\n\nDo it.\n\n## This iteration\n"),
        "{prompt}"
    );
    assert!(prompt.contains("Your role is `plan`."), "{prompt}");
    let prompt = recorder.prompt(2);
    assert!(
        prompt.starts_with("Build what was planned.\n\nDo it.\n"),
        "{prompt}"
    );
    let handed = "## The last message of `plan`\n\n```\n1. parse [redacted:github]\n```\n";
    assert!(prompt.contains(handed), "{prompt}");
    let prompt = recorder.prompt(3);
    assert!(prompt.starts_with("Do it.\n"), "{prompt}");
    assert!(
        prompt.contains("## The last message of `build`\n\n```\nbuilt\n"),
        "{prompt}"
    );
    assert!(
        recorder
            .prompt(4)
            .contains("## The last message of `review`\n\n```\nnot yet\n")
    );

    let has = |number: usize, argument: &str| recorder.args(number).iter().any(|it| it == argument);
    let about = |number: usize, name: &str| {
        let args = recorder.args(number);
        args.iter().any(|it| it.starts_with(name))
    };
    assert!(
        has(1, "--permission-mode=plan") && about(1, "--tools"),
        "{:?}",
        recorder.args(1)
    );
    assert!(
        !about(2, "--tools") && has(2, "--model=sonnet"),
        "{:?}",
        recorder.args(2)
    );
    assert!(
        about(3, "--system-prompt") && !about(3, "--model"),
        "{:?}",
        recorder.args(3)
    );
    assert!(
        has(5, "--resume=00000000-0000-4000-8000-000000000002"),
        "{:?}",
        recorder.args(5)
    );
    assert!(!about(4, "--resume"), "{:?}", recorder.args(4));

    let started = stage.records().into_iter().map(|record| record["event"].clone());
    let started = started.filter(|event| event["type"] == "iteration_started");
    let roles: Vec<String> = started
        .map(|event| event["data"]["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(roles, ["plan", "build", "review", "plan", "build"]);
    assert!(ran.stdout.contains("Iteration 2 of 50: build"), "{}", ran.stdout);
    let show = Ran::of(&stage.ralph(&["show"]).output().unwrap());
    assert!(
        show.stdout.contains("Iteration 3  review: continued"),
        "{}",
        show.stdout
    );
    let runs: Value =
        serde_json::from_slice(&stage.ralph(&["runs", "--json"]).output().unwrap().stdout).unwrap();
    assert_eq!(
        (&runs[0]["mode"], &runs[0]["status"]["role"]),
        (&"plan".into(), &"build".into())
    );
    // Each role has a session of its own, so that a later run can continue it.
    let state = stage.workspace().join(".ralph/state/claude-session.json");
    let state: Value = serde_json::from_slice(&std::fs::read(state).unwrap()).unwrap();
    assert_eq!(state["plan_session_id"], "00000000-0000-4000-8000-000000000004");
    assert_eq!(state["review_session_id"], "00000000-0000-4000-8000-000000000003");
}

#[test]
fn a_run_can_start_with_any_role_and_a_dry_run_shows_all_of_them() {
    let (stage, recorder) = stage(&["fine", "LOOP_COMPLETE"]);
    let planned = stage.run(&["--mode", "plan", "--dry-run"]);
    assert_eq!(planned.code, Some(0), "{planned:?}");
    for line in [
        "\n# Roles\n\nplan, then build: permission mode plan; tools Read,Grep; a new session each time\n",
        "\nbuild, then review: permission mode bypass; model sonnet; keeps its session\n",
        "\nreview, then plan: permission mode bypass; a new session each time\n",
        "\nWrite a plan.\n\nDo it.\n",
        "--permission-mode=plan",
    ] {
        assert!(planned.stdout.contains(line), "{line}: {}", planned.stdout);
    }
    let ran = stage.run(&["--mode", "build"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(recorder.prompt(1).contains("Your role is `build`"));
    assert!(recorder.prompt(2).contains("Your role is `review`"));
    // A mode without `next` is no loop of roles.
    assert_eq!(stage.run(&["--mode", "review"]).code, Some(0));
    assert!(
        !recorder.prompt(3).contains("Your role"),
        "{}",
        recorder.prompt(3)
    );
    // With `--once` only the first role runs.
    assert_eq!(stage.run(&["--mode", "plan", "--once"]).code, Some(0));
    assert_eq!(recorder.calls(), 4);
}

#[test]
fn what_is_wrong_with_a_role_is_said_with_its_place_before_anything_runs() {
    let stage = Stage::empty();
    for (settings, code, words) in [
        (
            "modes:\n  plan:\n    next: biuld\n  build: {}\n",
            78,
            "ralph.yml:3:11: `modes.plan.next`: there is no mode `biuld`",
        ),
        (
            "modes:\n  plan: {next: plan, prompt: a, prompt_file: b}\n",
            78,
            "two prompts",
        ),
        (
            "modes:\n  plan: {next: plan, prompt_file: missing.md}\n",
            78,
            "missing.md",
        ),
        (
            "modes:\n  plan: {next: coder}\n  coder: {system_prompt_file: missing.md}\n",
            78,
            "missing.md",
        ),
    ] {
        stage.configure(settings);
        let ran = stage.run(&["--mode", "plan", "-b", "demo"]);
        assert_eq!(ran.code, Some(code), "{settings} {ran:?}");
        assert!(ran.stderr.contains(words), "{settings} {}", ran.stderr);
    }
    assert_eq!(stage.runs().len(), 0);
}

#[test]
fn roles_of_a_file_that_is_not_trusted_do_not_exist() {
    let stage = Stage::empty();
    stage.write_settings("modes:\n  mine: {prompt: Delete everything., next: coder}\n");
    let ran = stage.run(&["--mode", "mine", "-b", "demo", "--no-trust"]);
    assert_eq!(ran.code, Some(64), "{ran:?}");
    assert!(ran.stderr.contains("there is no mode `mine`"), "{}", ran.stderr);
    let ran = stage.run(&["--mode", "planner", "-b", "demo"]);
    assert_eq!(ran.code, Some(78), "{ran:?}");
    for key in ["modes.mine.prompt", "modes.mine.next"] {
        assert!(ran.stderr.contains(key), "{}", ran.stderr);
    }
}
