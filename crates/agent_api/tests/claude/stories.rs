//! What single captures mean, from start to end.

use agent_api::{
    Body, ChangeKind, ErrorClass, Limit, Outcome, PlanStatus, TaskState, ToolInput, ToolKind, ToolStarted,
    ToolState, ToolStatus,
};
use test_support::fixtures;

use crate::replay::{Replayed, bodies, replay};

fn capture(name: &str) -> Replayed {
    replay(&fixtures::named("2.1.325", name).unwrap())
}

/// How all turns ended.
fn outcomes(replayed: &Replayed) -> Vec<(Outcome, Option<ErrorClass>)> {
    bodies(&replayed.events)
        .filter_map(|body| match body {
            Body::TurnFinished(turn) => Some((turn.outcome, turn.error.as_ref().map(|error| error.class))),
            _ => None,
        })
        .collect()
}

fn started(replayed: &Replayed) -> Vec<&ToolStarted> {
    bodies(&replayed.events)
        .filter_map(|body| match body {
            Body::ToolStarted(tool) if tool.state == ToolState::Running => Some(&**tool),
            _ => None,
        })
        .collect()
}

#[test]
fn turns_end_as_what_they_are() {
    use ErrorClass as Class;
    use Outcome::{Failed, Interrupted, LimitReached, Refused, Succeeded};
    for (name, expected) in [
        ("plain_text", (Succeeded, None)),
        ("api_400", (Failed, Some(Class::InvalidRequest))),
        ("api_400_credit", (Failed, Some(Class::Quota))),
        (
            "api_400_long",
            (LimitReached(Limit::Tokens), Some(Class::ContextWindow)),
        ),
        ("api_401", (Failed, Some(Class::Auth))),
        ("api_403", (Failed, Some(Class::Auth))),
        ("api_404", (Failed, Some(Class::ModelNotFound))),
        ("api_429", (Failed, Some(Class::RateLimit))),
        ("api_500", (Failed, Some(Class::Vendor))),
        ("api_529", (Failed, Some(Class::Overloaded))),
        ("api_down", (Failed, Some(Class::Network))),
        ("api_529_once", (Succeeded, None)),
        ("not_logged_in", (Failed, Some(Class::Auth))),
        ("limit_rejected", (Failed, Some(Class::RateLimit))),
        ("max_turns_1", (LimitReached(Limit::Turns), Some(Class::Vendor))),
        ("max_budget", (LimitReached(Limit::Budget), Some(Class::Vendor))),
        ("stop_refusal", (Refused, Some(Class::Vendor))),
        ("signal_int_bash", (Interrupted, Some(Class::Vendor))),
        ("start_resume_unknown", (Failed, Some(Class::InvalidRequest))),
        ("start_root_result", (Failed, Some(Class::Permission))),
    ] {
        assert_eq!(outcomes(&capture(name)), [expected], "{name}");
    }
}

#[test]
fn a_process_that_is_done_is_idle_and_one_that_was_cut_off_is_not() {
    for name in [
        "plain_text",
        "tool_bash",
        "tool_bash_background",
        "subagent_background",
        "api_400",
    ] {
        assert!(capture(name).is_idle, "{name}");
    }
    for name in ["signal_kill_bash", "signal_term_streaming"] {
        let replayed = capture(name);
        assert!(!replayed.is_idle, "{name}");
        assert_eq!(outcomes(&replayed), [], "{name}");
    }
}

#[test]
fn background_work_gives_a_second_turn_and_both_are_told() {
    let replayed = capture("tool_bash_background");
    assert_eq!(outcomes(&replayed).len(), 2);
    let states: Vec<TaskState> = bodies(&replayed.events)
        .filter_map(|body| match body {
            Body::TaskUpdated(task) => Some(task.state),
            _ => None,
        })
        .collect();
    assert_eq!(states.first(), Some(&TaskState::Running));
    assert_eq!(states.last(), Some(&TaskState::Completed));
    assert!(
        bodies(&replayed.events)
            .any(|body| matches!(body, Body::ToolFinished(tool) if tool.status == ToolStatus::Background))
    );
}

#[test]
fn a_tool_line_says_what_matters() {
    for (name, kind, subject) in [
        ("tool_bash", ToolKind::Execute, "echo hello"),
        ("tool_read", ToolKind::Read, "hello.txt"),
        ("tool_edit", ToolKind::Edit, "hello.txt"),
        ("tool_write", ToolKind::Edit, "new_file.txt"),
        ("tool_web_fetch", ToolKind::Fetch, "http"),
        ("tool_web_search", ToolKind::WebSearch, ""),
        ("subagent", ToolKind::Agent, ""),
        ("mcp_tool", ToolKind::Mcp, ""),
    ] {
        let replayed = capture(name);
        let tool = *started(&replayed)
            .iter()
            .find(|tool| tool.kind == kind)
            .expect(name);
        assert!(
            tool.subject.as_deref().unwrap_or_default().contains(subject),
            "{name}: {:?}",
            tool.subject
        );
        assert!(tool.input.is_some(), "{name}");
        assert_eq!(
            tool.mcp_server.as_deref(),
            (name == "mcp_tool").then_some("fixture")
        );
    }
}

