//! Events as JSON: names and shapes are a contract.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::path::Path;

use agent_api::{
    AgentKind, Body, ChangeKind, CloseReason, CommandAnswered, ContextUse, Cost, CostSource, Delta,
    DeltaMode, Denial, DiscardReason, ErrorClass, ErrorInfo, Event, ExitInfo, FileChange, Finished, Grant,
    GrantDestination, GrantId, GrantKind, ItemDiscarded, ItemId, Json, Limit, MessageState, MessageUpdated,
    MicroUsd, Notice, Origin, Outcome, Part, PermissionRequested, Piece, PlanEntry, PlanProposed, PlanStatus,
    PlanUpdated, Position, Question, QuestionAsked, QuestionOption, RateLimit, RateLimitStatus, RawRef,
    RequestClosed, RequestId, Retry, RunUsage, SessionStarted, SessionUpdated, Severity, Status,
    StatusChanged, Task, TaskState, TextBlock, ThinkingBlock, Tokens, ToolFinished, ToolKind, ToolProgressed,
    ToolStarted, ToolStatus, TurnFinished, TurnStarted, Unknown, Usage, UsageScope, UserMessage,
};
use serde_json::{Value, json};

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn item() -> ItemId {
    ItemId::new("item-1")
}

fn request() -> RequestId {
    RequestId::new("request-1")
}

fn error() -> ErrorInfo {
    let mut error = ErrorInfo::new(ErrorClass::RateLimit, "rate_limit", "too many requests");
    error.http_status = Some(429);
    error.is_retryable = true;
    error
}

fn denial() -> Denial {
    Denial {
        item: Some(item()),
        tool: "Bash".into(),
        reason: text("not allowed"),
    }
}

fn usage() -> RunUsage {
    RunUsage {
        tokens: Tokens {
            input: 1,
            cache_read: 2,
            cache_write: 3,
            output: 4,
            reasoning: 1,
        },
        cost: Some(Cost {
            micro_usd: MicroUsd::new(1_500),
            source: CostSource::Reported,
        }),
        is_partial: true,
        may_include_earlier_runs: true,
    }
}

/// One of each, with everything filled in.
fn full() -> Vec<Body> {
    let mut bodies = conversation();
    bodies.extend(work());
    bodies.extend(asking());
    bodies.extend(state());
    bodies
}

fn conversation() -> Vec<Body> {
    vec![
        Body::SessionStarted(Box::new(SessionStarted {
            session_id: text("session-1"),
            model: text("large"),
            cwd: text("/work"),
            agent_version: text("1.2.3"),
            permission_mode: text("plan"),
            tools: vec!["Bash".into()],
            mcp_servers: vec!["files: connected".into()],
        })),
        Body::SessionUpdated(Box::new(SessionUpdated {
            session_id: text("session-2"),
            model: text("small"),
            permission_mode: text("default"),
            title: text("A title"),
        })),
        Body::TurnStarted(TurnStarted { number: 1 }),
        Body::TurnFinished(Box::new({
            let mut turn = TurnFinished::new(1, Outcome::LimitReached(Limit::Turns));
            turn.text = text("so far");
            turn.error = Some(error());
            turn.stop_reason = text("max_turns");
            turn.duration_ms = Some(10);
            turn.api_duration_ms = Some(5);
            turn.steps = Some(2);
            turn.denials = vec![denial()];
            turn.structured_output = Some(Json::from(&json!({"a": 1})));
            turn
        })),
        Body::Delta(Delta {
            item: item(),
            part: Part::ToolInput,
            mode: DeltaMode::Snapshot,
            text: "{\"a".into(),
        }),
        Body::TextBlock(TextBlock {
            item: item(),
            text: "é漢🎉\u{2028}".into(),
            piece: Piece {
                index: 1,
                is_last: false,
            },
            is_aborted: true,
        }),
        Body::ThinkingBlock(ThinkingBlock {
            item: item(),
            text: String::new(),
            piece: Piece::WHOLE,
            is_redacted: true,
        }),
        Body::UserMessage(UserMessage {
            item: item(),
            text: "Go.".into(),
            piece: Piece::WHOLE,
            origin: Origin::User,
        }),
        Body::MessageUpdated(MessageUpdated {
            message_id: "message-1".into(),
            state: MessageState::Queued,
        }),
        Body::CommandAnswered(CommandAnswered {
            command_id: "command-1".into(),
            error: text("no such model"),
        }),
    ]
}

