//! Conversations that go on: resumed, forked, continued; and what they cost.

use claude_code::{PartialMessages, Request, SessionChoice};
use libtest_mimic::Trial;

use super::stage::{Stage, last_result, over_each, session_id};

/// The scripted model repeats the user's messages that it can see.
fn turns(said: &str) -> usize {
    said.matches("SCENARIO:chat").count()
}

async fn chat(stage: &Stage, session: SessionChoice) -> (String, String) {
    let options = stage
        .options()
        .partial_messages(PartialMessages::Off)
        .session(session);
    let (events, code) = stage.play("chat", options).await;
    assert_eq!(code, 0);
    (
        session_id(&events),
        last_result(&events)
            .result
            .as_deref()
            .unwrap_or_default()
            .to_owned(),
    )
}

pub(crate) fn trials() -> Vec<Trial> {
    [
        over_each("a_preset_session_id_is_used_and_resumed", |stage| async move {
            let id = uuid::Uuid::now_v7().to_string();
            let (first, said) = chat(&stage, SessionChoice::NewWithId(id.to_string())).await;
            assert_eq!(first, id.as_str());
            assert_eq!(turns(&said), 1, "{said}");
            let (again, said) = chat(&stage, SessionChoice::Resume(id.to_string())).await;
            assert_eq!(again, id.as_str());
            assert_eq!(turns(&said), 2, "{said}");
        }),
        over_each(
            "a_fork_gets_another_id_and_leaves_the_original",
            |stage| async move {
                let id = uuid::Uuid::now_v7().to_string();
                chat(&stage, SessionChoice::NewWithId(id.to_string())).await;
                let fork = uuid::Uuid::now_v7().to_string();
                let choice = SessionChoice::Fork {
                    id: id.to_string(),
                    new_id: Some(fork.to_string()),
                };
                let (forked, said) = chat(&stage, choice).await;
                assert_eq!(forked, fork.as_str());
                assert_eq!(turns(&said), 2, "{said}");
                let (_, said) = chat(&stage, SessionChoice::Resume(id.to_string())).await;
                assert_eq!(turns(&said), 2, "the fork must not be in the original: {said}");
            },
        ),
        over_each("continue_takes_the_latest_of_the_directory", |stage| async move {
            let (first, _) = chat(&stage, SessionChoice::New).await;
            let (again, said) = chat(&stage, SessionChoice::Last).await;
            assert_eq!(again, first);
            assert_eq!(turns(&said), 2, "{said}");
        }),
        over_each(
            "resuming_an_unknown_session_fails_with_a_result",
            |stage| async move {
                let choice = SessionChoice::Resume(uuid::Uuid::now_v7().to_string());
                let (events, code) = stage.play("chat", stage.options().session(choice)).await;
                assert_eq!((code, last_result(&events).is_success()), (1, false));
            },
        ),
        over_each("the_cost_of_a_resumed_run_is_counted_once", |stage| async move {
            let id = uuid::Uuid::now_v7().to_string();
            let run = |session| {
                let options = stage.options().session(session);
                stage.client.run(Request::new("SCENARIO:chat").options(options))
            };
            let first = run(SessionChoice::NewWithId(id.to_string())).await.unwrap();
            let second = run(SessionChoice::Resume(id.to_string())).await.unwrap();
            let (first_cost, second_cost) = (first.total_cost.unwrap(), second.total_cost.unwrap());
            assert!(first_cost > claude_code::MicroUsd::ZERO);
            // Each turn of the scripted model costs about the same; twice as much would be the session's total.
            assert!(
                second_cost < first_cost + first_cost,
                "{second_cost:?} after {first_cost:?}"
            );
            assert_eq!(second.session_total.unwrap(), first_cost + second_cost);
            assert!(!second.degraded && second.is_success());
            assert_eq!(second.final_text, second.stream_text);
        }),
        over_each(
            "a_run_names_its_log_and_everything_a_caller_needs",
            |stage| async move {
                let request = Request::new("SCENARIO:bash").options(stage.options());
                let response = stage.client.run(request).await.unwrap();
                assert!(response.is_success());
                assert_eq!(response.final_text, "The command printed hello.");
                assert_eq!(response.version.as_deref(), Some(test_support::real_cli::CURRENT));
                assert!(response.session_id.is_some() && response.model.is_some());
                assert!(response.usage.output > 0 && response.usage.input > 0);
                let log = std::fs::read(response.raw_log.unwrap()).unwrap();
                // A terminal is left with an escape sequence after the last line.
                assert!(log.windows(2).any(|end| end == b"}\n"));
            },
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
