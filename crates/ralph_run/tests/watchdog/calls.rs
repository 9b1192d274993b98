//! Repeated calls and failing commands.

use agent_api::{Body, Task, TaskState, ToolKind, ToolStatus, TurnStarted};
use ralph_run::WarningKind;
use ralph_run::watchdog::{WatchAction, WatchRules};
use serde_json::json;

use crate::stage::Stage;

use ToolStatus::{Completed, Failed};

fn stage() -> Stage {
    Stage::new(WatchRules::default())
}

#[test]
fn the_same_call_three_times_in_a_row_is_found_once_with_its_records() {
    let mut stage = stage();
    let mut ended = Vec::new();
    for _ in 0..3 {
        assert_eq!(stage.take(), []);
        stage.read("src/lib.rs", "fn main() {}");
        ended.push(stage.seq());
    }
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(finding.kind, WarningKind::RepeatedCall);
    assert_eq!(finding.action, WatchAction::Notify);
    assert_eq!(
        finding.evidence.iter().map(|it| it.seq).collect::<Vec<_>>(),
        ended
    );
    assert_eq!(
        finding.message,
        "the agent made the same call 3 times in a row, with the same result: Read `src/lib.rs`"
    );
    for _ in 0..10 {
        stage.read("src/lib.rs", "fn main() {}");
    }
    assert_eq!(stage.kinds(), []);
    // Something else in between: it may happen again.
    stage.read("src/main.rs", "");
    for _ in 0..3 {
        stage.read("src/lib.rs", "fn main() {}");
    }
    assert_eq!(stage.kinds(), [WarningKind::RepeatedCall]);
}

#[test]
fn repeating_a_call_is_normal_if_its_result_or_something_else_has_changed() {
    let mut stage = stage();
    for number in 0..5 {
        stage.read("log.txt", &format!("line {number}"));
    }
    for number in 0..5 {
        stage.edit("src/lib.rs", &format!("{number}"), &format!("{}", number + 1));
        stage.read("src/lib.rs", "same");
    }
    for _ in 0..5 {
        stage.command("cargo fmt", Completed, "");
        stage.command("cargo test", Completed, "ok");
    }
    assert_eq!(stage.kinds(), []);
}

#[test]
fn waiting_for_something_is_normal() {
    let mut stage = stage();
    for _ in 0..5 {
        stage.command("sleep 5 && cat out.log", Completed, "");
    }
    for _ in 0..5 {
        stage.command("kubectl rollout status web", Failed, "not yet");
    }
    for _ in 0..5 {
        stage.call(
            "BashOutput",
            ToolKind::Other,
            &json!({"bash_id": "1"}),
            Completed,
            "running",
        );
    }
    for _ in 0..5 {
        stage.call(
            "mcp__ci__get_status",
            ToolKind::Mcp,
            &json!({"id": 1}),
            Completed,
            "running",
        );
    }
    stage.event(Body::TaskUpdated(Box::new(Task::new(
        "build",
        TaskState::Running,
    ))));
    for _ in 0..5 {
        stage.read("out.log", "");
    }
    assert_eq!(stage.kinds(), []);
    stage.event(Body::TaskUpdated(Box::new(Task::new(
        "build",
        TaskState::Completed,
    ))));
    for _ in 0..3 {
        stage.read("out.log", "");
    }
    assert_eq!(stage.kinds(), [WarningKind::RepeatedCall]);
}

#[test]
fn an_option_that_sounds_like_waiting_does_not_excuse_a_loop() {
    let mut stage = stage();
    for _ in 0..3 {
        stage.command("npm test -- --watch=false", Failed, "1 failed");
    }
    assert_eq!(stage.kinds(), [WarningKind::RepeatedFailure]);
}

#[test]
fn a_word_that_sounds_like_waiting_does_not_excuse_a_command_that_does_not_wait() {
    for command in [
        "cargo test 2>&1 | tail -20",
        "npm test 2>&1 | tail -n 5",
        "cat logs/status",
        "grep -rn sleep src; make",
        "python -m pytest tests/health --ps",
        "RUST_LOG=watch ./test.sh curl",
    ] {
        let mut stage = stage();
        for _ in 0..3 {
            stage.command(command, Failed, "1 failed");
        }
        assert_eq!(stage.kinds(), [WarningKind::RepeatedFailure], "{command}");
    }
    for command in [
        "tail -f build.log",
        "timeout 20 tail -n 3 --follow build.log | grep done",
        "until test -f done; do sleep 1; done",
        "docker compose logs web",
        "gh run watch 7",
        "sudo /bin/systemctl status nginx",
        "if curl -fs localhost:8080; then echo up; fi",
        "LANG=C ps aux | grep make",
        "echo \"$(pgrep make)\"",
    ] {
        let mut stage = stage();
        for _ in 0..5 {
            stage.command(command, Failed, "not yet");
        }
        assert_eq!(stage.kinds(), [], "{command}");
    }
}

