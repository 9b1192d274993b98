//! The demo agent through `agent_api`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use agent_api::{
    AgentRegistry, Answer, Body, Close, Completed, Environment, Error, Event, Events, Input, Outcome, Part,
    PermissionHost, PlanStatus, QuestionAsked, RunHandle, RunOptions, RunRequest, ToolKind, ToolStatus,
};
use demo_agent::{Demo, SPEED_EXTENSION};
use serde_json::{Value, json};
use tempfile::tempdir;

const LIMIT: Duration = Duration::from_secs(60);

fn registry() -> AgentRegistry {
    let program = env!("CARGO_BIN_EXE_demo_agent");
    AgentRegistry::new()
        .with(Demo::program(program, [""; 0]))
        .unwrap()
}

fn request(directory: &Path, speed: Value) -> RunRequest {
    let mut options = RunOptions::new();
    options.cwd = Some(directory.to_owned());
    options.environment = Environment::clear();
    options.extensions = [(SPEED_EXTENSION.to_owned(), speed)].into();
    RunRequest::new("Make the greeting work.").options(options)
}

async fn start(request: RunRequest) -> RunHandle {
    registry().run("demo", request).await.unwrap()
}

/// A run that can be answered, up to its question.
async fn question(directory: &Path) -> (RunHandle, QuestionAsked) {
    let mut request = request(directory, json!("max")).input(Input::Messages(Close::WhenIdle));
    request.options.permission_host = Some(PermissionHost::Caller);
    let mut handle = start(request).await;
    loop {
        if let Body::QuestionAsked(question) = next(&mut handle.events).await.body {
            return (handle, *question);
        }
    }
}

async fn next(events: &mut Events) -> Event {
    let event = tokio::time::timeout(LIMIT, events.next()).await;
    event.expect("this hangs").expect("the events have ended")
}

async fn rest(mut handle: RunHandle) -> (Vec<Event>, Completed) {
    let mut events = Vec::new();
    let read = async {
        while let Some(event) = handle.events.next().await {
            events.push(event);
        }
        handle.completion.await.unwrap()
    };
    let completed = tokio::time::timeout(LIMIT, read).await.expect("this hangs");
    (events, completed)
}

fn script(directory: &Path) -> String {
    std::fs::read_to_string(directory.join("ralph-demo/greet.sh")).unwrap()
}

#[tokio::test]
async fn a_run_shows_all_that_an_agent_can_do() {
    let directory = tempdir().unwrap();
    let (events, completed) = rest(start(request(directory.path(), json!(0))).await).await;
    assert!(completed.is_success(), "{:?}", completed.finished);
    assert_eq!(
        completed
            .final_text
            .as_deref()
            .and_then(|text| text.lines().last()),
        Some("LOOP_COMPLETE")
    );
    assert!(completed.session_id.is_some());
    let mut tools: BTreeMap<(Sort, bool), usize> = BTreeMap::new();
    let mut kinds = BTreeMap::new();
    let mut diffs = 0;
    let mut finished_plans = 0;
    for event in &events {
        match &event.body {
            Body::ToolStarted(tool) => {
                kinds.insert(tool.item.clone(), Sort::of(tool.kind));
            }
            Body::ToolFinished(tool) => {
                let is_done = tool.status == ToolStatus::Completed;
                *tools.entry((kinds[&tool.item], is_done)).or_default() += 1;
                diffs += tool.changes.iter().filter(|change| change.diff.is_some()).count();
            }
            Body::PlanUpdated(plan) => {
                finished_plans += usize::from(
                    plan.entries
                        .iter()
                        .all(|entry| entry.status == PlanStatus::Completed),
                );
            }
            Body::Unknown(_) | Body::Error(_) => panic!("{event:?}"),
            _ => {}
        }
    }
    let expected = [
        ((Sort::Execute, false), 1),
        ((Sort::Execute, true), 1),
        ((Sort::Read, true), 1),
        ((Sort::Edit, true), 1),
    ];
    for (tool, count) in expected {
        assert_eq!(tools.get(&tool), Some(&count), "{tool:?} in {tools:?}");
    }
    assert_eq!((diffs, finished_plans), (1, 1));
    let has = |is_such: fn(&Body) -> bool| events.iter().any(|event| is_such(&event.body));
    assert!(has(|body| matches!(body, Body::ThinkingBlock(_))));
    assert!(has(|body| matches!(body, Body::Usage(_))));
    assert!(
        completed.finished.usage.cost.is_some(),
        "{:?}",
        completed.finished
    );
}

