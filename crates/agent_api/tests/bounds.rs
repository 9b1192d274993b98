//! Whatever an agent says, an event stays within its bounds.

use agent_api::bounds::{JSON_BYTES, LIST_ENTRIES, MESSAGE_BYTES, SESSION_ID_BYTES, TEXT_BYTES};
use agent_api::{
    AgentKind, Body, ChangeKind, CommandAnswered, Cost, CostSource, Delta, DeltaMode, Denial, Emitter,
    ErrorClass, ErrorInfo, FileChange, Grant, GrantDestination, GrantId, GrantKind, ItemId, Json,
    MessageState, MessageUpdated, MicroUsd, Notice, Origin, Outcome, Part, PermissionRequested, Piece,
    PlanEntry, PlanProposed, PlanStatus, PlanUpdated, Question, QuestionAsked, QuestionOption, RateLimit,
    RateLimitStatus, RequestId, Retry, RunUsage, SessionStarted, SessionUpdated, Severity, Task, TaskState,
    TextBlock, ThinkingBlock, Tokens, ToolFinished, ToolKind, ToolStarted, ToolStatus, TurnFinished, Unknown,
    Usage, UsageScope, UserMessage,
};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::test_runner::Config;
use serde_json::Value;

/// An event with several full lists and payloads; no event is larger.
const MOST_EVENT_BYTES: usize = 6 * JSON_BYTES;

fn emitted(body: Body) -> Vec<Body> {
    let mut emitter = Emitter::new(AgentKind::CUSTOM);
    emitter.emit(body);
    std::iter::from_fn(|| emitter.next_event())
        .map(|event| event.body)
        .collect()
}

/// Around each of the bounds, and in characters of every length.
fn huge() -> impl Strategy<Value = String> {
    let character = prop_oneof![Just('x'), Just('é'), Just('漢'), Just('🎉')];
    let length = prop_oneof![
        3 => 0..100_usize,
        2 => SESSION_ID_BYTES - 4..SESSION_ID_BYTES + 5,
        2 => MESSAGE_BYTES - 4..MESSAGE_BYTES + 5,
        2 => TEXT_BYTES - 4..TEXT_BYTES + 5,
        1 => 2 * TEXT_BYTES..4 * TEXT_BYTES,
    ];
    // An odd start, so that characters do not end where bounds are.
    (character, length, 0..4_usize).prop_map(|(character, bytes, start)| {
        let rest = character
            .to_string()
            .repeat(bytes.saturating_sub(start) / character.len_utf8());
        format!("{}{rest}", "-".repeat(start))
    })
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(huge())
}

fn count() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..4_usize, 1 => LIST_ENTRIES - 1..LIST_ENTRIES + 2, 1 => Just(5_000_usize)]
}

/// Many of one: a list as an agent gone wild would write it.
fn list<T: Clone>(entry: T, count: usize) -> Vec<T> {
    vec![entry; count]
}

fn json(text: Option<String>) -> Option<Json> {
    Json::of(&text?)
}

fn id(text: &str) -> ItemId {
    ItemId::new(text)
}

fn error(code: String, message: String) -> ErrorInfo {
    ErrorInfo::new(ErrorClass::Unknown, code, message)
}

/// Every kind of event that carries something of unknown length.
fn body() -> impl Strategy<Value = Body> {
    (
        0..24_u8,
        (huge(), huge(), huge()),
        (maybe(), maybe(), maybe()),
        count(),
        any::<bool>(),
    )
        .prop_map(|(kind, (a, b, c), (x, y, z), count, flag)| match kind {
            0..8 => said(kind, a, b, (x, y, z), count, flag),
            8..16 => done(kind, (a, b, c), (x, y, z), count),
            _ => told(kind, (a, b, c), (x, y), count),
        })
}

type Maybe = Option<String>;

