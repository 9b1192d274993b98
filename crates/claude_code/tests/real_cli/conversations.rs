//! Two-way: messages, permissions, questions, interrupts.

use claude_code::event::{CanUseTool, ControlRequestBody, PermissionMode as WireMode, System};
use claude_code::input::PermissionAnswer;
use claude_code::{
    Event, Kind, PartialMessages, PermissionHost, PermissionMode, Receipt, RunOptions, Session,
    SessionRequest,
};
use libtest_mimic::Trial;

use super::stage::{Stage, last_result, long_tool_prompt, over_each, rest, until, uses_bash};

async fn converse(stage: &Stage, options: RunOptions) -> Session {
    let request = SessionRequest::new().options(options.permission_host(PermissionHost::Caller));
    stage.client.session(request).await.unwrap()
}

fn is_result(event: &Event) -> bool {
    matches!(event.kind(), Kind::Result(_))
}

/// The request to use a tool, if that is what the event is.
fn asked(event: &Event) -> Option<(String, &CanUseTool)> {
    let Kind::ControlRequest(request) = event.kind() else {
        return None;
    };
    let ControlRequestBody::CanUseTool(tool) = &request.body else {
        return None;
    };
    Some((request.request_id.as_deref()?.to_owned(), tool))
}

fn asking(stage: &Stage) -> RunOptions {
    stage
        .options_with(PermissionMode::Ask)
        .partial_messages(PartialMessages::Off)
}