/// Ordered, for a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Execute,
    Read,
    Edit,
    Other,
}

impl Sort {
    fn of(kind: ToolKind) -> Self {
        match kind {
            ToolKind::Execute => Self::Execute,
            ToolKind::Read => Self::Read,
            ToolKind::Edit => Self::Edit,
            _ => Self::Other,
        }
    }
}

#[tokio::test]
async fn text_comes_in_pieces_and_they_make_up_the_blocks() {
    let directory = tempdir().unwrap();
    let (events, _) = rest(start(request(directory.path(), json!("max"))).await).await;
    let mut pieces: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut blocks = 0;
    for event in &events {
        match &event.body {
            Body::Delta(delta) if delta.part == Part::Text => {
                let entry = pieces.entry(delta.item.to_string()).or_default();
                entry.0 += 1;
                entry.1.push_str(&delta.text);
            }
            Body::TextBlock(block) => {
                blocks += 1;
                assert_eq!(pieces[&block.item.to_string()].1, block.text);
            }
            _ => {}
        }
    }
    assert!(
        blocks >= 4 && pieces.values().any(|(count, _)| *count > 4),
        "{pieces:?}"
    );
}

#[tokio::test]
async fn an_answer_changes_what_the_agent_does() {
    let directory = tempdir().unwrap();
    let (handle, asked) = question(directory.path()).await;
    let answers = vec![(asked.questions[0].text.clone(), "Good day".to_owned())];
    handle
        .control
        .answer(&asked.request, Answer::Answers(answers))
        .unwrap();
    let (_, completed) = rest(handle).await;
    assert!(completed.is_success());
    assert!(script(directory.path()).contains("greeting=\"Good day\""));
}

#[tokio::test]
async fn without_an_answer_the_agent_decides_by_itself() {
    let directory = tempdir().unwrap();
    let (handle, asked) = question(directory.path()).await;
    let reason = "Nobody is available, decide yourself.".to_owned();
    handle
        .control
        .answer(&asked.request, Answer::Deny { reason })
        .unwrap();
    let (_, completed) = rest(handle).await;
    assert!(completed.is_success());
    assert!(script(directory.path()).contains("greeting=\"Hello\""));

    let directory = tempdir().unwrap();
    let (handle, _) = question(directory.path()).await;
    handle.control.close_input();
    let (_, completed) = rest(handle).await;
    assert!(completed.is_success());
    assert!(script(directory.path()).contains("greeting=\"Hello\""));
}

#[tokio::test]
async fn an_interrupted_run_can_be_talked_to() {
    let directory = tempdir().unwrap();
    let request = request(directory.path(), json!(0.5)).input(Input::Messages(Close::ByCaller));
    let mut handle = start(request).await;
    while !matches!(next(&mut handle.events).await.body, Body::Delta(_)) {}
    handle.control.interrupt().unwrap();
    let turn = loop {
        if let Body::TurnFinished(turn) = next(&mut handle.events).await.body {
            break turn;
        }
    };
    assert_eq!(turn.outcome, Outcome::Interrupted);
    handle.control.send("Are you there?").unwrap();
    handle.control.close_input();
    let (_, completed) = rest(handle).await;
    assert!(completed.is_success(), "{:?}", completed.finished);
}

#[tokio::test]
async fn a_signal_ends_a_run_with_a_result() {
    let directory = tempdir().unwrap();
    let mut handle = start(request(directory.path(), json!(0.5))).await;
    while !matches!(next(&mut handle.events).await.body, Body::Delta(_)) {}
    handle.control.interrupt().unwrap();
    let (_, completed) = rest(handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Interrupted);
    assert_eq!(completed.exit.exit, agent_process::Exit::Code(0));
}

#[tokio::test]
async fn a_speed_that_is_none_is_refused_before_anything_is_started() {
    let directory = tempdir().unwrap();
    for speed in [json!(-1), json!("fast"), json!(null), json!([1])] {
        let refused = registry().run("demo", request(directory.path(), speed)).await;
        assert!(
            matches!(refused, Err(Error::InvalidRequest { .. })),
            "{refused:?}"
        );
    }
    let mut unknown = request(directory.path(), json!(1));
    unknown
        .options
        .extensions
        .insert("agent_api.demo.colour.v1".to_owned(), json!(1));
    let refused = registry().run("demo", unknown).await;
    assert!(
        matches!(refused, Err(Error::UnsupportedCapability { .. })),
        "{refused:?}"
    );
    assert!(directory.path().read_dir().unwrap().next().is_none());
}