fn said(kind: u8, a: String, b: String, (x, y, z): (Maybe, Maybe, Maybe), count: usize, flag: bool) -> Body {
    match kind {
        0 => Body::SessionStarted(Box::new(SessionStarted {
            session_id: Some(a),
            model: x.clone(),
            cwd: y.clone(),
            agent_version: z.clone(),
            permission_mode: x,
            tools: list(b.clone(), count),
            mcp_servers: list(b, count),
        })),
        1 => Body::SessionUpdated(Box::new(SessionUpdated {
            session_id: Some(a),
            model: x,
            permission_mode: y,
            title: z,
        })),
        2 => Body::TurnFinished(Box::new({
            let mut turn = TurnFinished::new(1, Outcome::Failed);
            turn.text = x.clone();
            turn.error = Some(error(a, b.clone()));
            turn.stop_reason = y;
            turn.denials = list(
                Denial {
                    item: None,
                    tool: b,
                    reason: x,
                },
                count,
            );
            turn.structured_output = json(z);
            turn
        })),
        3 => Body::Delta(Delta {
            item: id(&b),
            part: Part::Text,
            mode: if flag {
                DeltaMode::Append
            } else {
                DeltaMode::Snapshot
            },
            text: a,
        }),
        4 => Body::TextBlock(TextBlock {
            item: id(&b),
            text: a,
            piece: Piece::WHOLE,
            is_aborted: flag,
        }),
        5 => Body::ThinkingBlock(ThinkingBlock {
            item: id(&b),
            text: a,
            piece: Piece::WHOLE,
            is_redacted: flag,
        }),
        6 => Body::UserMessage(UserMessage {
            item: id(&b),
            text: a,
            piece: Piece::WHOLE,
            origin: Origin::Agent,
        }),
        _ => Body::CommandAnswered(CommandAnswered {
            command_id: a,
            error: x,
        }),
    }
}

fn done(
    kind: u8,
    (a, b, c): (String, String, String),
    (x, y, z): (Maybe, Maybe, Maybe),
    count: usize,
) -> Body {
    match kind {
        8 => Body::ToolStarted(Box::new({
            let mut tool = ToolStarted::new(id(&a), b, ToolKind::Other);
            tool.subject = x;
            tool.input = json(y);
            tool.mcp_server = z;
            tool
        })),
        9 => Body::ToolFinished(Box::new({
            let mut tool = ToolFinished::new(id(&a), ToolStatus::Completed);
            tool.output = b;
            tool.attachments = list(c.clone(), count);
            tool.changes = list(FileChange::new(c, ChangeKind::Added, x), count);
            tool
        })),
        10 => Body::PlanUpdated(PlanUpdated {
            item: None,
            entries: list(
                PlanEntry {
                    text: a,
                    status: PlanStatus::Pending,
                },
                count,
            ),
        }),
        11 => Body::PermissionRequested(Box::new({
            let mut asked = PermissionRequested::new(RequestId::new(&a), b.clone(), ToolKind::Other);
            asked.subject = x.clone();
            asked.description = y.clone();
            asked.input = json(z);
            let grant = Grant {
                id: GrantId::new(&b),
                kind: GrantKind::Rule,
                destination: GrantDestination::Session,
                text: x.unwrap_or_default(),
            };
            asked.grants = list(grant, count);
            asked
        })),
        12 | 13 => {
            let option = QuestionOption {
                label: b,
                description: x,
            };
            let question = Question {
                text: a,
                header: y,
                options: list(option, count.min(40)),
                is_multiple: false,
            };
            Body::QuestionAsked(Box::new(QuestionAsked {
                request: RequestId::new("r"),
                item: None,
                questions: list(question, count.min(40)),
            }))
        }
        14 => Body::PlanProposed(Box::new(PlanProposed {
            request: RequestId::new("r"),
            item: None,
            plan: a,
        })),
        _ => Body::PermissionDenied(Box::new(Denial {
            item: None,
            tool: a,
            reason: x,
        })),
    }
}

