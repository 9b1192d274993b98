//! Two-way: messages, permissions, questions, plans, interrupts, settings.

use agent_api::{
    Answer, Body, Close, CloseReason, GrantKind, MessageState, Outcome, PermissionMode, PermissionRequested,
    RequestId,
};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::CURRENT;

use crate::stage::{finish, trial, until};

fn turn_end(event: &agent_api::Event) -> Option<Outcome> {
    match &event.body {
        Body::TurnFinished(turn) => Some(turn.outcome),
        _ => None,
    }
}

fn requested(event: &agent_api::Event) -> Option<PermissionRequested> {
    match &event.body {
        Body::PermissionRequested(asked) => Some((**asked).clone()),
        _ => None,
    }
}

fn permission(event: &agent_api::Event) -> Option<(RequestId, serde_json::Value)> {
    match &event.body {
        Body::PermissionRequested(asked) => Some((
            asked.request.clone(),
            asked.input.as_ref().unwrap().read().unwrap(),
        )),
        _ => None,
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial(
            CURRENT,
            "a_run_that_can_be_told_more_ends_by_itself",
            async |stage| {
                let handle = stage
                    .converse("SCENARIO:bash", Close::WhenIdle, stage.options())
                    .await;
                let (_, completed) = finish(handle).await;
                assert_eq!(completed.finished.outcome, Outcome::Succeeded);
                assert_eq!(completed.finished.exit.code, Some(0));
                assert!(!completed.finished.exit.was_stopped);
            },
        ),
        trial(
            CURRENT,
            "a_second_message_is_a_second_turn_with_receipts",
            async |stage| {
                let mut handle = stage
                    .converse("SCENARIO:chat one", Close::ByCaller, stage.options())
                    .await;
                assert_eq!(until(&mut handle.events, turn_end).await, Outcome::Succeeded);
                let id = handle.control.send("SCENARIO:chat two").unwrap();
                let mut states = Vec::new();
                until(&mut handle.events, |event| {
                    if let Body::MessageUpdated(updated) = &event.body
                        && updated.message_id == id
                    {
                        states.push(updated.state);
                    }
                    turn_end(event)
                })
                .await;
                assert!(states.contains(&MessageState::Started), "{states:?}");
                handle.control.close_input();
                let (_, completed) = finish(handle).await;
                assert_eq!(completed.finished.turns, 2);
                let said = completed.final_text.unwrap();
                assert!(said.contains("chat one") && said.contains("chat two"), "{said}");
            },
        ),
        trial(
            CURRENT,
            "an_allowed_tool_runs_with_changed_arguments",
            async |stage| {
                let options = stage.options_with(PermissionMode::Ask);
                let mut handle = stage.converse("SCENARIO:write", Close::WhenIdle, options).await;
                let (request, mut input) = until(&mut handle.events, permission).await;
                input["content"] = "changed by the person asked".into();
                handle
                    .control
                    .answer(&request, Answer::AllowChanged { input })
                    .unwrap();
                let reason = until(&mut handle.events, |event| match &event.body {
                    Body::RequestClosed(closed) if closed.request == request => Some(closed.reason),
                    _ => None,
                })
                .await;
                assert_eq!(reason, CloseReason::Answered);
                let (_, completed) = finish(handle).await;
                assert!(completed.is_success());
                let written = std::fs::read_to_string(stage.workspace.path().join("new_file.txt")).unwrap();
                assert_eq!(written, "changed by the person asked");
            },
        ),
        trial(
            CURRENT,
            "a_denied_tool_does_not_run_and_a_second_answer_is_refused",
            async |stage| {
                let options = stage.options_with(PermissionMode::Ask);
                let mut handle = stage.converse("SCENARIO:write", Close::WhenIdle, options).await;
                let (request, _) = until(&mut handle.events, permission).await;
                let deny = || Answer::Deny {
                    reason: "not this file".to_owned(),
                };
                handle.control.answer(&request, deny()).unwrap();
                handle.control.answer(&request, deny()).unwrap();
                let (events, completed) = finish(handle).await;
                assert!(completed.is_success());
                assert!(!stage.workspace.path().join("new_file.txt").exists());
                assert!(events.iter().any(|event| matches!(
                &event.body,
                Body::CommandAnswered(answered) if answered.command_id == request.as_str() && answered.error.is_some()
            )));
            },
        ),
        trial(
            CURRENT,
            "of_several_grants_only_the_chosen_one_is_in_force",
            async |stage| {
                let bash = || Block::tool("Bash", json!({"command": "touch x", "description": "Touch"}));
                let file = stage.workspace.path().join("written.txt");
                let write = Block::tool("Write", json!({"file_path": file, "content": "text"}));
                let turns = [
                    vec![bash()],
                    vec![bash()],
                    vec![write],
                    vec![Block::text("Done.")],
                ];
                let options = stage.options_with(PermissionMode::Ask);
                let mut handle = stage
                    .converse(&scripted_prompt(&turns), Close::WhenIdle, options)
                    .await;
                let asked = until(&mut handle.events, requested).await;
                let kinds: Vec<GrantKind> = asked.grants.iter().map(|grant| grant.kind).collect();
                assert_eq!(kinds, [GrantKind::Rule, GrantKind::Directory, GrantKind::Mode]);
                let rule = asked.grants[0].id.clone();
                let answer = Answer::AllowWithGrants { grants: vec![rule] };
                handle.control.answer(&asked.request, answer).unwrap();
                // The same command runs by the rule. The mode, under which files are written unasked, was not granted.
                let next = until(&mut handle.events, requested).await;
                assert_eq!(next.tool, "Write", "{next:?}");
                let deny = Answer::deny("not now");
                handle.control.answer(&next.request, deny).unwrap();
                let (events, completed) = finish(handle).await;
                assert!(completed.is_success());
                assert!(
                    !events.iter().any(|event| requested(event).is_some()),
                    "{events:?}"
                );
                assert!(!file.exists());
                // Nor was it or the directory written down for later.
                let settings = stage.workspace.path().join(".claude/settings.local.json");
                let settings: Value =
                    serde_json::from_str(&std::fs::read_to_string(settings).unwrap()).unwrap();
                assert_eq!(settings, json!({"permissions": {"allow": ["Bash(touch x *)"]}}));
            },
        ),
        trial(CURRENT, "a_question_is_answered", async |stage| {
            let mut handle = stage
                .converse("SCENARIO:ask", Close::WhenIdle, stage.options())
                .await;
            let asked = until(&mut handle.events, |event| match &event.body {
                Body::QuestionAsked(asked) => Some((**asked).clone()),
                _ => None,
            })
            .await;
            let question = &asked.questions[0];
            assert!(question.options.len() >= 2);
            let answer = (question.text.clone(), question.options[0].label.clone());
            handle
                .control
                .answer(&asked.request, Answer::Answers(vec![answer]))
                .unwrap();
            let (_, completed) = finish(handle).await;
            assert!(completed.is_success());
        }),
        trial(
            CURRENT,
            "an_interrupt_ends_the_turn_and_the_run_goes_on",
            async |stage| {
                let mut handle = stage
                    .converse("SCENARIO:gate:held", Close::ByCaller, stage.options())
                    .await;
                stage.model.gate_reached("held").await;
                until(&mut handle.events, |event| {
                    matches!(event.body, Body::Delta(_)).then_some(())
                })
                .await;
                handle.control.interrupt().unwrap();
                assert_eq!(until(&mut handle.events, turn_end).await, Outcome::Interrupted);
                handle.control.send("SCENARIO:chat on").unwrap();
                assert_eq!(until(&mut handle.events, turn_end).await, Outcome::Succeeded);
                handle.control.close_input();
                let (_, completed) = finish(handle).await;
                assert_eq!(completed.finished.outcome, Outcome::Succeeded);
            },
        ),
        trial(CURRENT, "settings_are_acknowledged", async |stage| {
            let mut handle = stage
                .converse("SCENARIO:chat one", Close::ByCaller, stage.options())
                .await;
            until(&mut handle.events, turn_end).await;
            let model = handle
                .control
                .set_model(Some("claude-sonnet-5".to_owned()))
                .unwrap();
            let mode = handle.control.set_permission_mode(PermissionMode::Plan).unwrap();
            let mut answered = Vec::new();
            while answered.len() < 2 {
                let (id, error) = until(&mut handle.events, |event| match &event.body {
                    Body::CommandAnswered(answered) => {
                        Some((answered.command_id.clone(), answered.error.clone()))
                    }
                    _ => None,
                })
                .await;
                assert_eq!(error, None);
                answered.push(id);
            }
            answered.sort();
            assert_eq!(answered, [model, mode], "in any order");
            handle.control.close_input();
            finish(handle).await;
        }),
    ]
}