fn work() -> Vec<Body> {
    vec![
        Body::ToolStarted(Box::new({
            let mut tool = ToolStarted::new(item(), "mcp__files__read", ToolKind::Mcp);
            tool.subject = text("a.txt");
            tool.input = Some(Json::from_text(r#"{"path": "a.txt", "path": "b.txt"}"#.into()).unwrap());
            tool.mcp_server = text("files");
            tool
        })),
        Body::ToolProgressed(ToolProgressed {
            item: item(),
            elapsed_ms: Some(1_000),
        }),
        Body::ToolFinished(Box::new({
            let mut tool = ToolFinished::new(item(), ToolStatus::Failed);
            tool.output = "no such file".into();
            tool.output_bytes = Some(100_000);
            tool.attachments = vec!["image/png, 1234 bytes".into()];
            tool.exit_code = Some(1);
            let diff = text("@@ -1 +1 @@\n-a\n+b\n");
            tool.changes = vec![FileChange::new("a.txt", ChangeKind::Modified, diff)];
            tool
        })),
        Body::ItemDiscarded(ItemDiscarded {
            item: item(),
            reason: DiscardReason::Retry,
        }),
        Body::PlanUpdated(PlanUpdated {
            item: Some(item()),
            entries: vec![PlanEntry {
                text: "Read it".into(),
                status: PlanStatus::InProgress,
            }],
        }),
        Body::TaskUpdated(Box::new({
            let mut task = Task::new("task-1", TaskState::Completed);
            task.item = Some(item());
            task.title = text("Search");
            task.summary = text("found");
            task
        })),
    ]
}

fn asking() -> Vec<Body> {
    vec![
        Body::PermissionRequested(Box::new({
            let mut asked = PermissionRequested::new(request(), "Bash", ToolKind::Execute);
            asked.item = Some(item());
            asked.subject = text("make");
            asked.description = text("Build it");
            asked.input = Some(Json::from(&json!({"command": "make"})));
            asked.grants = vec![Grant {
                id: GrantId::new("grant-1"),
                kind: GrantKind::Rule,
                destination: GrantDestination::Session,
                text: "Allow Bash(make) for this session".into(),
            }];
            asked.takes_one_grant = true;
            asked
        })),
        Body::QuestionAsked(Box::new(QuestionAsked {
            request: request(),
            item: Some(item()),
            questions: vec![Question {
                text: "Which colour?".into(),
                header: text("Colour"),
                options: vec![QuestionOption {
                    label: "Red".into(),
                    description: text("like fire"),
                }],
                is_multiple: true,
            }],
        })),
        Body::PlanProposed(Box::new(PlanProposed {
            request: request(),
            item: Some(item()),
            plan: "# Plan".into(),
        })),
        Body::RequestClosed(RequestClosed {
            request: request(),
            reason: CloseReason::Denied,
        }),
        Body::PermissionDenied(Box::new(denial())),
    ]
}

fn state() -> Vec<Body> {
    vec![
        Body::Usage(Box::new(Usage {
            scope: UsageScope::Turn,
            tokens: usage().tokens,
            cost: usage().cost,
            model: text("large"),
            context: Some(ContextUse {
                used: 10,
                size: Some(100),
            }),
            run: usage(),
        })),
        Body::StatusChanged(StatusChanged {
            status: Status::Compacting,
        }),
        Body::RetryScheduled(Box::new({
            let mut retry = Retry::new(error());
            (retry.attempt, retry.max_attempts, retry.delay_ms) = (Some(1), Some(10), Some(500));
            retry
        })),
        Body::RateLimit(Box::new({
            let mut limit = RateLimit::new(RateLimitStatus::Warning);
            limit.window = text("five_hour");
            limit.used_percent = Some(87.5);
            limit.resets_at = Some(1_800_000_000);
            limit
        })),
        Body::Notice(Box::new({
            let mut notice = Notice::new(Severity::Warning, "stderr", "a warning");
            notice.data = Some(Json::from(&json!({"n": 1})));
            notice
        })),
        Body::Error(Box::new({
            let mut error = ErrorInfo::new(ErrorClass::Protocol, "not_json", "line 3 is no JSON");
            error.position = Some(Position {
                line: 3,
                column: 7,
                offset: 100,
                length: 20,
            });
            error
        })),
        Body::Unknown(Unknown {
            type_name: "novelty".into(),
        }),
        Body::Finished(Box::new({
            let mut finished = Finished::new(Outcome::Failed);
            finished.is_synthetic = true;
            finished.error = Some(error());
            finished.exit = ExitInfo {
                code: Some(1),
                signal: Some(9),
                was_stopped: true,
                survivors_killed: 2,
            };
            finished.usage = usage();
            (finished.turns, finished.line_errors, finished.duration_ms) = (1, 2, 1_234);
            finished
        })),
    ]
}

fn event(body: Body) -> Event {
    let mut event = Event::new(AgentKind::CLAUDE_CODE, body);
    event.parent = Some(ItemId::new("parent-1"));
    event.raw = Some(RawRef {
        line: 1,
        offset: 0,
        length: 10,
    });
    event
}

#[test]
fn every_kind_of_event_is_flat_json_and_reads_back_the_same() {
    for body in full() {
        let event = event(body);
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["agent_kind"], "claude_code");
        assert_eq!(value["type"], event.body.name());
        assert!(value["data"].is_object(), "{text}");
        let keys: BTreeSet<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            BTreeSet::from(["agent_kind", "data", "parent", "raw", "type"])
        );
    }
}