#[test]
fn a_background_task_that_never_ends_only_raises_the_threshold() {
    let mut stage = stage();
    let server = Task::new("dev server", TaskState::Running);
    stage.event(Body::TaskUpdated(Box::new(server)));
    for _ in 0..8 {
        stage.command("cargo test", Failed, "1 failed");
    }
    for _ in 0..8 {
        stage.read("src/lib.rs", "");
    }
    assert_eq!(stage.kinds(), []);
    stage.command("cargo test", Failed, "1 failed");
    for _ in 0..9 {
        stage.read("src/lib.rs", "");
    }
    assert_eq!(
        stage.kinds(),
        [WarningKind::RepeatedFailure, WarningKind::RepeatedCall]
    );
}

#[test]
fn a_command_that_fails_three_times_is_found_although_files_were_read_in_between() {
    let mut stage = stage();
    for number in 0..3 {
        assert_eq!(stage.take(), []);
        stage.command("cargo test", Failed, &format!("1 failed in 0.{number} s"));
        if number < 2 {
            stage.read(&format!("src/{number}.rs"), "");
        }
    }
    let [finding] = stage.take().try_into().unwrap();
    assert_eq!(finding.kind, WarningKind::RepeatedFailure);
    assert_eq!(finding.evidence.len(), 3);
    assert_eq!(finding.evidence[0].text, "Bash failed: 1 failed in 0.0 s");
    assert!(
        finding.message.starts_with("`cargo test` failed 3 times"),
        "{}",
        finding.message
    );
    for _ in 0..10 {
        stage.command("cargo test", Failed, "1 failed");
    }
    assert_eq!(stage.kinds(), []);
}

#[test]
fn tests_that_fail_between_edits_are_normal() {
    let mut stage = stage();
    for number in 0..6 {
        stage.command("cargo test", Failed, &format!("{number} failed"));
        stage.edit("src/lib.rs", &format!("{number}"), &format!("{}", number + 1));
    }
    for number in 0..6 {
        stage.command("make", Failed, &format!("error {number}"));
        stage.command(&format!("sed -i s/{number}/x/ a.c"), Completed, "");
    }
    assert_eq!(stage.kinds(), []);
}

#[test]
fn edits_that_do_not_change_a_failure_are_found() {
    let mut stage = stage();
    for number in 0..3 {
        stage.edit("src/lib.rs", &format!("{number}"), &format!("{}", number + 1));
        stage.command("make", Failed, "error: connection refused");
    }
    assert_eq!(stage.kinds(), [WarningKind::RepeatedFailure]);
}

#[test]
fn a_success_or_a_new_turn_starts_again() {
    let mut stage = stage();
    for _ in 0..4 {
        stage.command("flaky", Failed, "no");
        stage.command("flaky", Failed, "no");
        stage.command("flaky", Completed, "yes");
    }
    for _ in 0..4 {
        stage.command("cargo test", Failed, "no");
        stage.command("cargo test", Failed, "no");
        stage.event(Body::TurnStarted(TurnStarted { number: 2 }));
    }
    assert_eq!(stage.kinds(), []);
}

#[test]
fn a_denied_call_that_is_tried_again_and_again_is_found() {
    let mut stage = stage();
    for _ in 0..3 {
        stage.command("git push", ToolStatus::Denied, "not allowed");
    }
    assert_eq!(stage.kinds(), [WarningKind::RepeatedCall]);
}

#[test]
fn thresholds_hold_and_a_rule_can_be_off() {
    let mut rules = WatchRules::default();
    rules.repeated_call.times = 5;
    rules.repeated_failure.action = WatchAction::Off;
    let mut stage = Stage::new(rules);
    for _ in 0..4 {
        stage.read("a", "");
    }
    for _ in 0..9 {
        stage.command("make", Failed, "no");
    }
    assert_eq!(stage.kinds(), []);
    for _ in 0..5 {
        stage.read("a", "");
    }
    assert_eq!(stage.kinds(), [WarningKind::RepeatedCall]);
}
