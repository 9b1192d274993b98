//! What the tests of the harness share.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use agent_api::backends::custom::Custom;
use agent_api::{
    AgentRegistry, Body, Close, Completed, Completion, Environment, Event, Events, Finished, Input,
    RunHandle, RunOptions, RunRequest,
};
use tempfile::TempDir;
use test_support::recorded;
use test_support::script::{Script, ScriptedAgent};

use super::line_agent::LineAgent;

/// Nothing here takes so long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A run of a scripted agent that speaks the lines of [`LineAgent`].
pub(crate) struct Played {
    pub(crate) handle: RunHandle,
    lines: Arc<AtomicUsize>,
    /// Keeps the script.
    pub(crate) agent: ScriptedAgent,
}

impl Played {
    pub(crate) fn lines_mapped(&self) -> usize {
        self.lines.load(Ordering::Relaxed)
    }
}

pub(crate) fn request(options: RunOptions) -> RunRequest {
    RunRequest::new("Go.").options(isolated(options))
}

pub(crate) fn two_way(close: Close) -> RunRequest {
    request(RunOptions::new()).input(Input::Messages(close))
}

/// The agent gets an environment of its own, with nothing in it.
fn isolated(mut options: RunOptions) -> RunOptions {
    options.environment.base = Environment::clear().base;
    options
}

pub(crate) async fn play(script: &Script) -> Played {
    play_request(script, request(RunOptions::new())).await
}

pub(crate) async fn play_request(script: &Script, request: RunRequest) -> Played {
    let agent = script.install().unwrap();
    let backend = LineAgent::new(&agent);
    let lines = backend.lines.clone();
    let registry = AgentRegistry::new().with(backend).unwrap();
    let handle = registry.run("line_agent", request).await.unwrap();
    Played { handle, lines, agent }
}

/// A run of a shell script as a custom command.
pub(crate) async fn shell(script: &str) -> RunHandle {
    shell_with(script, RunOptions::new()).await
}

pub(crate) async fn shell_with(script: &str, options: RunOptions) -> RunHandle {
    let registry = AgentRegistry::new()
        .with(Custom::new("/bin/sh", ["-c", script]))
        .unwrap();
    registry.run("custom", request(options)).await.unwrap()
}

/// Waits for something that must happen soon.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("this hangs")
}

pub(crate) async fn next(events: &mut Events) -> Event {
    soon(events.next()).await.expect("the stream has ended")
}

pub(crate) async fn rest(events: &mut Events) -> Vec<Event> {
    let mut all = Vec::new();
    while let Some(event) = soon(events.next()).await {
        all.push(event);
    }
    all
}

/// Reads a run to its end, which must be one honest [`Finished`].
pub(crate) async fn ending(mut handle: RunHandle) -> (Vec<Event>, Completed) {
    let mut events = rest(&mut handle.events).await;
    let completed = soon(handle.completion).await.unwrap();
    assert_eq!(take_finished(&mut events), completed.finished);
    (events, completed)
}

/// Takes the one [`Finished`] from the end.
pub(crate) fn take_finished(events: &mut Vec<Event>) -> Finished {
    let count = events.iter().filter(|event| is_finished(event)).count();
    assert_eq!(count, 1, "exactly one end: {events:?}");
    let last = events.pop().map(|event| event.body);
    let Some(Body::Finished(finished)) = last else {
        panic!("the end is not the last event: {last:?}");
    };
    *finished
}

pub(crate) fn is_finished(event: &Event) -> bool {
    matches!(event.body, Body::Finished(_))
}

/// All text of blocks.
pub(crate) fn text(events: &[Event]) -> String {
    let text = |event: &Event| match &event.body {
        Body::TextBlock(block) => Some(block.text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

pub(crate) fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.body.name()).collect()
}

/// Whether a completion is there already.
pub(crate) async fn is_resolved(completion: &mut Completion) -> bool {
    let mut completion = pin!(completion);
    std::future::poll_fn(|context| Poll::Ready(completion.as_mut().poll(context).is_ready())).await
}

/// Lets every other task of a single-threaded runtime do all it can do without waiting.
pub(crate) async fn let_others_run() {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
}

/// Waits until no process that recorded itself there is alive.
pub(crate) async fn gone(directory: &Path) {
    let directory = directory.to_owned();
    let waited = tokio::task::spawn_blocking(move || recorded::wait_until_gone(&directory, LIMIT));
    waited
        .await
        .unwrap()
        .unwrap()
        .expect("a process outlives its run");
}

pub(crate) fn folder() -> TempDir {
    TempDir::with_prefix("agent-api-").unwrap()
}

/// Opens a gate that a script waits for.
pub(crate) fn open(gate: &Path) {
    std::fs::write(gate, "").unwrap();
}
