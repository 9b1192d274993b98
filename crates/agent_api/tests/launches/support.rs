//! Runs a backend against a scripted program.

use std::path::Path;
use std::time::Duration;

use agent_api::{
    AgentRegistry, Backend, Body, Completed, Environment, Error, Event, InstalledAgent, Launch, LaunchInput,
    RunHandle, RunOptions, RunRequest,
};
use test_support::script::{Script, ScriptedAgent};

/// Longer than any step of these tests takes.
const LIMIT: Duration = Duration::from_secs(60);

/// The launch of a request, with the checks and defaults that a run applies.
pub(crate) fn preview(backend: impl Backend + 'static, request: RunRequest) -> Result<Launch, Error> {
    let name = backend.profile().kind.to_string();
    let found = InstalledAgent {
        program: "/bin/agent".into(),
        version: None,
    };
    AgentRegistry::new()
        .with(backend)?
        .preview(&name, request, &found)
}

pub(crate) fn arguments(backend: impl Backend + 'static, options: RunOptions) -> Vec<String> {
    let launch = preview(backend, RunRequest::new("Go.").options(options)).unwrap();
    let text = |argument: &std::ffi::OsString| argument.to_str().unwrap().to_owned();
    launch.spec.args.iter().map(text).collect()
}

/// The prompt, where it is all that the agent reads.
pub(crate) fn stdin(launch: &Launch) -> &[u8] {
    match &launch.input {
        LaunchInput::Bytes(bytes) => bytes,
        other => panic!("not a prompt: {other:?}"),
    }
}

/// A scripted program and the script that it plays.
pub(crate) fn install(script: &Script) -> (ScriptedAgent, std::path::PathBuf) {
    let agent = script.install().unwrap();
    let program = agent.as_program().unwrap();
    (agent, program)
}

/// Options for a run in an empty environment.
pub(crate) fn isolated() -> RunOptions {
    let mut options = RunOptions::new();
    options.environment = Environment::clear().set("PATH", "/usr/bin:/bin");
    options
}

pub(crate) async fn start(backend: impl Backend + 'static, request: RunRequest) -> RunHandle {
    let name = backend.profile().kind.to_string();
    let registry = AgentRegistry::new().with(backend).unwrap();
    registry.run(&name, request).await.unwrap()
}

pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("the run hangs")
}

/// Reads a run to its end, which must be one `finished`, the last event.
pub(crate) async fn finish(mut handle: RunHandle) -> (Vec<Event>, Completed) {
    let mut events = Vec::new();
    while let Some(event) = soon(handle.events.next()).await {
        events.push(event);
    }
    let completed = soon(handle.completion).await.unwrap();
    let is_end = |event: &&Event| matches!(event.body, Body::Finished(_));
    assert_eq!(events.iter().filter(is_end).count(), 1);
    assert!(events.last().as_ref().is_some_and(is_end));
    (events, completed)
}

/// Runs a script to its end.
pub(crate) async fn play<B: Backend + 'static>(
    backend: impl FnOnce(&Path) -> B,
    script: &Script,
    request: RunRequest,
) -> (Vec<Event>, Completed) {
    let (_agent, program) = install(script);
    finish(start(backend(&program), request).await).await
}
