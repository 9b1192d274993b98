//! What the tests of the client share.

use std::time::Duration;

use claude_code::{Capabilities, Client, ClientBuilder, Environment, Event, Events, Kind, LineError};
use test_support::script::{Script, ScriptedAgent};

/// Nothing here takes so long unless it hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// A client whose CLI plays a script, in an environment that holds nothing else.
pub(crate) fn builder(agent: &ScriptedAgent) -> ClientBuilder {
    let environment = agent
        .environment
        .iter()
        .fold(Environment::clear(), |environment, (name, value)| {
            environment.set(name, value)
        });
    Client::builder()
        .binary(&agent.program)
        .environment(environment)
        .capabilities(Capabilities::current())
}

pub(crate) fn play(script: &Script) -> (Client, ScriptedAgent) {
    let agent = script.install().unwrap();
    (builder(&agent).build(), agent)
}

pub(crate) async fn next(events: &mut Events) -> Option<Result<Event, LineError>> {
    tokio::time::timeout(LIMIT, events.next())
        .await
        .expect("the stream hangs")
}

pub(crate) async fn next_event(events: &mut Events) -> Event {
    next(events)
        .await
        .expect("the stream has ended")
        .expect("the line is no event")
}

/// All that is left.
pub(crate) async fn rest(events: &mut Events) -> Vec<Result<Event, LineError>> {
    let mut items = Vec::new();
    while let Some(item) = next(events).await {
        items.push(item);
    }
    items
}

/// All that is left, which must be events.
pub(crate) async fn rest_of_events(events: &mut Events) -> Vec<Event> {
    rest(events)
        .await
        .into_iter()
        .map(|item| item.expect("the line is no event"))
        .collect()
}

/// Waits for something that must happen soon.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("this hangs")
}

/// `type` or `type/subtype`, for comparing sequences.
pub(crate) fn name(event: &Event) -> String {
    match event.kind() {
        Kind::System(system) => format!("system/{}", system.subtype().unwrap_or("?")),
        _ => event.type_name().unwrap_or_default().into_owned(),
    }
}

pub(crate) fn names(events: &[Event]) -> Vec<String> {
    events.iter().map(name).collect()
}

/// A member of an event as a JSON value.
pub(crate) fn value(event: &Event) -> serde_json::Value {
    event.raw_json().deserialize().expect("an event is JSON")
}

/// Lines of 4 KiB that fit into no pipe and no channel: 64 MiB.
pub(crate) const MANY_LINES: u64 = 16_000;

/// Lets another agent write three times as much and reads it: whatever could pile up elsewhere has done so by then.
pub(crate) async fn let_another_agent_write() {
    let (client, _agent) = play(&Script::new().flood(3 * MANY_LINES, 4_096));
    let mut handle = client
        .print_stream_json(claude_code::PrintRequest::new("Go."))
        .await
        .unwrap();
    while next(&mut handle.events).await.is_some() {}
}