fn told(kind: u8, (a, b, _): (String, String, String), (x, y): (Maybe, Maybe), _count: usize) -> Body {
    match kind {
        16 => Body::TaskUpdated(Box::new({
            let mut task = Task::new(a, TaskState::Running);
            (task.title, task.summary) = (x, y);
            task
        })),
        17 => Body::MessageUpdated(MessageUpdated {
            message_id: a,
            state: MessageState::Queued,
        }),
        18 => Body::Usage(Box::new(Usage {
            scope: UsageScope::Run,
            tokens: Tokens::default(),
            cost: None,
            model: Some(a),
            context: None,
            run: RunUsage::default(),
        })),
        19 => Body::RetryScheduled(Box::new(Retry::new(error(a, b)))),
        20 => Body::RateLimit(Box::new({
            let mut limit = RateLimit::new(RateLimitStatus::Unknown);
            limit.window = Some(a);
            limit
        })),
        21 => Body::Notice(Box::new({
            let mut notice = Notice::new(Severity::Info, a, b);
            notice.data = json(x);
            notice
        })),
        22 => Body::Error(Box::new(error(a, b))),
        _ => Body::Unknown(Unknown { type_name: a }),
    }
}

/// The longest that a string under this key of an event's data may be.
fn bound(kind: &str, key: &str) -> usize {
    match (kind, key) {
        (_, "session_id") => SESSION_ID_BYTES,
        (_, "item" | "request") => 256,
        ("delta" | "text_block" | "thinking_block" | "user_message", "text")
        | ("turn_finished", "text")
        | ("tool_finished", "output")
        | ("plan_proposed", "plan") => TEXT_BYTES,
        ("tool_finished", "diff") | (_, "input" | "structured_output" | "data") => JSON_BYTES,
        _ => MESSAGE_BYTES,
    }
}

