//! What is written to `codex app-server`, line by line: messages, interrupts, settings, answers.

use agent_api::backends::codex::Codex;
use agent_api::{
    AgentKind, Answer, Body, Close, CloseReason, Command, CommandError, Denial, Emitter, Input, Mapper,
    MessageState, PermissionHost, PermissionMode, Persistence, RequestId, RunOptions, RunRequest,
    SessionChoice, ToolStatus, Usage,
};
use json_lines::LineFramer;
use serde_json::{Value, json};

use crate::support::preview;

const MESSAGE: &str = "00000000-0000-4000-8000-000000000002";

/// A mapper that was just launched, and what it says.
struct Conversation {
    mapper: Box<dyn Mapper>,
    events: Emitter,
    framer: LineFramer,
}

impl Conversation {
    fn new(options: RunOptions) -> Self {
        let mut request = RunRequest::new("Go.")
            .options(options)
            .input(Input::Messages(Close::ByCaller));
        request.prompt_id = Some("prompt".to_owned());
        Self {
            mapper: preview(Codex::new(), request).unwrap().mapper,
            events: Emitter::new(AgentKind::CODEX),
            framer: LineFramer::default(),
        }
    }

    /// The caller answers requests.
    fn asking(mode: PermissionMode) -> Self {
        let mut options = RunOptions::new();
        options.permission_host = Some(PermissionHost::Caller);
        options.permission_mode = Some(mode);
        Self::new(options)
    }

    /// Opens the thread; the request for the first turn has no response yet.
    fn open(mut self) -> Self {
        self.read(&json!({"id": 1, "result": {}}));
        self.read(&json!({"id": 3, "result": {"thread": {"id": "thread-1"}, "model": "gpt-5.5"}}));
        let written = self.written();
        assert_eq!(methods(&written), ["initialized", "thread/start", "turn/start"]);
        self
    }

    fn in_turn(self) -> Self {
        let mut conversation = self.open();
        conversation.read(&json!({"id": 4, "result": {"turn": {"id": "turn-1"}}}));
        conversation.notify("turn/started", json!({"turn": {"id": "turn-1"}}));
        conversation.bodies();
        conversation
    }

    fn read(&mut self, line: &Value) {
        self.framer.push(format!("{line}\n").into());
        while let Some(line) = self.framer.next_line() {
            self.mapper.map_line(line, &mut self.events);
        }
    }

    fn notify(&mut self, method: &str, mut params: Value) {
        params["threadId"] = json!("thread-1");
        self.read(&json!({"method": method, "params": params}));
    }

    fn start_command(&mut self, id: &str) {
        let item =
            json!({"type": "commandExecution", "id": id, "command": "sleep 9", "status": "inProgress"});
        self.notify("item/started", json!({"item": item}));
    }

    fn ask_about(&mut self, id: Value, item: &str) {
        let params =
            json!({"threadId": "thread-1", "turnId": "turn-1", "itemId": item, "command": "sleep 9"});
        self.read(&json!({"method": "item/commandExecution/requestApproval", "id": id, "params": params}));
    }

    fn end_turn(&mut self, status: &str) {
        let turn = json!({"id": "turn-1", "status": status, "error": null});
        self.notify("turn/completed", json!({"turn": turn}));
    }

    fn encode(&mut self, command: Command) -> Result<Vec<Value>, CommandError> {
        let line = self.mapper.encode(&command, &mut self.events)?;
        Ok(line.map(|line| objects(&line)).unwrap_or_default())
    }

    fn send(&mut self, id: &str) -> Result<Vec<Value>, CommandError> {
        self.encode(Command::Send {
            message_id: id.to_owned(),
            text: "More.".to_owned(),
            attachments: Vec::new(),
        })
    }

    fn interrupt(&mut self) -> Result<Vec<Value>, CommandError> {
        let command_id = "interrupt".to_owned();
        self.encode(Command::Interrupt { command_id })
    }

    fn answer(&mut self, request: &RequestId, answer: Answer) -> Result<Vec<Value>, CommandError> {
        let request = request.clone();
        self.encode(Command::Answer { request, answer })
    }

    /// What was written without being asked for.
    fn written(&mut self) -> Vec<Value> {
        let lines = self.events.take_replies();
        lines.iter().flat_map(|line| objects(line)).collect()
    }

