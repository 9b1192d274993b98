//! Older releases: the same client, the same tests. Over the spool, which their Node needs to lose nothing.

use claude_code::{Kind, PartialMessages, Probe, Request, SessionChoice, StdoutMode};
use libtest_mimic::Trial;
use test_support::real_cli::VERSIONS;

use super::stage::{Stage, gists, last_result, session_id, trial_of};

pub(crate) fn trials() -> Vec<Trial> {
    VERSIONS.iter().flat_map(|version| of(version)).collect()
}

async fn probe(stage: &Stage) -> Probe {
    stage.client.probe().await.unwrap()
}

fn of(version: &'static str) -> Vec<Trial> {
    let name = |what: &str| format!("v{}_{what}", version.replace('.', "_"));
    vec![
        trial_of(
            version,
            StdoutMode::Spool,
            name("is_probed"),
            move |stage| async move {
                let probe = probe(&stage).await;
                assert_eq!(probe.version.to_string(), version);
            },
        ),
        trial_of(
            version,
            StdoutMode::Spool,
            name("runs_tools"),
            |stage| async move {
                let (events, code) = stage.play("bash", stage.options()).await;
                assert!(last_result(&events).is_success(), "{:?}", gists(&events));
                assert_eq!(code, 0);
                assert!(gists(&events).iter().any(|gist| gist.contains("call Bash")));
                assert!(
                    events
                        .iter()
                        .all(|event| !matches!(event.kind(), Kind::Unknown { .. }))
                );
            },
        ),
        trial_of(version, StdoutMode::Spool, name("resumes"), |stage| async move {
            let (events, _) = stage.play("chat", stage.options()).await;
            let session = SessionChoice::Resume(session_id(&events));
            let options = stage.options().session(session);
            let (events, _) = stage.play("chat", options).await;
            let said = last_result(&events)
                .result
                .as_deref()
                .unwrap_or_default()
                .to_owned();
            assert_eq!(said.matches("SCENARIO:chat").count(), 2, "{said}");
        }),
        trial_of(
            version,
            StdoutMode::Spool,
            name("takes_a_system_prompt"),
            |stage| async move {
                let prompt = claude_code::SystemPrompt::Text("You are the scripted test agent ZEBRA.".into());
                let options = stage
                    .options()
                    .partial_messages(PartialMessages::Off)
                    .append_system_prompt(prompt);
                let (events, _) = stage.play("plain", options).await;
                assert!(last_result(&events).is_success());
                let requests = stage.model.requests();
                assert!(
                    requests
                        .iter()
                        .any(|request| request.body["system"].to_string().contains("ZEBRA"))
                );
            },
        ),
        trial_of(
            version,
            StdoutMode::Spool,
            name("ends_with_an_api_error"),
            |stage| async move {
                let request = Request::new("SCENARIO:err400").options(stage.options());
                let response = stage.client.run(request).await.unwrap();
                assert!(!response.is_success());
                assert_eq!(response.exit.exit, agent_process::Exit::Code(1));
            },
        ),
    ]
}