#[test]
fn well_known_arguments_are_typed() {
    let replayed = capture("tool_edit");
    let edit = started(&replayed)
        .into_iter()
        .find(|tool| tool.kind == ToolKind::Edit)
        .unwrap();
    let ToolInput::Edit { path, edits } = edit.typed_input() else {
        panic!("not an edit: {:?}", edit.typed_input())
    };
    assert!(path.ends_with("hello.txt"));
    assert_eq!(edits.len(), 1);
    let replayed = capture("tool_bash");
    let ToolInput::Command { command, .. } = started(&replayed)[0].typed_input() else {
        panic!("not a command")
    };
    assert!(command.contains("echo hello"));
}

#[test]
fn an_edit_comes_with_its_diff() {
    let replayed = capture("tool_edit");
    let change = bodies(&replayed.events)
        .find_map(|body| match body {
            Body::ToolFinished(tool) => tool.changes.first(),
            _ => None,
        })
        .unwrap();
    assert_eq!(change.kind, ChangeKind::Modified);
    let diff = change.diff.as_deref().unwrap();
    assert!(
        diff.starts_with("@@ -") && diff.contains("\n-") && diff.contains("\n+"),
        "{diff}"
    );
    assert_eq!(change.lines, Some((1, 1)));
    let replayed = capture("tool_write");
    let change = bodies(&replayed.events)
        .find_map(|body| match body {
            Body::ToolFinished(tool) => tool.changes.first(),
            _ => None,
        })
        .unwrap();
    assert_eq!(change.kind, ChangeKind::Added);
    assert!(change.diff.as_deref().unwrap().contains("\n+"));
}

#[test]
fn a_failing_command_has_its_exit_code_and_one_that_worked_has_none() {
    let code = |name: &str| {
        let replayed = capture(name);
        bodies(&replayed.events)
            .find_map(|body| match body {
                Body::ToolFinished(tool) => Some((tool.status, tool.exit_code)),
                _ => None,
            })
            .unwrap()
    };
    assert_eq!(code("tool_bash_fail"), (ToolStatus::Failed, Some(3)));
    assert_eq!(code("tool_bash"), (ToolStatus::Completed, None));
}

#[test]
fn what_was_not_allowed_is_denied_and_not_failed() {
    let replayed = capture("permission_default_bash");
    let denied = bodies(&replayed.events).any(|body| matches!(body, Body::PermissionDenied(_)));
    assert!(denied);
    assert!(
        bodies(&replayed.events)
            .any(|body| matches!(body, Body::ToolFinished(tool) if tool.status == ToolStatus::Denied))
    );
    assert!(bodies(&replayed.events).any(
        |body| matches!(body, Body::TurnFinished(turn) if turn.denials.len() == 1 && turn.outcome.is_success())
    ));
}

#[test]
fn a_list_of_things_to_do_is_a_plan() {
    let replayed = capture("todo_write");
    let plan = bodies(&replayed.events)
        .filter_map(|body| match body {
            Body::PlanUpdated(plan) => Some(plan),
            _ => None,
        })
        .last()
        .unwrap();
    assert!(!plan.entries.is_empty());
    assert!(
        plan.entries
            .iter()
            .any(|entry| entry.status == PlanStatus::Completed || entry.status == PlanStatus::InProgress)
    );
}

#[test]
fn what_a_subagent_does_belongs_to_its_call() {
    let replayed = capture("subagent");
    let call = started(&replayed)
        .into_iter()
        .find(|tool| tool.kind == ToolKind::Agent)
        .unwrap()
        .item
        .clone();
    let children = replayed
        .events
        .iter()
        .filter(|event| event.parent.as_ref() == Some(&call));
    assert!(children.count() >= 2);
}

#[test]
fn arguments_that_are_being_written_belong_to_a_call_that_was_announced() {
    let replayed = capture("partial_tool_bash");
    let states: Vec<ToolState> = bodies(&replayed.events)
        .filter_map(|body| match body {
            Body::ToolStarted(tool) => Some(tool.state),
            _ => None,
        })
        .collect();
    assert_eq!(states, [ToolState::Preparing, ToolState::Running]);
}

#[test]
fn a_broken_answer_is_discarded_when_it_is_asked_for_again() {
    let replayed = capture("stream_error_partial");
    let discarded = bodies(&replayed.events).any(|body| matches!(body, Body::ItemDiscarded(_)));
    assert!(discarded);
    assert_eq!(outcomes(&replayed), [(Outcome::Succeeded, None)]);
}

#[test]
fn retries_are_told() {
    let replayed = capture("api_529_twice");
    let retries: Vec<_> = bodies(&replayed.events)
        .filter_map(|body| match body {
            Body::RetryScheduled(retry) => Some((retry.attempt, retry.error.class, retry.error.http_status)),
            _ => None,
        })
        .collect();
    assert_eq!(
        retries,
        [
            (Some(1), ErrorClass::Overloaded, Some(529)),
            (Some(2), ErrorClass::Overloaded, Some(529))
        ]
    );
}

#[test]
fn a_plan_is_proposed_with_its_text() {
    let replayed = capture("io_plan");
    let plan = bodies(&replayed.events).find_map(|body| match body {
        Body::PlanProposed(proposed) => Some(proposed.plan.as_str()),
        _ => None,
    });
    assert_eq!(plan, Some("1. Do it\n2. Test it"));
}

#[test]
fn a_picture_in_a_result_is_told_in_words() {
    let replayed = capture("tool_read_image");
    let attachments = bodies(&replayed.events)
        .find_map(|body| match body {
            Body::ToolFinished(tool) if !tool.attachments.is_empty() => Some(tool.attachments.clone()),
            _ => None,
        })
        .unwrap();
    assert!(attachments[0].starts_with("image/png, "), "{attachments:?}");
}
