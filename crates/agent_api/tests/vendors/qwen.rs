//! What Qwen Code says: Claude's dialect with its own figures.

use agent_api::{Body, ErrorClass, Outcome, ToolKind, ToolStatus};

use crate::replay::{Replayed, Vendor};

fn qwen(name: &str) -> Replayed {
    Vendor::Qwen.replay_fixture(name)
}

#[test]
fn a_session_tells_its_version_and_mode() {
    let replayed = qwen("text");
    let Some(Body::SessionStarted(session)) = replayed.bodies().next() else {
        unreachable!("{:?}", replayed.names());
    };
    assert_eq!(session.agent_version.as_deref(), Some("0.24.4"));
    assert_eq!(session.permission_mode.as_deref(), Some("yolo"));
    assert!(session.model.is_some() && !session.tools.is_empty());
}

#[test]
fn calls_have_kinds_and_results() {
    for (name, kind) in [
        ("shell", ToolKind::Execute),
        ("edit", ToolKind::Edit),
        ("mcp", ToolKind::Mcp),
        ("todo", ToolKind::Plan),
    ] {
        let replayed = qwen(name);
        let kinds: Vec<_> = replayed
            .bodies()
            .filter_map(|body| match body {
                Body::ToolStarted(tool) => Some(tool.kind),
                _ => None,
            })
            .collect();
        assert!(
            !kinds.is_empty() && kinds.iter().all(|seen| *seen == kind),
            "{name}: {kinds:?}"
        );
        let are_done = replayed
            .bodies()
            .filter(|body| matches!(body, Body::ToolFinished(tool) if tool.status == ToolStatus::Completed));
        assert_eq!(are_done.count(), if name == "edit" { 2 } else { 1 }, "{name}");
        assert_eq!(
            replayed.last_turn().unwrap().outcome,
            Outcome::Succeeded,
            "{name}"
        );
    }
}

#[test]
fn failed_turns_say_what_kind_of_trouble_it_is() {
    for (name, class) in [
        ("err400", ErrorClass::InvalidRequest),
        ("err401", ErrorClass::Auth),
    ] {
        let replayed = qwen(name);
        let turn = replayed.last_turn().unwrap();
        assert_eq!(turn.outcome, Outcome::Failed, "{name}");
        assert_eq!(
            turn.error.as_ref().unwrap().class,
            class,
            "{name}: {:?}",
            turn.error
        );
        assert!(replayed.is_idle, "{name}");
    }
}

#[test]
fn a_limit_that_ends_the_process_gives_no_result() {
    let replayed = qwen("max_turns");
    assert!(replayed.last_turn().is_none());
}

#[test]
fn edits_name_the_files_that_they_changed() {
    let replayed = qwen("edit");
    let paths: Vec<_> = replayed
        .bodies()
        .filter_map(|body| match body {
            Body::ToolFinished(tool) => Some(&tool.changes[..]),
            _ => None,
        })
        .map(|changes| {
            changes
                .iter()
                .map(|change| change.path.as_str())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(paths, [["/workspace/notes.txt"], ["/workspace/notes.txt"]]);
}

#[test]
fn an_interrupted_turn_is_no_failure() {
    let line = r#"{"type":"result","subtype":"error_during_execution","uuid":"u","session_id":"s","is_error":true,"duration_ms":12,"duration_api_ms":0,"num_turns":1,"usage":{"input_tokens":0,"output_tokens":0},"permission_denials":[],"error":{"message":"Operation cancelled."}}"#;
    let replayed = Vendor::Qwen.replay(line.as_bytes());
    assert_eq!(replayed.last_turn().unwrap().outcome, Outcome::Interrupted);
    // By a signal there is no result, only an exit code.
    let mut codes = agent_api::backends::qwen::profile().exit_codes.iter();
    let by_signal = codes.find(|known| known.code == 130).unwrap();
    assert_eq!(by_signal.outcome, Outcome::Interrupted);
}
