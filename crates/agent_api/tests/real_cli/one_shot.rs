//! One prompt, one answer.

use agent_api::{
    Body, CancelOutcome, CostBasis, ErrorClass, Outcome, RunOptions, SessionChoice, ToolKind, ToolState,
};
use libtest_mimic::Trial;
use test_support::fake_model::{Block, scripted_prompt};
use test_support::real_cli::{CURRENT, VERSIONS};

use crate::stage::{finish, is_alive, trial, until};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = VERSIONS
        .iter()
        .map(|version| {
            trial(version, format!("an_answer_of_{version}"), async move |stage| {
                let (events, completed) = stage.play("SCENARIO:bash", stage.options()).await;
                assert_eq!(
                    completed.finished.outcome,
                    Outcome::Succeeded,
                    "{:?}",
                    completed.finished
                );
                assert!(!completed.finished.is_synthetic);
                assert_eq!(
                    completed.final_text.as_deref(),
                    Some("The command printed hello.")
                );
                assert!(completed.session_id.is_some());
                let usage = completed.finished.usage;
                assert!(
                    usage.cost.is_some() && usage.tokens.output > 0 && !usage.is_partial,
                    "{usage:?}"
                );
                let tool = events.iter().find_map(|event| match &event.body {
                    Body::ToolStarted(tool) if tool.state == ToolState::Running => {
                        Some((tool.kind, tool.subject.clone()))
                    }
                    _ => None,
                });
                let (kind, subject) = tool.unwrap();
                assert_eq!(kind, ToolKind::Execute);
                assert!(subject.unwrap().contains("echo hello"));
                assert!(
                    events
                        .iter()
                        .all(|event| event.agent_kind.as_str() == "claude_code")
                );
            })
        })
        .collect();
    trials.extend([
        trial(CURRENT, "the_first_event_comes_before_the_exit", async |stage| {
            let mut handle = stage.start("SCENARIO:gate:held", stage.options()).await;
            stage.model.gate_reached("held").await;
            until(&mut handle.events, |event| matches!(event.body, Body::Delta(_)).then_some(())).await;
            assert!(is_alive(handle.control.pid()));
            stage.model.open_gate("held");
            let (_, completed) = finish(handle).await;
            assert!(completed.is_success());
        }),
        trial(CURRENT, "a_cancelled_run_says_so_and_leaves_nothing_behind", async |stage| {
            let input = serde_json::json!({"command": "echo $$ > shell.pid; exec sleep 600", "description": "Sleep"});
            let prompt = scripted_prompt(&[vec![Block::tool("Bash", input)]]);
            let handle = stage.start(&prompt, stage.options()).await;
            let pid_file = stage.workspace.path().join("shell.pid");
            let pid: u32 = loop {
                let written = std::fs::read_to_string(&pid_file).ok();
                if let Some(pid) = written.and_then(|text| text.trim().parse().ok()) {
                    break pid;
                }
                tokio::task::yield_now().await;
            };
            assert!(is_alive(pid));
            assert_eq!(handle.control.cancel(), CancelOutcome::Requested);
            assert_eq!(handle.control.cancel(), CancelOutcome::AlreadyRequested);
            let control = handle.control.clone();
            let (_, completed) = finish(handle).await;
            assert_eq!(completed.finished.outcome, Outcome::Cancelled);
            assert!(!is_alive(pid));
            assert_eq!(control.cancel(), CancelOutcome::AlreadyRequested);
        }),
        trial(CURRENT, "an_error_of_the_api_is_classified", async |stage| {
            let mut options = stage.options();
            options.environment = options.environment.set("CLAUDE_CODE_MAX_RETRIES", "1");
            let (events, completed) = stage.play("SCENARIO:err401", options).await;
            assert_eq!(completed.finished.outcome, Outcome::Failed);
            assert_eq!(completed.finished.error.as_ref().unwrap().class, ErrorClass::Auth);
            assert!(events.iter().any(|event| matches!(event.body, Body::RetryScheduled(_))));
        }),
        trial(CURRENT, "a_refusal_to_start_says_why", async |stage| {
            let mut options = stage.options();
            options.extra_args.push("--no-such-option".into());
            let (_, completed) = stage.play("SCENARIO:bash", options).await;
            assert_eq!(completed.finished.outcome, Outcome::Failed);
            let error = completed.finished.error.unwrap();
            assert_eq!((error.class, error.code.as_str()), (ErrorClass::Config, "unknown_option"));
            assert!(error.message.contains("--no-such-option"), "{}", error.message);
            assert!(completed.finished.is_synthetic);
        }),
        trial(CURRENT, "a_resumed_session_goes_on_and_does_not_pay_twice", async |stage| {
            let (_, first) = stage.play("SCENARIO:chat one", stage.options()).await;
            let session_id = first.session_id.clone().unwrap();
            let mut options = stage.options();
            options.session = Some(SessionChoice::Resume(session_id.clone()));
            options.cost_basis = Some(CostBasis::Resumed {
                session_total: first.session_total.unwrap(),
            });
            let (_, second) = stage.play("SCENARIO:chat two", options).await;
            assert_eq!(second.session_id.as_deref(), Some(session_id.as_str()));
            assert!(second.final_text.as_deref().unwrap().contains("chat one"));
            let (one, two) = (first.finished.usage, second.finished.usage);
            let ratio = two.cost.unwrap().micro_usd.as_usd() / one.cost.unwrap().micro_usd.as_usd();
            assert!(ratio < 1.5, "{ratio}");
            assert!(!two.may_include_earlier_runs);
            let mut options = stage.options();
            options.session = Some(SessionChoice::fork(session_id.clone()));
            let (_, fork) = stage.play("SCENARIO:chat three", options).await;
            assert_ne!(fork.session_id, Some(session_id));
            assert!(fork.is_success());
        }),
        trial(CURRENT, "the_installed_version_is_found", async |stage| {
            let report = stage.registry.detect(&RunOptions::new()).await;
            let found = report.first().unwrap().found.as_ref().unwrap();
            assert_eq!(found.version.unwrap().to_string(), CURRENT);
        }),
    ]);
    trials
}
