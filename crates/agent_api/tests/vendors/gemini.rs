//! What Gemini CLI says, in order.

use agent_api::{Body, ErrorClass, Outcome, PlanStatus, ToolInput, ToolKind, ToolStatus};

use crate::replay::{Replayed, Vendor};

fn gemini(name: &str) -> Replayed {
    Vendor::Gemini.replay_fixture(name)
}

#[test]
fn a_text_is_complete_where_something_else_begins() {
    let replayed = gemini("multi");
    assert_eq!(
        replayed.names(),
        [
            "session_started",
            "turn_started",
            "user_message",
            "delta",
            "text_block",
            "tool_started",
            "tool_finished",
            "delta",
            "text_block",
            "tool_started",
            "tool_finished",
            "delta",
            "text_block",
            "usage",
            "turn_finished"
        ]
    );
    let kinds: Vec<_> = replayed
        .bodies()
        .filter_map(|body| match body {
            Body::ToolStarted(tool) => Some(tool.kind),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [ToolKind::Execute, ToolKind::Read]);
    let turn = replayed.last_turn().unwrap();
    assert_eq!(
        (turn.outcome, turn.text.as_deref()),
        (Outcome::Succeeded, Some("All done."))
    );
    assert!(replayed.is_idle);
}

#[test]
fn changes_of_files_are_known_from_the_call() {
    let replayed = gemini("edit");
    let paths: Vec<_> = replayed
        .bodies()
        .filter_map(|body| match body {
            Body::ToolFinished(tool) => Some(tool.changes[0].path.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(paths, ["/workspace/notes.txt", "/workspace/notes.txt"]);
    let inputs: Vec<_> = replayed
        .bodies()
        .filter_map(|body| match body {
            Body::ToolStarted(tool) => Some(tool.typed_input()),
            _ => None,
        })
        .collect();
    assert!(
        matches!(&inputs[..], [ToolInput::Write { .. }, ToolInput::Edit { .. }]),
        "{inputs:?}"
    );
}

#[test]
fn a_change_that_failed_has_changed_nothing() {
    for name in ["edit_fail", "unknowntool"] {
        let replayed = gemini(name);
        let failed = replayed.bodies().find_map(|body| match body {
            Body::ToolFinished(tool) => Some(tool),
            _ => None,
        });
        let failed = failed.unwrap();
        assert_eq!(failed.status, ToolStatus::Failed, "{name}");
        assert!(failed.changes.is_empty() && !failed.output.is_empty(), "{name}");
    }
}

#[test]
fn a_tool_of_a_server_names_it() {
    let replayed = gemini("mcp");
    let call = replayed.bodies().find_map(|body| match body {
        Body::ToolStarted(tool) => Some(tool),
        _ => None,
    });
    let call = call.unwrap();
    assert_eq!(
        (call.kind, call.mcp_server.as_deref()),
        (ToolKind::Mcp, Some("fixture"))
    );
    assert_eq!(call.name, "mcp_fixture_echo");
}

#[test]
fn a_list_of_things_to_do_is_a_plan() {
    let plans: Vec<Vec<PlanStatus>> = gemini("todo")
        .bodies()
        .filter_map(|body| match body {
            Body::PlanUpdated(plan) => Some(plan.entries.iter().map(|entry| entry.status).collect()),
            _ => None,
        })
        .collect();
    let begun = vec![PlanStatus::Completed, PlanStatus::InProgress, PlanStatus::Pending];
    assert_eq!(plans, [begun, vec![PlanStatus::Completed; 3]]);
}

#[test]
fn failed_turns_say_what_kind_of_trouble_it_is() {
    for (name, class, status) in [
        ("err400", ErrorClass::InvalidRequest, Some(400)),
        ("err401", ErrorClass::Auth, Some(401)),
        ("drop", ErrorClass::Network, None),
        // The result itself says nothing, an error before it does.
        ("midcut", ErrorClass::Network, None),
    ] {
        let replayed = gemini(name);
        let turn = replayed.last_turn().unwrap();
        assert_eq!(turn.outcome, Outcome::Failed, "{name}");
        let error = turn.error.as_ref().unwrap();
        assert_eq!((error.class, error.http_status), (class, status), "{name}");
    }
}

#[test]
fn an_interrupted_run_has_no_result_and_is_not_idle() {
    for name in ["kill_int", "kill_term_group", "err429", "err500"] {
        let replayed = gemini(name);
        assert!(replayed.last_turn().is_none(), "{name}");
        assert!(!replayed.is_idle, "{name}");
    }
}