/// Looks at every string and list of an event. What is inside a payload is bounded as a whole.
fn check(kind: &str, key: &str, value: &Value) {
    match value {
        Value::String(text) => assert!(text.len() <= bound(kind, key), "{kind} {key} {}", text.len()),
        Value::Array(entries) => {
            assert!(entries.len() <= LIST_ENTRIES, "{kind} {key}");
            for entry in entries {
                check(kind, key, entry);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                check(kind, key, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text of an event that is split where it is too long, with its place in the whole.
fn piece(body: &Body) -> Option<(&str, Option<Piece>)> {
    match body {
        Body::Delta(delta) => Some((&delta.text, None)),
        Body::TextBlock(block) => Some((&block.text, Some(block.piece))),
        Body::ThinkingBlock(block) => Some((&block.text, Some(block.piece))),
        Body::UserMessage(message) => Some((&message.text, Some(message.piece))),
        _ => None,
    }
}

proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Config::default() })]

    #[test]
    fn every_event_keeps_every_bound(body in body()) {
        let events = emitted(body.clone());
        for body in &events {
            let value = serde_json::to_value(body).unwrap();
            check(body.name(), "", &value["data"]);
            let bytes = serde_json::to_string(body).unwrap().len();
            assert!(bytes <= MOST_EVENT_BYTES, "{} has {bytes} bytes", body.name());
        }
        match piece(&body) {
            None => assert_eq!(events.len(), 1),
            Some((whole, _)) => {
                let pieces: Vec<_> = events.iter().filter_map(piece).collect();
                let joined: String = pieces.iter().map(|(text, _)| *text).collect();
                assert!(joined == whole, "{} pieces do not join to the whole", pieces.len());
                for (index, (_, piece)) in pieces.iter().enumerate() {
                    let expected = Piece { index: index as u32, is_last: index + 1 == pieces.len() };
                    assert!(piece.is_none_or(|piece| piece == expected));
                }
            }
        }
    }

    #[test]
    fn what_fits_is_not_touched(text in huge()) {
        let mut notice = Notice::new(Severity::Info, "code", &text);
        notice.data = Json::of(&text);
        let body = Body::Notice(Box::new(notice));
        let Some(Body::Notice(notice)) = emitted(body).pop() else { unreachable!() };
        assert_eq!(notice.message == text, text.len() <= MESSAGE_BYTES);
        let data = notice.data.unwrap();
        // Two quotes are part of the payload.
        assert_eq!(data.is_oversize(), text.len() + 2 > JSON_BYTES);
        assert_eq!(data.as_str() == format!("\"{text}\""), text.len() + 2 <= JSON_BYTES);
    }
}

#[test]
fn a_session_id_is_told_whole_or_not_at_all() {
    for (length, is_told) in [(SESSION_ID_BYTES, true), (SESSION_ID_BYTES + 1, false)] {
        let session_id = Some("x".repeat(length));
        let started = Body::SessionStarted(Box::new(SessionStarted {
            session_id: session_id.clone(),
            ..SessionStarted::default()
        }));
        let Some(Body::SessionStarted(started)) = emitted(started).pop() else {
            unreachable!()
        };
        assert_eq!(started.session_id, session_id.filter(|_| is_told));
    }
}

#[test]
fn a_payload_that_is_too_long_is_replaced_as_a_whole() {
    let body = Body::ToolStarted(Box::new({
        let mut tool = ToolStarted::new(id("call"), "Write", ToolKind::Edit);
        tool.subject = Some("a.txt".into());
        tool.input = Json::of(&"x".repeat(JSON_BYTES));
        tool
    }));
    let Some(Body::ToolStarted(tool)) = emitted(body).pop() else {
        unreachable!()
    };
    let input = tool.input.unwrap();
    assert_eq!(input.as_str(), r#"{"dropped":{"reason":"oversize"}}"#);
    assert_eq!(tool.subject.as_deref(), Some("a.txt"));
}

#[test]
fn only_the_first_piece_of_a_snapshot_replaces_what_is_there() {
    let events = emitted(Body::Delta(Delta {
        item: id("text"),
        part: Part::Text,
        mode: DeltaMode::Snapshot,
        text: "é".repeat(TEXT_BYTES),
    }));
    let modes: Vec<DeltaMode> = events
        .iter()
        .filter_map(|body| match body {
            Body::Delta(delta) => Some(delta.mode),
            _ => None,
        })
        .collect();
    assert_eq!(modes, [DeltaMode::Snapshot, DeltaMode::Append]);
}

#[test]
fn what_was_cut_says_so() {
    let Some(Body::Error(error)) = emitted(Body::Error(Box::new(error(
        "code".into(),
        "🎉".repeat(MESSAGE_BYTES),
    ))))
    .pop() else {
        unreachable!()
    };
    assert!(error.message.ends_with("🎉…(truncated)"));
}

#[test]
fn figures_that_cannot_be_true_are_left_out() {
    let tokens = |input| Tokens {
        input,
        ..Tokens::default()
    };
    let usage = |input, micro_usd| {
        let cost = Some(Cost {
            micro_usd: MicroUsd::new(micro_usd),
            source: CostSource::Reported,
        });
        Body::Usage(Box::new(Usage {
            scope: UsageScope::Run,
            tokens: tokens(input),
            cost,
            model: None,
            context: None,
            run: RunUsage {
                tokens: tokens(input),
                cost,
                ..RunUsage::default()
            },
        }))
    };
    let emitted = |body| emitted(body).remove(0);
    assert!(matches!(emitted(usage(5_000_000, 12_000_000)), Body::Usage(_)));
    for body in [usage(u64::MAX, 1), usage(1, u64::MAX)] {
        let told = emitted(body);
        assert!(
            matches!(&told, Body::Notice(notice) if notice.code == "implausible_usage"),
            "{told:?}"
        );
    }
    for (reported, shown) in [
        (-1e308, None),
        (f64::NEG_INFINITY, None),
        (f64::NAN, None),
        (103.5, Some(103.5)),
    ] {
        let mut limit = RateLimit::new(RateLimitStatus::Allowed);
        limit.used_percent = Some(reported);
        let told = emitted(Body::RateLimit(Box::new(limit)));
        assert!(
            matches!(&told, Body::RateLimit(limit) if limit.used_percent == shown),
            "{told:?}"
        );
    }
}
