//! What Codex says, in order.

use agent_api::{
    Body, ChangeKind, ErrorClass, Outcome, PlanStatus, Severity, TaskState, ToolInput, ToolKind, ToolStatus,
};

use crate::replay::{Replayed, Vendor};

fn codex(name: &str) -> Replayed {
    Vendor::Codex.replay_fixture(name)
}

#[test]
fn a_command_is_a_call_with_output_and_exit_code() {
    let replayed = codex("shell_fail");
    assert_eq!(
        replayed.names(),
        [
            "session_started",
            "turn_started",
            "tool_started",
            "tool_finished",
            "text_block",
            "usage",
            "turn_finished"
        ]
    );
    let mut calls = 0;
    for body in replayed.bodies() {
        match body {
            Body::ToolStarted(tool) => {
                calls += 1;
                assert_eq!(tool.kind, ToolKind::Execute);
                let ToolInput::Command { command, .. } = tool.typed_input() else {
                    unreachable!("{tool:?}");
                };
                assert_eq!(tool.subject.as_deref(), Some(command.as_str()));
            }
            Body::ToolFinished(tool) => {
                assert_eq!((tool.status, tool.exit_code), (ToolStatus::Failed, Some(3)));
                assert_eq!(tool.output, "bad\n");
            }
            _ => {}
        }
    }
    assert_eq!(calls, 1);
    assert!(replayed.is_idle);
    let turn = replayed.last_turn().unwrap();
    assert_eq!(
        (turn.outcome, turn.text.as_deref()),
        (Outcome::Succeeded, Some("Done."))
    );
}

#[test]
fn changes_of_files_say_what_happened_to_them() {
    let replayed = codex("edit");
    let changes: Vec<_> = replayed
        .bodies()
        .filter_map(|body| match body {
            Body::ToolFinished(tool) => Some(tool.changes[0].kind),
            _ => None,
        })
        .collect();
    assert_eq!(
        changes,
        [ChangeKind::Added, ChangeKind::Modified, ChangeKind::Deleted]
    );
    let kinds: Vec<_> = replayed
        .bodies()
        .filter_map(|body| match body {
            Body::ToolStarted(tool) => Some(tool.kind),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [ToolKind::Edit, ToolKind::Edit, ToolKind::Delete]);
}

#[test]
fn a_tool_of_a_server_names_it() {
    for (name, status, output) in [
        ("mcp", ToolStatus::Completed, "echo: hi"),
        ("mcp_fail", ToolStatus::Failed, "failed on purpose"),
    ] {
        let replayed = codex(name);
        let mut seen = 0;
        for body in replayed.bodies() {
            match body {
                Body::ToolStarted(tool) => {
                    seen += 1;
                    assert_eq!(tool.mcp_server.as_deref(), Some("fixture"));
                    assert_eq!(tool.kind, ToolKind::Mcp);
                }
                Body::ToolFinished(tool) => {
                    assert_eq!((tool.status, tool.output.as_str()), (status, output));
                }
                _ => {}
            }
        }
        assert_eq!(seen, 1);
    }
}

#[test]
fn an_id_that_comes_twice_names_one_call() {
    let replayed = codex("websearch");
    let items: Vec<_> = replayed
        .bodies()
        .filter_map(|body| match body {
            Body::ToolStarted(tool) => Some((tool.item.as_str(), tool.subject.as_deref())),
            Body::ToolFinished(tool) => Some((tool.item.as_str(), None)),
            _ => None,
        })
        .collect();
    assert_eq!(items, [("ws_1", Some("rust async")), ("ws_1", None)]);
}

#[test]
fn another_agent_is_a_task() {
    let states: Vec<_> = codex("collab")
        .bodies()
        .filter_map(|body| match body {
            Body::TaskUpdated(task) => Some((task.state, task.summary.clone())),
            _ => None,
        })
        .collect();
    let answer = "Hello from the fake model. This is a plain answer.".to_owned();
    assert_eq!(
        states,
        [(TaskState::Running, None), (TaskState::Completed, Some(answer))]
    );
}

#[test]
fn a_list_of_things_to_do_is_a_plan() {
    let plans: Vec<Vec<PlanStatus>> = codex("todo")
        .bodies()
        .filter_map(|body| match body {
            Body::PlanUpdated(plan) => Some(plan.entries.iter().map(|entry| entry.status).collect()),
            _ => None,
        })
        .collect();
    let done = vec![PlanStatus::Completed; 3];
    let begun = vec![PlanStatus::Completed, PlanStatus::Pending, PlanStatus::Pending];
    assert_eq!(plans, [begun, done.clone(), done]);
}

#[test]
fn a_warning_that_looks_like_an_error_ends_nothing() {
    let replayed = codex("warning");
    let warnings = replayed
        .bodies()
        .filter(|body| matches!(body, Body::Notice(notice) if notice.severity == Severity::Warning));
    assert_eq!(warnings.count(), 1);
    assert!(!replayed.names().contains(&"error"));
    assert_eq!(replayed.last_turn().unwrap().outcome, Outcome::Succeeded);
}

#[test]
fn repetitions_are_announced_and_do_not_end_the_turn() {
    let replayed = codex("midcut_once");
    let retry = replayed.bodies().find_map(|body| match body {
        Body::RetryScheduled(retry) => Some(retry),
        _ => None,
    });
    let retry = retry.unwrap();
    assert_eq!((retry.attempt, retry.max_attempts), (Some(1), Some(2)));
    assert_eq!(retry.error.class, ErrorClass::Network);
    assert_eq!(replayed.last_turn().unwrap().outcome, Outcome::Succeeded);
}

#[test]
fn failed_turns_say_what_kind_of_trouble_it_is() {
    for (name, class, status) in [
        ("err400", ErrorClass::InvalidRequest, None),
        ("err401", ErrorClass::Auth, Some(401)),
        ("err429", ErrorClass::RateLimit, Some(429)),
        ("err500", ErrorClass::Overloaded, None),
        ("midcut", ErrorClass::Network, None),
        ("early_end", ErrorClass::Network, None),
        ("no_key", ErrorClass::Auth, None),
    ] {
        let replayed = codex(name);
        let turn = replayed.last_turn().unwrap();
        assert_eq!(turn.outcome, Outcome::Failed, "{name}");
        let error = turn.error.as_ref().unwrap();
        assert_eq!((error.class, error.http_status), (class, status), "{name}");
        assert!(replayed.is_idle, "{name}");
    }
}

#[test]
fn an_interrupted_run_has_no_result_and_is_not_idle() {
    for name in ["kill_int", "kill_int_text", "kill_term"] {
        let replayed = codex(name);
        assert!(replayed.last_turn().is_none(), "{name}");
        assert!(!replayed.is_idle, "{name}");
    }
}