#[test]
fn the_examples_here_have_one_of_each_kind() {
    let names: BTreeSet<&str> = full().iter().map(Body::name).collect();
    assert_eq!(names, Body::NAMES.iter().copied().collect());
    assert_eq!(full().len(), Body::NAMES.len());
}

#[test]
fn names_and_shapes_stay_as_they_are() {
    let lines: Vec<String> = full()
        .into_iter()
        .map(|body| serde_json::to_string(&event(body)).unwrap())
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// The page's compiler holds the sample against the page's types, with everything filled in and nothing more.
#[test]
fn the_pages_sample_has_one_of_each_kind_as_it_is_sent() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/wire/agent.sample.ts");
    let lines = full().into_iter().map(|body| {
        let value: Value = serde_json::to_value(event(body)).unwrap();
        format!("  {value},\n")
    });
    let made = format!(
        "// Made from the Rust code, and held against it by a test of agent_api. Do not edit.\n\
         import type {{ AgentEvent }} from './agent';\n\n\
         export const sample = [\n{}] satisfies AgentEvent[];\n",
        lines.collect::<String>()
    );
    if std::env::var_os("RALPH_WRITE_WIRE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == made,
        "web/src/wire/agent.sample.ts is not what the code says: run `RALPH_WRITE_WIRE=1 cargo test -p agent_api --test wire`"
    );
}

#[test]
fn what_is_not_known_is_left_out() {
    let event = Event::new(AgentKind::CUSTOM, Body::SessionStarted(Box::default()));
    let text = serde_json::to_string(&event).unwrap();
    assert_eq!(
        text,
        r#"{"agent_kind":"custom","type":"session_started","data":{}}"#
    );
    assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
}

#[test]
fn a_kind_of_event_from_a_newer_version_is_unknown() {
    for data in ["{\"how\":[1,2]}", "null", "\"word\""] {
        let text = format!(r#"{{"agent_kind":"later","type":"teleported","data":{data},"more":1}}"#);
        let event: Event = serde_json::from_str(&text).unwrap();
        assert_eq!(event.agent_kind, AgentKind::new("later"));
        let expected = Unknown {
            type_name: "teleported".into(),
        };
        assert_eq!(event.body, Body::Unknown(expected));
    }
}

#[test]
fn words_from_a_newer_version_do_not_cost_the_event() {
    let read = |name: &str, data: &str| -> Body {
        let text = format!(r#"{{"agent_kind":"custom","type":"{name}","data":{data}}}"#);
        serde_json::from_str::<Event>(&text).unwrap().body
    };
    let tool = read(
        "tool_started",
        r#"{"item":"i","name":"Beam","kind":"teleport","state":"running"}"#,
    );
    assert!(matches!(tool, Body::ToolStarted(tool) if tool.kind == ToolKind::Other));
    let error = read("error", r#"{"class":"weather","code":"rain","message":"wet"}"#);
    assert!(matches!(error, Body::Error(error) if error.class == ErrorClass::Unknown));
    for (name, data) in [
        ("turn_finished", r#"{"number":1,"outcome":"ascended"}"#),
        (
            "turn_finished",
            r#"{"number":1,"outcome":{"limit_reached":"patience"}}"#,
        ),
        ("status_changed", r#"{"status":"dreaming"}"#),
    ] {
        let type_name = name.to_owned();
        assert_eq!(read(name, data), Body::Unknown(Unknown { type_name }));
    }
}

#[test]
fn fields_from_a_newer_version_are_ignored() {
    let text = r#"{"agent_kind":"custom","type":"turn_started","data":{"number":1,"mood":"good"}}"#;
    let event: Event = serde_json::from_str(text).unwrap();
    assert_eq!(event.body, Body::TurnStarted(TurnStarted { number: 1 }));
}

#[test]
fn arguments_are_kept_as_they_were_written() {
    let body = work().into_iter().next().unwrap();
    let text = serde_json::to_string(&event(body)).unwrap();
    assert!(
        text.contains(r#""input":{"path": "a.txt", "path": "b.txt"}"#),
        "{text}"
    );
}
