//! Sessions that are continued, and what is set before the first prompt.

use agent_api::{AgentRegistry, Body, ErrorClass, Outcome, PermissionMode, RunRequest, SessionChoice};
use serde_json::json;
use test_support::script::Script;

use super::scripted::{
    PROMPT, error_line, has_notice, in_mode, initialized, names, options, prompt, prompted_with, result_line,
    run_with, stopped, text_chunk,
};

fn resuming(choice: SessionChoice) -> agent_api::RunOptions {
    let mut options = options();
    options.session = Some(choice);
    options
}

#[tokio::test]
async fn a_loaded_session_hides_its_replay() {
    let script = initialized(&json!({"loadSession": true}))
        .expect_line(json!({"method": "session/load", "params": {"sessionId": "s1", "mcpServers": []}}))
        .emit(text_chunk("said before"))
        .emit(result_line(2, &json!({})))
        .expect_line(prompt(PROMPT, "Go."))
        .emit_lines([text_chunk("new"), stopped(PROMPT, "end_turn")])
        .read_to_end();
    let (events, finished) = run_with(&script, resuming(SessionChoice::Resume("s1".into()))).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    let texts: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::TextBlock(block) => Some(block.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["new"]);
    assert!(has_notice(&events, "replayed"));
}

#[tokio::test]
async fn a_session_is_resumed_without_a_replay_where_that_is_offered() {
    let script = initialized(&json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}))
        .expect_line(json!({"method": "session/resume", "params": {"sessionId": "s1"}}))
        .emit(result_line(2, &json!({})))
        .expect_line(prompt(PROMPT, "Go."))
        .emit(stopped(PROMPT, "end_turn"))
        .read_to_end();
    let (_, finished) = run_with(&script, resuming(SessionChoice::Resume("s1".into()))).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn the_last_session_is_the_one_that_was_updated_last() {
    let sessions = json!({"sessions": [
        {"sessionId": "old", "updatedAt": "2026-01-01T00:00:00Z"},
        {"sessionId": "s1", "updatedAt": "2026-03-01T00:00:00Z"},
        {"sessionId": 7},
    ]});
    let script = initialized(&json!({"loadSession": true, "sessionCapabilities": {"list": {}}}))
        .expect_line(json!({"id": 2, "method": "session/list"}))
        .emit(result_line(2, &sessions))
        .expect_line(json!({"id": 3, "method": "session/load", "params": {"sessionId": "s1"}}))
        .emit(result_line(3, &json!({})))
        .expect_line(prompt(4, "Go."))
        .emit(stopped(4, "end_turn"))
        .read_to_end();
    let (_, finished) = run_with(&script, resuming(SessionChoice::Last)).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn the_last_session_of_another_directory_is_not_continued() {
    let workspace = tempfile::tempdir().unwrap();
    let sessions = json!({"sessions": [
        {"sessionId": "elsewhere", "cwd": "/somewhere/else", "updatedAt": "2026-03-01T00:00:00Z"},
        {"sessionId": "s1", "cwd": workspace.path(), "updatedAt": "2026-01-01T00:00:00Z"},
    ]});
    let listed = |sessions: &serde_json::Value| {
        initialized(&json!({"loadSession": true, "sessionCapabilities": {"list": {}}}))
            .expect_line(json!({"id": 2, "method": "session/list", "params": {"cwd": workspace.path()}}))
            .emit(result_line(2, sessions))
    };
    let mut options = resuming(SessionChoice::Last);
    options.cwd = Some(workspace.path().to_owned());
    let script = listed(&sessions)
        .expect_line(json!({"id": 3, "method": "session/load", "params": {"sessionId": "s1"}}))
        .emit(result_line(3, &json!({})))
        .expect_line(prompt(4, "Go."))
        .emit(stopped(4, "end_turn"))
        .read_to_end();
    let (_, finished) = run_with(&script, options.clone()).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    let elsewhere = json!({"sessions": [sessions["sessions"][0]]});
    let (_, finished) = run_with(&listed(&elsewhere).read_to_end(), options).await;
    assert_eq!(finished.error.unwrap().code, "no_such_session");
}

#[tokio::test]
async fn a_session_that_cannot_be_continued_is_an_error_and_no_new_session() {
    for choice in [
        SessionChoice::Resume("s1".into()),
        SessionChoice::Last,
        SessionChoice::fork("s1"),
    ] {
        let (_, finished) = run_with(&initialized(&json!({})).read_to_end(), resuming(choice)).await;
        assert_eq!(finished.error.unwrap().code, "cannot_resume");
    }
}

#[tokio::test]
async fn model_and_mode_are_set_before_the_prompt() {
    let choices = json!({
        "modes": {"currentModeId": "default", "availableModes": [{"id": "default"}, {"id": "yolo"}]},
        "configOptions": [{"id": "model", "category": "model", "currentValue": "small",
            "options": [{"name": "group", "options": [{"value": "small"}, {"value": "large"}]}]}],
    });
    let script = prompted_with(&choices)
        .expect_line(json!({"id": 3, "method": "session/set_config_option",
            "params": {"sessionId": "s1", "configId": "model", "value": "large"}}))
        .emit(result_line(3, &json!({})))
        .expect_line(json!({"id": 4, "method": "session/set_mode", "params": {"modeId": "yolo"}}))
        .emit(result_line(4, &json!({})))
        .expect_line(prompt(5, "Go."))
        .emit(stopped(5, "end_turn"))
        .read_to_end();
    let mut options = in_mode(PermissionMode::Bypass);
    options.model = Some("large".into());
    let (events, finished) = run_with(&script, options).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    let updates = names(&events)
        .into_iter()
        .filter(|name| *name == "session_updated");
    assert_eq!(updates.count(), 2);
}

#[tokio::test]
async fn a_model_that_is_refused_or_not_offered_fails_the_run() {
    let models = json!({"models": {"currentModelId": "a", "availableModels": [{"modelId": "a"}]}});
    let script = prompted_with(&models)
        .expect_line(json!({"method": "session/set_model", "params": {"modelId": "b"}}))
        .emit(error_line(3, -32602, "no such thing"))
        .read_to_end();
    let mut options = options();
    options.model = Some("b".into());
    let (_, finished) = run_with(&script, options.clone()).await;
    let error = finished.error.unwrap();
    assert_eq!(
        (error.class, error.code.as_str()),
        (ErrorClass::ModelNotFound, "model_refused")
    );
    let (_, finished) = run_with(&prompted_with(&json!({})).read_to_end(), options).await;
    assert_eq!(finished.error.unwrap().code, "no_model_choice");
}

#[tokio::test]
async fn a_run_in_a_mode_that_the_agent_does_not_have_does_not_begin() {
    for (mode, code) in [
        (PermissionMode::Plan, "no_plan_mode"),
        (PermissionMode::Auto, "no_auto_mode"),
    ] {
        let (events, finished) = run_with(&prompted_with(&json!({})).read_to_end(), in_mode(mode)).await;
        assert_eq!(finished.outcome, Outcome::Failed);
        assert_eq!(finished.error.unwrap().code, code);
        assert!(names(&events).contains(&"session_started"));
    }
}

#[cfg(feature = "gemini")]
#[test]
fn gemini_over_acp_takes_directories_and_refuses_an_id_that_it_cannot_give() {
    use agent_api::{AgentRegistry, Close, Error, Input, InstalledAgent, RunRequest, capability};
    let registry = AgentRegistry::builtin();
    let found = InstalledAgent {
        program: "/bin/gemini".into(),
        version: None,
    };
    let preview = |input, session| {
        let mut options = resuming(session);
        options.additional_directories = vec!["/other".into()];
        registry.preview(
            "gemini",
            RunRequest::new("Go.").options(options).input(input),
            &found,
        )
    };
    for close in [Close::WhenIdle, Close::ByCaller] {
        let launch = preview(Input::Messages(close), SessionChoice::New).unwrap();
        let has = |wanted: &str| launch.spec.args.iter().any(|argument| argument == wanted);
        assert!(
            has("--acp") && has("--include-directories=/other"),
            "{:?}",
            launch.spec.args
        );
        let preset = SessionChoice::NewWithId("3b241101-e2bb-4255-8caf-4136c566a962".into());
        let refused = preview(Input::Messages(close), preset.clone());
        assert!(
            matches!(refused.err(), Some(Error::UnsupportedCapability { capability, .. })
                if capability == capability::SESSION_PRESET_ID)
        );
        assert!(preview(Input::PromptOnly, preset).is_ok());
    }
}

/// Like the adapter: it gives itself this name, reports usage in its answer, and asks by mode.
#[tokio::test]
async fn claude_acp_runs_by_its_own_name() {
    let info = json!({"name": "@agentclientprotocol/claude-agent-acp", "version": "0.30.0"});
    let initialized =
        json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {"loadSession": true}});
    let modes = json!({"currentModeId": "default", "availableModes": [
        {"id": "default", "name": "Default"}, {"id": "bypassPermissions", "name": "Bypass"}]});
    let answer = json!({"stopReason": "end_turn"});
    let script = Script::new()
        .expect_line(json!({"id": 1, "method": "initialize"}))
        .emit(result_line(1, &initialized))
        .expect_line(json!({"id": 2, "method": "session/new"}))
        .emit(result_line(2, &json!({"sessionId": "s1", "modes": modes})))
        .expect_line(prompt(PROMPT, "Go."))
        .emit_lines([text_chunk("Done."), result_line(PROMPT, &answer)])
        .read_to_end();
    let agent = script.install().unwrap();
    let program = agent.as_program().unwrap();
    let directory = program.parent().unwrap();
    std::fs::rename(&program, directory.join("claude-agent-acp")).unwrap();
    let mut options = options();
    options.environment = options.environment.set("PATH", directory.to_str().unwrap());
    let registry = AgentRegistry::builtin();
    let request = RunRequest::new("Go.").options(options);
    let handle = registry.run("claude-acp", request).await.unwrap();
    let (events, completed) = handle.collect().await.unwrap();
    assert_eq!(completed.finished.outcome, Outcome::Succeeded, "{events:?}");
    assert!(
        events
            .iter()
            .all(|event| event.agent_kind.as_str() == "claude_acp")
    );
    let texts = events.iter().filter_map(|event| match &event.body {
        Body::TextBlock(block) => Some(&*block.text),
        _ => None,
    });
    assert_eq!(texts.collect::<String>(), "Done.");
}