pub(crate) fn trials() -> Vec<Trial> {
    [
        over_each("two_messages_are_two_turns_of_one_process", |stage| async move {
            let mut session = converse(&stage, stage.options()).await;
            let first = session.sender.send("SCENARIO:chat one").await.unwrap();
            let mut completed = Vec::new();
            until(&mut session.events, |event| {
                completed.extend(Receipt::from_event(event).map(|receipt| receipt.message));
                is_result(event)
            })
            .await;
            session.sender.send("SCENARIO:chat two").await.unwrap();
            let second = until(&mut session.events, is_result).await;
            let Kind::Result(result) = second.kind() else {
                unreachable!()
            };
            let said = result.result.as_deref().unwrap_or_default();
            assert!(said.contains("chat one") && said.contains("chat two"), "{said}");
            assert!(completed.contains(&first), "no receipt for the first message");
            session.sender.close().await;
            rest(&mut session.events).await;
            assert!(session.completion.await.unwrap().exit.success());
        }),
        over_each(
            "an_allowed_tool_runs_with_the_input_of_the_answer",
            |stage| async move {
                let mut session = converse(&stage, asking(&stage)).await;
                session.sender.send("SCENARIO:write").await.unwrap();
                let request = until(&mut session.events, |event| asked(event).is_some()).await;
                let (id, tool) = asked(&request).unwrap();
                assert_eq!(tool.tool_name.as_deref(), Some("Write"));
                let mut input: serde_json::Value = tool.input.as_ref().unwrap().deserialize().unwrap();
                input["content"] = "changed by the person asked".into();
                let answer = PermissionAnswer::Allow {
                    input: serde_json::value::to_raw_value(&input).unwrap(),
                    permissions: Vec::new(),
                };
                session.sender.answer(&id, answer).await.unwrap();
                until(&mut session.events, is_result).await;
                session.sender.close().await;
                let written = std::fs::read_to_string(stage.workspace.path().join("new_file.txt")).unwrap();
                assert_eq!(written, "changed by the person asked");
            },
        ),
        over_each("an_interrupt_ends_a_streaming_answer", |stage| async move {
            let mut session = converse(&stage, stage.options()).await;
            session.sender.send("SCENARIO:gate:held").await.unwrap();
            stage.model.gate_reached("held").await;
            until(&mut session.events, |event| {
                matches!(event.kind(), Kind::StreamEvent(_))
            })
            .await;
            let sender = session.sender.clone();
            let interrupt = tokio::spawn(async move { sender.interrupt().await });
            let result = until(&mut session.events, is_result).await;
            interrupt.await.unwrap().unwrap();
            assert!(!last_result(&[result]).is_success());
            session.sender.close().await;
            rest(&mut session.events).await;
        }),
        over_each(
            "a_denied_tool_does_not_run_and_the_turn_goes_on",
            |stage| async move {
                let mut session = converse(&stage, asking(&stage)).await;
                session.sender.send("SCENARIO:write").await.unwrap();
                let request = until(&mut session.events, |event| asked(event).is_some()).await;
                let (id, _) = asked(&request).unwrap();
                session
                    .sender
                    .answer(&id, PermissionAnswer::deny("not this file"))
                    .await
                    .unwrap();
                let result = until(&mut session.events, is_result).await;
                session.sender.close().await;
                assert!(last_result(&[result]).is_success());
                assert!(!stage.workspace.path().join("new_file.txt").exists());
            },
        ),
        over_each(
            "a_question_is_answered_even_when_permissions_are_bypassed",
            |stage| async move {
                let mut session = converse(&stage, stage.options()).await;
                session.sender.send("SCENARIO:ask").await.unwrap();
                let request = until(&mut session.events, |event| asked(event).is_some()).await;
                let (id, tool) = asked(&request).unwrap();
                assert!(tool.requires_user_interaction);
                let input = tool.input.as_ref().unwrap();
                let answers = [("Which color should the button be?", "Blue")];
                session
                    .sender
                    .answer_questions(&id, input, answers)
                    .await
                    .unwrap();
                let mut answered = false;
                until(&mut session.events, |event| {
                    answered |= matches!(event.kind(), Kind::User(_))
                        && event.raw().windows(4).any(|text| text == b"Blue");
                    is_result(event)
                })
                .await;
                assert!(answered, "the answer must reach the model");
                session.sender.close().await;
            },
        ),
        over_each(
            "an_interrupt_ends_the_turn_and_the_session_goes_on",
            |stage| async move {
                let mut session = converse(&stage, stage.options()).await;
                session.sender.send(long_tool_prompt()).await.unwrap();
                until(&mut session.events, uses_bash).await;
                stage.tool_started().await;
                let sender = session.sender.clone();
                let interrupt = tokio::spawn(async move { sender.interrupt().await });
                let result = until(&mut session.events, is_result).await;
                interrupt.await.unwrap().unwrap();
                assert!(!last_result(&[result]).is_success());
                session.sender.send("SCENARIO:plain").await.unwrap();
                let result = until(&mut session.events, is_result).await;
                assert!(last_result(&[result]).is_success());
                session.sender.close().await;
                rest(&mut session.events).await;
            },
        ),
        over_each("model_and_permission_mode_can_be_changed", |stage| async move {
            let mut session = converse(&stage, asking(&stage)).await;
            session.sender.send("SCENARIO:chat").await.unwrap();
            until(&mut session.events, is_result).await;
            session
                .sender
                .set_permission_mode(PermissionMode::AcceptEdits)
                .await
                .unwrap();
            session.sender.set_model(Some("claude-sonnet-5")).await.unwrap();
            session.sender.send("SCENARIO:write").await.unwrap();
            let mut changed = false;
            until(&mut session.events, |event| {
                if let Kind::System(System::Init(init)) = event.kind() {
                    changed |= init.permission_mode == Some(WireMode::AcceptEdits);
                }
                assert!(asked(event).is_none(), "edits need no permission any more");
                is_result(event)
            })
            .await;
            assert!(changed);
            assert!(stage.workspace.path().join("new_file.txt").exists());
            let models: Vec<String> = stage
                .model
                .requests()
                .iter()
                .filter_map(|request| Some(request.body["model"].as_str()?.to_owned()))
                .collect();
            assert!(
                models.iter().any(|model| model == "claude-sonnet-5"),
                "{models:?}"
            );
            session.sender.close().await;
        }),
        over_each(
            "an_unknown_control_request_is_refused_with_its_code",
            |stage| async move {
                let session = converse(&stage, stage.options()).await;
                let request = claude_code::input::HostRequest::other("no_such_request");
                let error = session.sender.control(&request).await.unwrap_err();
                let claude_code::Error::Refused { subtype, code, .. } = error else {
                    unreachable!("{error}")
                };
                assert_eq!(
                    (subtype.as_str(), code.as_deref()),
                    ("no_such_request", Some("unsupported_request"))
                );
                session.sender.end().await.unwrap();
            },
        ),
        over_each("a_prompt_is_data", |stage| async move {
            let mut session = converse(&stage, stage.options()).await;
            session
                .sender
                .send("/help SCENARIO:plain @hello.txt")
                .await
                .unwrap();
            until(&mut session.events, is_result).await;
            session.sender.close().await;
            let request = stage
                .model
                .wait_for_request(|request| request.path.starts_with("/v1/messages"))
                .await;
            let texts = request.user_texts().join("\n");
            assert!(texts.contains("/help SCENARIO:plain @hello.txt"), "{texts}");
            assert!(
                !texts.contains("second line"),
                "the file must not be expanded: {texts}"
            );
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}
