//! How `codex app-server` is started: handshake, approvals, interrupts, bad answers.

use agent_api::backends::codex::{AppServerMapper, Codex};
use agent_api::{
    AgentKind, Answer, Body, Close, Emitter, ErrorClass, Event, Input, LaunchInput, Mapper as _,
    MessageState, Outcome, PermissionMode, RunHandle, RunOptions, RunRequest, SessionChoice, ToolStatus,
};
use serde_json::{Value, json};
use test_support::script::Script;

use crate::support::{finish, install, isolated, play, preview, soon, start};

const INITIALIZED: &str =
    r#"{"id":${/id},"result":{"userAgent":"ralph/0.166.0","codexHome":"/home/dev/.codex"}}"#;
const OPENED: &str = r#"{"id":${/id},"result":{"thread":{"id":"thread-1","cliVersion":"0.166.0"},"model":"gpt-5.5","cwd":"/w","approvalPolicy":"never"}}"#;
const TURN: &str = r#"{"id":${/id},"result":{"turn":{"id":"turn-1"}}}"#;
const STARTED: &str = r#"{"method":"turn/started","params":{"threadId":"thread-1","turn":{"id":"turn-1"}}}"#;
const TEXT: &str = r#"{"method":"item/completed","params":{"threadId":"thread-1","item":{"type":"agentMessage","id":"m1","text":"Done."}}}"#;
const COMPLETED: &str = r#"{"method":"turn/completed","params":{"threadId":"thread-1","turn":{"id":"turn-1","status":"completed","error":null,"durationMs":5}}}"#;

fn script() -> Script {
    Script::new()
        .with_version("codex-cli 0.166.0")
        .expect_argument("app-server")
        .expect_line(json!({"method": "initialize", "params": {"clientInfo": {"name": "ralph"}}}))
        .answer(INITIALIZED)
        .expect_line(json!({"method": "initialized"}))
}

/// A script that has opened a thread and begun a turn.
fn in_turn(open: Value) -> Script {
    script()
        .expect_line(open)
        .answer(OPENED)
        .expect_line(json!({"method": "turn/start", "params": {"threadId": "thread-1", "input": [{"type": "text", "text": "Go."}]}}))
        .answer(TURN)
        .emit(STARTED)
}

fn new_thread() -> Script {
    in_turn(json!({"method": "thread/start"}))
}

fn request(options: RunOptions) -> RunRequest {
    RunRequest::new("Go.")
        .options(options)
        .input(Input::Messages(Close::WhenIdle))
}

fn asking() -> RunRequest {
    let mut options = isolated();
    options.permission_host = Some(agent_client::PermissionHost::Caller);
    options.permission_mode = Some(PermissionMode::Ask);
    request(options)
}

async fn run(script: &Script, request: RunRequest) -> (Vec<Event>, agent_api::Completed) {
    play(|program| Codex::program(program), script, request).await
}

async fn wait_for(handle: &mut RunHandle, mut is_it: impl FnMut(&Body) -> bool) -> Body {
    loop {
        let event = soon(handle.events.next()).await.expect("the run ended first");
        if is_it(&event.body) {
            return event.body;
        }
    }
}

#[test]
fn a_conversation_starts_with_initialize_and_one_prompt_does_not_need_the_server() {
    let launch = preview(Codex::new(), request(RunOptions::new())).unwrap();
    assert_eq!(launch.spec.args, ["app-server"]);
    let LaunchInput::Messages { first, .. } = launch.input else {
        panic!("no conversation");
    };
    let first: Value = serde_json::from_slice(&first[0]).unwrap();
    assert_eq!(
        (&first["id"], &first["method"]),
        (&json!(1), &json!("initialize"))
    );
    assert_eq!(first.get("jsonrpc"), None);
    let launch = preview(Codex::new(), RunRequest::new("Go.")).unwrap();
    assert_eq!(launch.spec.args[0], "exec");
}

#[tokio::test]
async fn the_handshake_opens_a_thread_and_starts_a_turn() {
    let script = new_thread().emit(TEXT).emit(COMPLETED).read_to_end();
    let (_, completed) = run(&script, request(isolated())).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    assert_eq!(completed.final_text.as_deref(), Some("Done."));
    assert_eq!(completed.session_id.as_deref(), Some("thread-1"));
}

