//! Permissions that are asked for.

use agent_api::{
    Answer, Body, CloseReason, Event, Outcome, PermissionHost, PermissionMode, RequestId, RunOptions,
    RunRequest, ToolKind,
};
use libtest_mimic::Trial;
use test_support::fake_model::{Block, scripted_prompt};

use crate::doors::Door;
use crate::stage::{Stage, finish, trial, until};

pub(crate) fn trials(door: &Door) -> Vec<Trial> {
    if !door.asks {
        return Vec::new();
    }
    let mut trials = vec![
        trial(door, "an_allowed_command_runs", 1, allowed),
        trial(door, "a_denied_command_does_not_run", 1, denied),
        trial(door, "a_closure_denies_a_command", 1, closure),
    ];
    if door.reports_refusals {
        trials.push(trial(door, "a_refused_edit_is_reported", 1, refused_edit));
    }
    trials
}

const ASKED: &str = "touch asked.txt";

fn prompt() -> String {
    scripted_prompt(&[vec![Block::shell(ASKED)], vec![Block::text("Done.")]])
}

fn asking(stage: &Stage) -> RunOptions {
    let mut options = stage.options();
    options.permission_mode = Some(PermissionMode::Ask);
    options.permission_host = Some(PermissionHost::Caller);
    options
}

fn permission(event: &Event) -> Option<RequestId> {
    match &event.body {
        Body::PermissionRequested(asked) => {
            assert_eq!(asked.kind, ToolKind::Execute, "{asked:?}");
            let subject = asked.subject.as_deref().unwrap_or_default();
            assert!(subject.contains(ASKED), "{asked:?}");
            Some(asked.request.clone())
        }
        _ => None,
    }
}

fn closed(events: &[Event]) -> Option<CloseReason> {
    events.iter().find_map(|event| match &event.body {
        Body::RequestClosed(closed) => Some(closed.reason),
        _ => None,
    })
}

async fn allowed(stage: &Stage) {
    let mut handle = stage.start(&prompt(), asking(stage)).await;
    let request = until(&mut handle.events, permission).await;
    handle.control.answer(&request, Answer::Allow).unwrap();
    let (events, completed) = finish(handle).await;
    assert_eq!(
        completed.finished.outcome,
        Outcome::Succeeded,
        "{:?}",
        completed.finished
    );
    assert_eq!(closed(&events), Some(CloseReason::Answered));
    assert!(stage.workspace.path().join("asked.txt").exists());
}

async fn closure(stage: &Stage) {
    let request = RunRequest::new(prompt())
        .options(stage.options().permission_mode(PermissionMode::Ask))
        .on_permission(|_| async { Answer::deny("not now") });
    let (events, completed) = stage.run(request).await.collect().await.unwrap();
    assert_ne!(
        completed.finished.outcome,
        Outcome::Failed,
        "{:?}",
        completed.finished
    );
    assert_eq!(closed(&events), Some(CloseReason::Denied));
    assert!(!stage.workspace.path().join("asked.txt").exists());
}

async fn denied(stage: &Stage) {
    let mut handle = stage.start(&prompt(), asking(stage)).await;
    let request = until(&mut handle.events, permission).await;
    let reason = "not now".to_owned();
    handle.control.answer(&request, Answer::Deny { reason }).unwrap();
    let (events, completed) = finish(handle).await;
    assert_eq!(closed(&events), Some(CloseReason::Denied));
    if stage.door.tells_reason {
        let requests = stage.model.requests();
        let is_told = |body: &str| body.contains("not now");
        assert!(requests.iter().any(|request| is_told(&request.body.to_string())));
    }
    assert!(!stage.workspace.path().join("asked.txt").exists());
    assert_ne!(
        completed.finished.outcome,
        Outcome::Failed,
        "{:?}",
        completed.finished
    );
}

async fn refused_edit(stage: &Stage) {
    let mut options = stage.options();
    options.permission_mode = Some(PermissionMode::Refuse);
    let prompt = scripted_prompt(&[
        vec![Block::write("refused.txt", "hello\n")],
        vec![Block::text("Done.")],
    ]);
    let (events, completed) = finish(stage.start(&prompt, options).await).await;
    assert_ne!(
        completed.finished.outcome,
        Outcome::Failed,
        "{:?}",
        completed.finished
    );
    let denials = events
        .iter()
        .filter(|event| matches!(event.body, Body::PermissionDenied(_)));
    assert_eq!(denials.count(), 1, "{events:?}");
    assert!(!stage.workspace.path().join("refused.txt").exists());
}