    fn bodies(&mut self) -> Vec<Body> {
        std::iter::from_fn(|| self.events.next_event())
            .map(|event| event.body)
            .collect()
    }

    fn requests(&mut self) -> Vec<RequestId> {
        let bodies = self.bodies().into_iter();
        bodies
            .filter_map(|body| match body {
                Body::PermissionRequested(asked) => Some(asked.request),
                Body::QuestionAsked(asked) => Some(asked.request),
                _ => None,
            })
            .collect()
    }
}

fn objects(lines: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(lines).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn methods(written: &[Value]) -> Vec<&str> {
    written
        .iter()
        .filter_map(|line| line["method"].as_str())
        .collect()
}

fn states(bodies: &[Body]) -> Vec<(&str, MessageState)> {
    let found = bodies.iter().filter_map(|body| match body {
        Body::MessageUpdated(updated) => Some((updated.message_id.as_str(), updated.state)),
        _ => None,
    });
    found.collect()
}

fn refusals(bodies: &[Body]) -> Vec<Option<&str>> {
    let found = bodies.iter().filter_map(|body| match body {
        Body::CommandAnswered(answered) => Some(answered.error.as_deref()),
        _ => None,
    });
    found.collect()
}

fn notices(bodies: &[Body]) -> Vec<&str> {
    let found = bodies.iter().filter_map(|body| match body {
        Body::Notice(notice) if notice.code != "framing" => Some(notice.code.as_str()),
        _ => None,
    });
    found.collect()
}

fn denials(bodies: &[Body]) -> Vec<&Denial> {
    let found = bodies.iter().filter_map(|body| match body {
        Body::PermissionDenied(denial) => Some(&**denial),
        _ => None,
    });
    found.collect()
}

fn usage(bodies: &[Body]) -> &Usage {
    let found = bodies.iter().rev().find_map(|body| match body {
        Body::Usage(usage) => Some(&**usage),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn messages_of_a_handshake_that_fails_are_cancelled() {
    type End = fn(&mut Conversation);
    let ends: [End; 3] = [
        |conversation| conversation.read(&json!({"id": 1, "error": {"message": "no"}})),
        |conversation| conversation.mapper.deadline_passed(&mut conversation.events),
        // The server dies.
        |conversation| conversation.mapper.map_end(&mut conversation.events),
    ];
    for end in ends {
        let mut conversation = Conversation::new(RunOptions::new());
        assert!(conversation.send(MESSAGE).unwrap().is_empty());
        assert!(conversation.interrupt().unwrap().is_empty());
        assert_eq!(states(&conversation.bodies()), [(MESSAGE, MessageState::Queued)]);
        end(&mut conversation);
        let bodies = conversation.bodies();
        assert_eq!(
            states(&bodies),
            [
                ("prompt", MessageState::Cancelled),
                (MESSAGE, MessageState::Cancelled)
            ]
        );
        assert!(matches!(refusals(&bodies)[..], [Some(_)]), "{bodies:?}");
    }
}

#[test]
fn an_interrupt_waits_for_the_name_of_its_turn() {
    let mut conversation = Conversation::new(RunOptions::new()).open();
    assert!(conversation.interrupt().unwrap().is_empty());
    conversation.read(&json!({"id": 4, "result": {"turn": {"id": "turn-1"}}}));
    let written = conversation.written();
    assert_eq!(methods(&written), ["turn/interrupt"]);
    assert_eq!(written[0]["params"]["turnId"], "turn-1");
    conversation.read(&json!({"id": written[0]["id"], "result": {}}));
    assert_eq!(refusals(&conversation.bodies()), [None]);

    let mut refused = Conversation::new(RunOptions::new()).open();
    refused.interrupt().unwrap();
    refused.read(&json!({"id": 4, "error": {"message": "no"}}));
    assert!(refused.written().is_empty());
    assert_eq!(refusals(&refused.bodies()), [Some("no turn is running")]);
    assert!(refused.interrupt().is_err(), "nothing is to come");
}

#[test]
fn settings_of_a_refused_message_go_with_the_next_one() {
    let mut conversation = Conversation::new(RunOptions::new()).in_turn();
    conversation
        .encode(Command::SetModel {
            command_id: "set".to_owned(),
            model: Some("gpt-6".to_owned()),
        })
        .unwrap();
    let bodies = conversation.bodies();
    assert_eq!(refusals(&bodies), [None]);
    assert_eq!(notices(&bodies), ["applies_later"], "a turn runs");
    conversation.end_turn("completed");
    let first = conversation.send(MESSAGE).unwrap();
    assert_eq!(first[0]["params"]["model"], "gpt-6");
    conversation.read(&json!({"id": first[0]["id"], "error": {"message": "busy"}}));
    let second = conversation.send(MESSAGE).unwrap();
    assert_eq!(second[0]["params"]["model"], "gpt-6");
    conversation.read(&json!({"id": second[0]["id"], "result": {"turn": {"id": "turn-2"}}}));
    let third = conversation.send(MESSAGE).unwrap();
    assert_eq!(third[0]["params"].get("model"), None, "it is set");
}

#[test]
fn a_report_without_a_total_takes_no_tokens_back() {
    let mut conversation = Conversation::new(RunOptions::new()).in_turn();
    let figures = json!({"inputTokens": 100, "outputTokens": 7, "totalTokens": 107});
    for report in [
        json!({"total": figures, "last": figures}),
        json!({"last": figures}),
    ] {
        conversation.notify("thread/tokenUsage/updated", json!({"tokenUsage": report}));
        let bodies = conversation.bodies();
        let usage = usage(&bodies);
        assert_eq!(
            (usage.run.tokens.input, usage.tokens.output),
            (100, 7),
            "{report}"
        );
    }
}

#[test]
fn requests_are_told_apart_and_closed_in_their_order() {
    let mut conversation = Conversation::asking(PermissionMode::Ask).in_turn();
    let ids = [json!(0), json!("0"), json!(2), json!("x"), json!(1), json!(7)];
    for (number, id) in ids.iter().enumerate() {
        let item = format!("call-{number}");
        conversation.start_command(&item);
        conversation.ask_about(id.clone(), &item);
    }
    let requests = conversation.requests();
    let answered = conversation.answer(&requests[1], Answer::Allow).unwrap();
    assert_eq!(answered[0]["id"], "0");
    let answered = conversation.answer(&requests[0], Answer::Allow).unwrap();
    assert_eq!(answered[0]["id"], 0);
    conversation.bodies();
    conversation.end_turn("completed");
    let bodies = conversation.bodies();
    let closed: Vec<&RequestId> = bodies
        .iter()
        .filter_map(|body| match body {
            Body::RequestClosed(closed) => Some(&closed.request),
            _ => None,
        })
        .collect();
    assert_eq!(closed, requests[2..].iter().collect::<Vec<_>>());
    let ended: Vec<&str> = bodies
        .iter()
        .filter_map(|body| match body {
            Body::ToolFinished(tool) => Some(tool.item.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        ended,
        ["call-0", "call-1", "call-2", "call-3", "call-4", "call-5"]
    );
}

#[test]
fn a_second_request_of_the_same_id_takes_the_place_of_the_first() {
    let mut conversation = Conversation::asking(PermissionMode::Ask).in_turn();
    for item in ["one", "two"] {
        conversation.ask_about(json!(5), item);
    }
    let bodies = conversation.bodies();
    let closed = bodies.iter().filter(
        |body| matches!(body, Body::RequestClosed(closed) if closed.reason == CloseReason::Withdrawn),
    );
    assert_eq!(closed.count(), 1);
}

#[test]
fn a_long_question_is_answered_as_it_is_shown_and_a_wrong_one_not_at_all() {
    let mut conversation = Conversation::asking(PermissionMode::Ask).in_turn();
    let long = "Which? ".repeat(2_000);
    let label = "Red ".repeat(2_000);
    let question = json!({"id": "q1", "question": long, "options": [{"label": label}]});
    conversation.read(&json!({
        "method": "item/tool/requestUserInput",
        "id": 3,
        "params": {"threadId": "thread-1", "turnId": "turn-1", "itemId": "q", "questions": [question]},
    }));
    let bodies = conversation.bodies();
    let Some(Body::QuestionAsked(asked)) = bodies.last() else {
        panic!("{bodies:?}");
    };
    let shown = &asked.questions[0];
    assert!(shown.text.len() < long.len());
    let wrong = Answer::Answers(vec![("Which one?".into(), "Red".into())]);
    let refused = conversation.answer(&asked.request, wrong);
    assert!(
        matches!(refused, Err(CommandError::NotExpressible { .. })),
        "{refused:?}"
    );
    let answer = Answer::Answers(vec![(shown.text.clone(), shown.options[0].label.clone())]);
    let answered = conversation.answer(&asked.request, answer).unwrap();
    assert_eq!(
        answered[0],
        json!({"id": 3, "result": {"answers": {"q1": {"answers": [label]}}}})
    );
}

#[test]
fn the_model_is_told_why_a_call_was_denied() {
    let mut conversation = Conversation::asking(PermissionMode::Ask).in_turn();
    conversation.start_command("call-1");
    conversation.ask_about(json!(0), "call-1");
    let request = conversation.requests().remove(0);
    let reason = "use docs/ instead".to_owned();
    let written = conversation.answer(&request, Answer::Deny { reason }).unwrap();
    assert_eq!(methods(&written), ["turn/steer"]);
    let steer = &written[0]["params"];
    assert_eq!(
        (&steer["threadId"], &steer["expectedTurnId"]),
        (&json!("thread-1"), &json!("turn-1"))
    );
    let text = steer["input"][0]["text"].as_str().unwrap();
    assert!(text.contains("use docs/ instead"), "{text}");
    assert_eq!(written[1], json!({"id": 0, "result": {"decision": "decline"}}));
    let item =
        json!({"type": "commandExecution", "id": "call-1", "command": "sleep 9", "status": "declined"});
    conversation.notify("item/completed", json!({"item": item}));
    let bodies = conversation.bodies();
    let denials = denials(&bodies);
    assert_eq!(denials.len(), 1, "{bodies:?}");
    assert_eq!(denials[0].reason.as_deref(), Some("use docs/ instead"));
    // Codex refuses the message.
    conversation.read(&json!({"id": written[0]["id"], "error": {"message": "no active turn to steer"}}));
    assert_eq!(notices(&conversation.bodies()), ["reason_not_told"]);
}

#[test]
fn a_denial_without_a_reason_or_that_ends_the_turn_sends_no_message() {
    let none = Answer::Deny {
        reason: String::new(),
    };
    let end = Answer::DenyAndInterrupt {
        reason: "stop".to_owned(),
    };
    for (answer, notice) in [(none, None), (end, Some("reason_not_told"))] {
        let mut conversation = Conversation::asking(PermissionMode::Ask).in_turn();
        conversation.ask_about(json!(0), "call-1");
        let request = conversation.requests().remove(0);
        let written = conversation.answer(&request, answer).unwrap();
        assert_eq!(written.len(), 1, "{written:?}");
        assert_eq!(notices(&conversation.bodies()).first().copied(), notice);
    }
}

#[test]
fn a_mode_that_refuses_denies_changes_once_and_still_lets_questions_through() {
    for caller_answers in [true, false] {
        let mut options = RunOptions::new();
        options.permission_host = caller_answers.then_some(PermissionHost::Caller);
        options.permission_mode = Some(PermissionMode::Refuse);
        let mut conversation = Conversation::new(options).in_turn();
        let change = |status| {
            let changes = json!([{"path": "/w/a", "kind": {"type": "add"}, "diff": "hi\n"}]);
            json!({"item": {"type": "fileChange", "id": "call-1", "changes": changes, "status": status}})
        };
        conversation.notify("item/started", change("inProgress"));
        let params = json!({"threadId": "thread-1", "turnId": "turn-1", "itemId": "call-1"});
        conversation.read(&json!({"method": "item/fileChange/requestApproval", "id": 0, "params": params}));
        assert_eq!(
            conversation.written(),
            [json!({"id": 0, "result": {"decision": "decline"}})]
        );
        conversation.notify("item/completed", change("declined"));
        let bodies = conversation.bodies();
        let denials = denials(&bodies);
        assert_eq!(denials.len(), 1, "{bodies:?}");
        assert!(denials[0].tool == "file_change" && denials[0].reason.is_some());
        let questions = json!({"threadId": "thread-1", "questions": [{"id": "q", "question": "Which?"}]});
        conversation.read(&json!({"method": "item/tool/requestUserInput", "id": 1, "params": questions}));
        assert_eq!(conversation.requests().len(), usize::from(caller_answers));
    }
}

#[test]
fn an_interrupt_ends_the_commands_of_its_turn() {
    let mut conversation = Conversation::new(RunOptions::new()).in_turn();
    conversation.start_command("call-1");
    conversation.interrupt().unwrap();
    conversation.end_turn("interrupted");
    let written = conversation.written();
    assert_eq!(methods(&written), ["thread/backgroundTerminals/list"]);
    let running = json!([
        {"itemId": "a server of an earlier turn", "processId": "11"},
        {"itemId": "call-1", "processId": "12"},
    ]);
    conversation.read(&json!({"id": written[0]["id"], "result": {"data": running}}));
    let written = conversation.written();
    assert_eq!(methods(&written), ["thread/backgroundTerminals/terminate"]);
    assert_eq!(
        written[0]["params"],
        json!({"threadId": "thread-1", "processId": "12"})
    );
    conversation.read(&json!({"id": written[0]["id"], "result": {"terminated": true}}));
    let bodies = conversation.bodies();
    assert!(notices(&bodies).is_empty(), "{bodies:?}");
    // Its end is no news.
    let item = json!({"type": "commandExecution", "id": "call-1", "command": "sleep 9", "status": "failed", "exitCode": -1});
    conversation.notify("item/completed", json!({"item": item}));
    let bodies = conversation.bodies();
    assert!(
        !bodies
            .iter()
            .any(|body| matches!(body, Body::ToolStarted(_) | Body::ToolFinished(_))),
        "{bodies:?}"
    );
}

#[test]
fn a_command_that_cannot_be_ended_is_told() {
    let mut conversation = Conversation::new(RunOptions::new()).in_turn();
    conversation.start_command("call-1");
    conversation.end_turn("interrupted");
    let written = conversation.written();
    conversation.read(&json!({"id": written[0]["id"], "error": {"message": "unknown method"}}));
    assert_eq!(notices(&conversation.bodies()), ["command_may_run"]);
}

#[test]
fn a_command_that_ends_in_the_background_is_not_a_second_call() {
    let mut conversation = Conversation::new(RunOptions::new()).in_turn();
    conversation.start_command("call-1");
    conversation.end_turn("completed");
    assert!(conversation.written().is_empty(), "it may go on");
    let bodies = conversation.bodies();
    assert!(
        bodies
            .iter()
            .any(|body| matches!(body, Body::ToolFinished(tool) if tool.status == ToolStatus::Background))
    );
    let item = json!({"type": "commandExecution", "id": "call-1", "command": "sleep 9", "status": "completed", "exitCode": 0});
    conversation.notify("item/completed", json!({"item": item}));
    let bodies = conversation.bodies();
    assert_eq!(notices(&bodies), ["background_command_ended"]);
    assert_eq!(bodies.len(), 1, "{bodies:?}");
}

#[test]
fn an_unknown_session_is_named() {
    for (id, answer, words) in [
        (
            "nosuchsession",
            "invalid session id: invalid character: expected an optional prefix of `urn:uuid:`",
            "`nosuchsession` is not the id of a Codex session",
        ),
        (
            MESSAGE,
            "no rollout found for thread id",
            "Codex has no session `00000000-0000-4000-8000-000000000002`",
        ),
    ] {
        let mut options = RunOptions::new();
        options.session = Some(SessionChoice::Resume(id.to_owned()));
        let mut conversation = Conversation::new(options);
        conversation.read(&json!({"id": 1, "result": {}}));
        conversation.read(&json!({"id": 3, "error": {"code": -32600, "message": answer}}));
        let bodies = conversation.bodies();
        let Some(Body::TurnFinished(turn)) = bodies.last() else {
            panic!("{bodies:?}");
        };
        let error = turn.error.as_ref().unwrap();
        assert_eq!(error.code, "unknown_session");
        assert!(error.message.starts_with(words), "{}", error.message);
    }
}

#[test]
fn a_session_that_is_resumed_is_kept() {
    for session in [SessionChoice::Resume(MESSAGE.to_owned()), SessionChoice::Last] {
        let mut options = RunOptions::new();
        options.session = Some(session);
        options.persistence = Some(Persistence::Off);
        let request = RunRequest::new("Go.")
            .options(options)
            .input(Input::Messages(Close::WhenIdle));
        let error = preview(Codex::new(), request).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("resumed session"), "{error}");
    }
}
