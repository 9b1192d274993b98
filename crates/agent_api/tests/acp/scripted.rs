//! A scripted ACP agent, and runs of it.

use std::time::Duration;

use agent_api::backends::acp::Acp;
use agent_api::{
    AgentRegistry, Body, Close, Completed, Environment, Event, Events, Finished, Input, PermissionMode,
    RunHandle, RunOptions, RunRequest,
};
use serde_json::{Value, json};
use test_support::script::{Script, ScriptedAgent};

/// Nothing here takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// The id of the first prompt, after `initialize` and `session/new`.
pub(crate) const PROMPT: u64 = 3;

/// An agent that answers `initialize` with these capabilities.
pub(crate) fn initialized(capabilities: &Value) -> Script {
    let info = json!({"name": "scripted", "version": "1.0.0"});
    let result = json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities});
    Script::new()
        .expect_line(
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
        )
        .emit(result_line(1, &result))
}

/// An agent that has opened a session with these choices and read the first prompt.
pub(crate) fn prompted_with(choices: &Value) -> Script {
    let mut result = json!({"sessionId": "s1"});
    result
        .as_object_mut()
        .unwrap()
        .extend(choices.as_object().unwrap().clone());
    initialized(&json!({}))
        .expect_line(json!({"id": 2, "method": "session/new", "params": {"mcpServers": []}}))
        .emit(result_line(2, &result))
}

pub(crate) fn prompted() -> Script {
    prompted_with(&json!({})).expect_line(prompt(PROMPT, "Go."))
}

pub(crate) fn prompt(id: u64, text: &str) -> Value {
    let prompt = json!([{"type": "text", "text": text}]);
    json!({"id": id, "method": "session/prompt", "params": {"sessionId": "s1", "prompt": prompt}})
}

pub(crate) fn result_line(id: u64, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}

pub(crate) fn error_line(id: u64, code: i64, message: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string()
}

pub(crate) fn stopped(id: u64, reason: &str) -> String {
    result_line(id, &json!({"stopReason": reason}))
}

pub(crate) fn update(update: &Value) -> String {
    let params = json!({"sessionId": "s1", "update": update});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string()
}

pub(crate) fn text_chunk(text: &str) -> String {
    update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
}

/// A request for permission to run a command, with the agent's id `"p1"`.
pub(crate) fn permission_request() -> String {
    let options = json!([
        {"optionId": "always", "kind": "allow_always", "name": "Always"},
        {"optionId": "once", "kind": "allow_once", "name": "Once"},
        {"optionId": "no", "kind": "reject_once", "name": "No"},
    ]);
    let call =
        json!({"toolCallId": "c1", "title": "Run it", "kind": "execute", "rawInput": {"command": "make"}});
    let params = json!({"sessionId": "s1", "toolCall": call, "options": options});
    json!({"jsonrpc": "2.0", "id": "p1", "method": "session/request_permission", "params": params})
        .to_string()
}

pub(crate) fn selected(option: &str) -> Value {
    json!({"id": "p1", "result": {"outcome": {"outcome": "selected", "optionId": option}}})
}

pub(crate) struct Played {
    pub(crate) handle: RunHandle,
    /// Keeps the script.
    _agent: ScriptedAgent,
}

pub(crate) fn options() -> RunOptions {
    let mut options = RunOptions::new();
    options.environment.base = Environment::clear().base;
    options
}

pub(crate) fn in_mode(mode: PermissionMode) -> RunOptions {
    let mut options = options();
    options.permission_mode = Some(mode);
    options
}

/// A run whose caller can answer and say more.
pub(crate) fn conversation(mut options: RunOptions, close: Close) -> RunRequest {
    options.permission_host = Some(agent_client::PermissionHost::Caller);
    RunRequest::new("Go.")
        .options(options)
        .input(Input::Messages(close))
}

pub(crate) async fn play(script: &Script, request: RunRequest) -> Played {
    play_with(script, request, |backend| backend).await
}

pub(crate) async fn play_with(
    script: &Script,
    request: RunRequest,
    change: impl FnOnce(Acp) -> Acp,
) -> Played {
    let agent = script.install().unwrap();
    let backend = change(Acp::custom(&agent.program, agent.arguments.clone()));
    let registry = AgentRegistry::new().with(backend).unwrap();
    let handle = registry.run("acp", request).await.unwrap();
    Played {
        handle,
        _agent: agent,
    }
}

/// Plays a script to its end with the prompt only.
pub(crate) async fn run(script: &Script) -> (Vec<Event>, Finished) {
    run_with(script, options()).await
}

pub(crate) async fn run_with(script: &Script, options: RunOptions) -> (Vec<Event>, Finished) {
    let played = play(script, RunRequest::new("Go.").options(options)).await;
    let (events, completed) = ending(played).await;
    (events, completed.finished)
}

pub(crate) async fn ending(mut played: Played) -> (Vec<Event>, Completed) {
    let rest = async {
        let mut all = Vec::new();
        while let Some(event) = played.handle.events.next().await {
            all.push(event);
        }
        (all, played.handle.completion.await.unwrap())
    };
    let (events, completed) = tokio::time::timeout(LIMIT, rest).await.expect("this hangs");
    let ends = events
        .iter()
        .filter(|event| matches!(event.body, Body::Finished(_)));
    assert_eq!(ends.count(), 1, "exactly one end");
    assert!(
        matches!(events.last().unwrap().body, Body::Finished(_)),
        "the end comes last"
    );
    (events, completed)
}

/// Waits for an event of this name.
pub(crate) async fn wait_for(events: &mut Events, name: &str) -> Event {
    let wait = async {
        loop {
            let event = events.next().await.expect("the stream has ended");
            if event.body.name() == name {
                return event;
            }
        }
    };
    tokio::time::timeout(LIMIT, wait).await.expect("this hangs")
}

pub(crate) fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.body.name()).collect()
}

pub(crate) fn has_notice(events: &[Event], code: &str) -> bool {
    let mut events = events.iter();
    events.any(|event| matches!(&event.body, Body::Notice(notice) if notice.code == code))
}