#[tokio::test]
async fn permission_modes_become_approval_policy_and_sandbox() {
    for (mode, asks, approval, sandbox) in [
        (PermissionMode::Bypass, true, "never", "danger-full-access"),
        (PermissionMode::Ask, true, "untrusted", "workspace-write"),
        (PermissionMode::Ask, false, "on-request", "read-only"),
        (PermissionMode::AcceptEdits, true, "on-request", "workspace-write"),
        (
            PermissionMode::AcceptEdits,
            false,
            "on-request",
            "workspace-write",
        ),
        (PermissionMode::Plan, true, "on-request", "read-only"),
    ] {
        let mut options = isolated();
        options.permission_mode = Some(mode);
        options.permission_host = asks.then_some(agent_client::PermissionHost::Caller);
        options.model = Some("gpt-5.5".into());
        let params = json!({"approvalPolicy": approval, "sandbox": sandbox, "model": "gpt-5.5"});
        let script = in_turn(json!({"method": "thread/start", "params": params}))
            .emit(COMPLETED)
            .read_to_end();
        let (_, completed) = run(&script, request(options)).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded, "{mode:?} {asks}");
    }
}

#[tokio::test]
async fn the_effort_goes_with_the_first_turn() {
    let script = script()
        .expect_line(json!({"method": "thread/start"}))
        .answer(OPENED)
        .expect_line(json!({"method": "turn/start", "params": {"effort": "high"}}))
        .answer(TURN)
        .emit(STARTED)
        .emit(COMPLETED)
        .read_to_end();
    let (_, completed) = run(&script, request(isolated().effort("high"))).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn sessions_are_resumed_and_forked_also_the_last_one() {
    let resume = |method: &str, id: &str| json!({"method": method, "params": {"threadId": id}});
    let list = || {
        script()
            .expect_line(json!({"method": "thread/list", "params": {"limit": 1}}))
            .answer(r#"{"id":${/id},"result":{"data":[{"id":"newest"}]}}"#)
    };
    for (session, before, open) in [
        (
            SessionChoice::Resume("abc".into()),
            script(),
            resume("thread/resume", "abc"),
        ),
        (SessionChoice::fork("abc"), script(), resume("thread/fork", "abc")),
        (SessionChoice::Last, list(), resume("thread/resume", "newest")),
        (
            SessionChoice::fork_last(),
            list(),
            resume("thread/fork", "newest"),
        ),
    ] {
        let script = before
            .expect_line(open)
            .answer(OPENED)
            .expect_line(json!({"method": "turn/start"}))
            .answer(TURN)
            .emit(STARTED)
            .emit(COMPLETED)
            .read_to_end();
        let mut options = isolated();
        options.session = Some(session.clone());
        let (_, completed) = run(&script, request(options)).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded, "{session:?}");
    }
}

#[tokio::test]
async fn an_unknown_session_ends_the_run_with_the_reason() {
    let refused = |script: Script| {
        script
            .answer(r#"{"id":${/id},"error":{"code":-32600,"message":"no rollout found for thread id abc"}}"#)
            .read_to_end()
    };
    let none = script()
        .expect_line(json!({"method": "thread/list"}))
        .answer(r#"{"id":${/id},"result":{"data":[]}}"#)
        .read_to_end();
    let unknown = refused(script().expect_line(json!({"method": "thread/resume"})));
    for (session, script) in [
        (SessionChoice::Resume("abc".into()), unknown),
        (SessionChoice::Last, none),
    ] {
        let mut options = isolated();
        options.session = Some(session);
        // The caller keeps the input open, but there is nothing to say any more.
        let request = request(options).input(Input::Messages(Close::ByCaller));
        let (_, completed) = run(&script, request).await;
        assert_eq!(completed.finished.outcome, Outcome::Failed);
        let error = completed.finished.error.unwrap();
        assert_eq!(
            (error.class, error.code.as_str()),
            (ErrorClass::InvalidRequest, "unknown_session")
        );
    }
}

const ASK: &str = r#"{"method":"item/commandExecution/requestApproval","id":0,"params":{"threadId":"thread-1","turnId":"turn-1","itemId":"call-1","command":"/bin/bash -lc ls","cwd":"/w","availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}},"cancel"]}}"#;
const CALL: &str = r#"{"method":"item/started","params":{"threadId":"thread-1","item":{"type":"commandExecution","id":"call-1","command":"/bin/bash -lc ls","cwd":"/w","status":"inProgress"}}}"#;

#[tokio::test]
async fn an_image_goes_with_the_prompt() {
    let input =
        json!([{"type": "image", "url": "data:image/png;base64,AQID"}, {"type": "text", "text": "Go."}]);
    let script = script()
        .expect_line(json!({"method": "thread/start"}))
        .answer(OPENED)
        .expect_line(json!({"method": "turn/start", "params": {"input": input}}))
        .answer(TURN)
        .emit_lines([STARTED, TEXT, COMPLETED])
        .read_to_end();
    let request = RunRequest::new("Go.")
        .options(isolated())
        .attach(agent_api::Attachment::image("image/png", [1, 2, 3]));
    let (_, completed) = run(&script, request).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn a_closure_answers_an_approval() {
    let script = new_thread()
        .emit_lines([CALL, ASK])
        .expect_line(json!({"method": "turn/steer"}))
        .expect_line(json!({"id": 0, "result": {"decision": "decline"}}))
        .emit(COMPLETED)
        .read_to_end();
    let mut options = isolated();
    options.permission_mode = Some(PermissionMode::Ask);
    let request = RunRequest::new("Go.")
        .options(options)
        .on_permission(|_| async { Answer::deny("no") });
    let (_, completed) = run(&script, request).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn an_approval_is_asked_for_and_answered() {
    let amendment = json!({"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["ls"]}});
    for (answer, decision) in [
        (Some(Answer::Allow), json!("accept")),
        (Some(Answer::Deny { reason: "no".into() }), json!("decline")),
        (
            Some(Answer::DenyAndInterrupt { reason: "no".into() }),
            json!("cancel"),
        ),
        (None, amendment),
    ] {
        let script = new_thread().emit(CALL).emit(ASK);
        // The reason is a message of its own.
        let script = match &answer {
            Some(Answer::Deny { .. }) => script.expect_line(json!({"method": "turn/steer"})),
            _ => script,
        };
        let script = script
            .expect_line(json!({"id": 0, "result": {"decision": decision}}))
            .emit(COMPLETED)
            .read_to_end();
        let (_agent, program) = install(&script);
        let mut handle = start(Codex::program(program), asking()).await;
        let asked = wait_for(&mut handle, |body| matches!(body, Body::PermissionRequested(_))).await;
        let Body::PermissionRequested(asked) = asked else {
            unreachable!()
        };
        assert_eq!(asked.subject.as_deref(), Some("/bin/bash -lc ls"));
        let texts: Vec<&str> = asked.grants.iter().map(|grant| grant.text.as_str()).collect();
        assert_eq!(
            texts,
            ["Allow commands that begin with `ls`, kept in Codex's rules"]
        );
        let answer = answer.unwrap_or_else(|| Answer::AllowWithGrants {
            grants: vec![asked.grants[0].id.clone()],
        });
        let changed = Answer::AllowChanged {
            input: json!({"command": "pwd"}),
        };
        handle.control.answer(&asked.request, changed).unwrap();
        let refused = wait_for(&mut handle, |body| matches!(body, Body::CommandAnswered(_))).await;
        assert!(matches!(refused, Body::CommandAnswered(answered) if answered.error.is_some()));
        handle.control.answer(&asked.request, answer).unwrap();
        let (events, completed) = finish(handle).await;
        assert_eq!(completed.finished.outcome, Outcome::Succeeded, "{decision}");
        let is_closed = |event: &&Event| matches!(event.body, Body::RequestClosed(_));
        assert_eq!(events.iter().filter(is_closed).count(), 1);
    }
}

#[tokio::test]
async fn a_run_that_takes_no_answers_declines_at_once_and_unknown_requests_get_an_error() {
    let script = new_thread()
        .emit(ASK)
        .expect_line(json!({"id": 0, "result": {"decision": "decline"}}))
        .emit(r#"{"method":"future/request","id":"seven","params":{}}"#)
        .expect_line(json!({"id": "seven", "error": {"code": -32601}}))
        .emit(COMPLETED)
        .read_to_end();
    let (events, completed) = run(&script, request(isolated())).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
    let is_denial = |event: &Event| matches!(event.body, Body::PermissionDenied(_));
    assert!(events.iter().any(is_denial));
}

#[tokio::test]
async fn a_question_is_answered_by_its_id() {
    let script = new_thread()
        .emit(r#"{"method":"item/tool/requestUserInput","id":3,"params":{"threadId":"thread-1","turnId":"turn-1","itemId":"q","isBlocking":true,"questions":[{"id":"colour","header":"Colour","question":"Which colour?","options":[{"label":"Red","description":"warm"}]}]}}"#)
        .expect_line(json!({"id": 3, "result": {"answers": {"colour": {"answers": ["Red"]}}}}))
        .emit(COMPLETED)
        .read_to_end();
    let (_agent, program) = install(&script);
    let mut handle = start(Codex::program(program), asking()).await;
    let asked = wait_for(&mut handle, |body| matches!(body, Body::QuestionAsked(_))).await;
    let Body::QuestionAsked(asked) = asked else {
        unreachable!()
    };
    let answer = Answer::Answers(vec![("Which colour?".into(), "Red".into())]);
    handle.control.answer(&asked.request, answer).unwrap();
    let (_, completed) = finish(handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_its_open_calls() {
    let script = new_thread()
        .emit(CALL)
        .expect_line(
            json!({"method": "turn/interrupt", "params": {"threadId": "thread-1", "turnId": "turn-1"}}),
        )
        .answer(r#"{"id":${/id},"result":{}}"#)
        .emit(COMPLETED.replace("completed\",\"error", "interrupted\",\"error"))
        .read_to_end();
    let (_agent, program) = install(&script);
    let mut handle = start(Codex::program(program), request(isolated())).await;
    wait_for(&mut handle, |body| matches!(body, Body::ToolStarted(_))).await;
    let id = handle.control.interrupt().unwrap();
    let (events, completed) = finish(handle).await;
    assert_eq!(completed.finished.outcome, Outcome::Interrupted);
    assert!(completed.finished.usage.is_partial);
    let answered = events.iter().find_map(|event| match &event.body {
        Body::CommandAnswered(answered) => Some(answered),
        _ => None,
    });
    assert_eq!(
        answered.map(|answered| (&answered.command_id, &answered.error)),
        Some((&id, &None))
    );
    let cut = events.iter().find_map(|event| match &event.body {
        Body::ToolFinished(tool) => Some(tool.status),
        _ => None,
    });
    assert_eq!(cut, Some(ToolStatus::Cancelled));
}

#[tokio::test]
async fn a_message_starts_a_turn_with_its_id_and_the_settings_made_before() {
    let id = "00000000-0000-4000-8000-000000000002";
    let second = |line: &str| line.replace("turn-1", "turn-2");
    let script = new_thread()
        .emit(COMPLETED)
        .expect_line(json!({
            "method": "turn/start",
            "params": {
                "clientUserMessageId": id,
                "model": "gpt-6",
                "approvalPolicy": "on-request",
                "sandboxPolicy": {"type": "readOnly"},
                "input": [{"text": "More."}],
            },
        }))
        .answer(second(TURN))
        .emit(second(STARTED))
        .emit(format!(r#"{{"method":"item/started","params":{{"threadId":"thread-1","item":{{"type":"userMessage","id":"u","clientId":"{id}","content":[]}}}}}}"#))
        .emit(second(COMPLETED))
        .read_to_end();
    let (_agent, program) = install(&script);
    let request = request(isolated()).input(Input::Messages(Close::ByCaller));
    let mut handle = start(Codex::program(program), request).await;
    wait_for(&mut handle, |body| matches!(body, Body::TurnFinished(_))).await;
    handle.control.set_model(Some("gpt-6".into())).unwrap();
    handle.control.set_permission_mode(PermissionMode::Plan).unwrap();
    handle.control.send_as(id.to_owned(), "More.").unwrap();
    let is_second = |body: &Body| matches!(body, Body::MessageUpdated(message) if message.state == MessageState::Completed);
    wait_for(&mut handle, is_second).await;
    handle.control.close_input();
    let (_, completed) = finish(handle).await;
    assert_eq!(
        (completed.finished.outcome, completed.finished.turns),
        (Outcome::Succeeded, 2)
    );
}

#[tokio::test]
async fn a_server_that_dies_in_the_handshake_is_a_failure_with_its_words() {
    for (code, outcome) in [(1, Outcome::Failed), (0, Outcome::NoResult)] {
        let script = Script::new()
            .with_version("codex-cli 0.166.0")
            .read_line()
            .stderr("error loading config: bad toml\n")
            .exit(code);
        let (_, completed) = run(&script, request(isolated())).await;
        assert_eq!(completed.finished.outcome, outcome);
        let error = completed.finished.error.unwrap();
        assert_eq!((error.class, error.code.as_str()), (ErrorClass::Config, "config"));
    }
}

/// Feeds lines to a mapper that was just launched.
fn map(lines: &[&str]) -> (Box<dyn agent_api::Mapper>, Emitter) {
    let mut mapper = preview(Codex::new(), request(RunOptions::new())).unwrap().mapper;
    let mut events = Emitter::new(AgentKind::CODEX);
    let mut framer = json_lines::LineFramer::default();
    framer.push(lines.join("\n").into());
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        mapper.map_line(line, &mut events);
    }
    (mapper, events)
}

#[test]
fn a_server_that_never_answers_or_answers_the_wrong_id_fails_when_the_time_is_up() {
    for lines in [
        &[][..],
        &[r#"{"id":99,"result":{}}"#],
        &[r#"{"id":"1","result":{}}"#],
        &[r#"{"id":3,"result":{"thread":{"id":"t"}}}"#],
        &[
            "not json",
            r#"{"method":"future/thing","params":{}}"#,
            r#"{"half":1}"#,
        ],
    ] {
        let (mut mapper, mut events) = map(lines);
        assert!(mapper.deadline().is_some() && !mapper.is_idle() && !mapper.is_over());
        assert!(events.take_replies().is_empty(), "{lines:?}");
        mapper.deadline_passed(&mut events);
        assert!(mapper.is_over() && mapper.is_idle() && mapper.deadline().is_none());
        let bodies: Vec<Body> = std::iter::from_fn(|| events.next_event())
            .map(|event| event.body)
            .collect();
        assert!(bodies.len() > lines.len(), "every line has an event: {bodies:?}");
        let Some(Body::TurnFinished(turn)) = bodies.last() else {
            panic!("{bodies:?}");
        };
        assert_eq!(turn.outcome, Outcome::Failed);
        assert_eq!(turn.error.as_ref().unwrap().code, "handshake_timeout");
    }
}

#[test]
fn hostile_lines_end_nothing() {
    let mut mapper = AppServerMapper::recorded();
    let mut events = Emitter::new(AgentKind::CODEX);
    let mut framer = json_lines::LineFramer::default();
    let lines = [
        r#"{"method":"turn/started"}"#,
        r#"{"method":"item/started","params":{"item":7}}"#,
        r#"{"method":"item/completed","params":{"item":{"type":"commandExecution"}}}"#,
        r#"{"method":"item/completed","params":{"item":{"type":"newThing","id":"x"}}}"#,
        r#"{"method":"thread/tokenUsage/updated","params":{"tokenUsage":{"total":null}}}"#,
        r#"{"method":"error","params":{}}"#,
        r#"{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":{"usedPercent":"x"}}}}"#,
        r#"{"id":null,"error":null}"#,
        r#"{"id":5,"error":{"message":7}}"#,
        r#"{"method":7}"#,
        r#"{"method":"item/agentMessage/delta","method":"item/agentMessage/delta","params":{"itemId":"m","delta":"x"}}"#,
    ];
    framer.push(lines.join("\n").into());
    let mut count = 0;
    while let Some(line) = framer.next_line().or_else(|| framer.finish()) {
        let before = events.emitted();
        mapper.map_line(line, &mut events);
        assert!(events.emitted() > before, "no event: {}", lines[count]);
        count += 1;
    }
    assert_eq!(count, lines.len());
    assert!(!mapper.is_idle(), "the turn is open");
}
