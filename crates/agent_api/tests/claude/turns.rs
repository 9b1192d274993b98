//! Turns that overlap, what they cost, and messages between them.

use agent_api::backends::claude_code::{ClaudeCode, ClaudeMapper, MapperSetup};
use agent_api::{
    AgentKind, Answer, Backend, Body, Command, CommandError, CostBasis, DiscardReason, Emitter, Event,
    InstalledAgent, Mapper, MicroUsd, RunOptions, RunRequest, RunUsage, SessionChoice, Tokens, Usage,
    UsageScope, Version, bounds, new_message_id,
};
use bytes::Bytes;
use claude_code::Capabilities;
use json_lines::LineFramer;
use serde_json::{Value, json};
use test_support::fixtures;

use crate::replay::{bodies, replay, replay_bytes};

const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}"#;

fn result(total: f64, part: f64) -> String {
    format!(
        r#"{{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s","total_cost_usd":{total},"usage":{{"input_tokens":1,"output_tokens":1}},"model_usage_since_last_result":{{"m":{{"inputTokens":1,"outputTokens":1,"costUSD":{part}}}}}}}"#
    )
}

fn play(lines: &[&str]) -> Vec<Event> {
    replay_bytes(lines.join("\n").as_bytes())
}

fn feed(mapper: &mut dyn Mapper, events: &mut Emitter, line: &str) {
    let mut framer = LineFramer::default();
    framer.push(Bytes::from(format!("{line}\n")));
    while let Some(framed) = framer.next_line() {
        mapper.map_line(framed, events);
    }
}

fn usages(events: &[Event]) -> Vec<&Usage> {
    bodies(events)
        .filter_map(|body| match body {
            Body::Usage(usage) => Some(&**usage),
            _ => None,
        })
        .collect()
}

/// The numbers of the turns, as they began and as they ended.
fn numbers(events: &[Event]) -> (Vec<u32>, Vec<u32>) {
    let (mut began, mut ended) = (Vec::new(), Vec::new());
    for body in bodies(events) {
        match body {
            Body::TurnStarted(turn) => began.push(turn.number),
            Body::TurnFinished(turn) => ended.push(turn.number),
            _ => {}
        }
    }
    (began, ended)
}

#[test]
fn turns_that_overlap_end_in_the_order_in_which_they_began() {
    let one = result(0.01, 0.01);
    let events = play(&[INIT, INIT, &one, &one]);
    assert_eq!(numbers(&events), (vec![1, 2], vec![1, 2]));
    let recorded = replay(&fixtures::named("2.1.325", "subagent_background").unwrap());
    assert_eq!(numbers(&recorded.events), (vec![1, 2], vec![1, 2]));
}

#[test]
fn every_recorded_turn_ends_once_at_most_and_under_its_number() {
    for fixture in fixtures::all().unwrap() {
        let (began, ended) = numbers(&replay(&fixture).events);
        assert_eq!(
            began[..ended.len()],
            ended,
            "{}/{}",
            fixture.version,
            fixture.name
        );
    }
}

#[test]
fn a_turn_costs_what_it_added_to_the_total() {
    let results = [result(0.01, 0.01), result(0.03, 0.02)];
    let events = play(&[INIT, &results[0], INIT, &results[1]]);
    let costs: Vec<_> = usages(&events)
        .iter()
        .map(|usage| {
            let cost = |cost: Option<agent_api::Cost>| cost.unwrap().micro_usd.as_micro_usd();
            (usage.scope, cost(usage.cost), cost(usage.run.cost))
        })
        .collect();
    assert_eq!(
        costs,
        [
            (UsageScope::Turn, 10_000, 10_000),
            (UsageScope::Turn, 20_000, 30_000)
        ]
    );
}

#[test]
fn a_result_that_ends_no_turn_costs_nothing() {
    let (one, spurious, two) = (result(0.01, 0.01), result(0.5, 0.5), result(0.03, 0.02));
    let events = play(&[INIT, &one, &spurious, INIT, &two]);
    let last = usages(&events).last().unwrap().run;
    assert_eq!(last.cost.unwrap().micro_usd, MicroUsd::new(30_000));
    assert_eq!(last.tokens.total(), 4);
}

/// What the run cost by the last result of a process that reports totals of its session.
fn cost_of_a_run(session: SessionChoice) -> (Option<agent_api::Cost>, RunUsage) {
    let mut options = RunOptions::new();
    options.session = Some(session);
    let request = RunRequest::new("Go.").options(options);
    let found = InstalledAgent {
        program: "claude".into(),
        version: Version::find("2.1.280"),
    };
    let mut launch = ClaudeCode::new().launch(&request, &found).unwrap();
    let mut events = Emitter::new(AgentKind::CLAUDE_CODE);
    for line in [
        r#"{"type":"system","subtype":"init","session_id":"s","claude_code_version":"2.1.280"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"done","total_cost_usd":0.5}"#,
    ] {
        feed(&mut *launch.mapper, &mut events, line);
    }
    let all: Vec<Event> = std::iter::from_fn(|| events.next_event()).collect();
    let usage = usages(&all)[0];
    (usage.cost, usage.run)
}

#[test]
fn a_resumed_session_of_which_nothing_is_known_says_that_its_cost_may_be_too_high() {
    let (cost, run) = cost_of_a_run(SessionChoice::New);
    assert!(cost.is_some() && !run.may_include_earlier_runs);
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    for session in [
        SessionChoice::Resume(id.to_owned()),
        SessionChoice::fork(id),
        SessionChoice::Last,
        SessionChoice::fork_last(),
    ] {
        let (cost, run) = cost_of_a_run(session);
        assert!(run.may_include_earlier_runs);
        assert_eq!(cost, None, "nobody knows what the turn cost");
    }
}

#[test]
fn the_end_of_a_message_adds_to_what_its_start_said() {
    let events = play(&[
        INIT,
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","usage":{"input_tokens":10,"cache_read_input_tokens":100,"output_tokens":1}}}}"#,
        r#"{"type":"stream_event","event":{"type":"message_delta","delta":{},"usage":{"output_tokens":50}}}"#,
    ]);
    let expected = Tokens {
        input: 10,
        cache_read: 100,
        output: 50,
        ..Tokens::default()
    };
    let last = *usages(&events).last().unwrap();
    assert_eq!((last.tokens, last.run.tokens), (expected, expected));
    assert_eq!(last.context.unwrap().used, 110);
}

#[test]
fn what_read_nothing_does_not_empty_the_context() {
    let events = play(&[
        INIT,
        r#"{"type":"assistant","message":{"id":"m1","model":"<synthetic>","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":0,"output_tokens":0}}}"#,
    ]);
    assert!(usages(&events).iter().all(|usage| usage.context.is_none()));
}

#[test]
fn text_before_an_error_of_the_api_is_taken_back_first() {
    let events = play(&[
        INIT,
        r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half"}}}"#,
        r#"{"type":"assistant","is_api_error_message":true,"message":{"id":"e1","content":[{"type":"text","text":"API Error: 500"}]}}"#,
    ]);
    let written = bodies(&events)
        .find_map(|body| match body {
            Body::Delta(delta) => Some(&delta.item),
            _ => None,
        })
        .unwrap();
    let [.., Body::ItemDiscarded(discarded), Body::Error(_)] = &*bodies(&events).cloned().collect::<Vec<_>>()
    else {
        panic!("{events:?}");
    };
    assert_eq!(
        (&discarded.item, discarded.reason),
        (written, DiscardReason::Superseded)
    );
}

#[test]
fn a_message_whose_id_is_no_uuid_is_refused_and_not_waited_for() {
    let mut mapper = ClaudeMapper::new(MapperSetup::default());
    let mut events = Emitter::new(AgentKind::CLAUDE_CODE);
    let send = |message_id: String| Command::Send {
        message_id,
        text: "more".to_owned(),
        attachments: Vec::new(),
    };
    let refused = mapper.encode(&send("mine".to_owned()), &mut events);
    assert!(matches!(refused, Err(CommandError::NotExpressible { .. })));
    feed(&mut mapper, &mut events, INIT);
    mapper.encode(&send(new_message_id()), &mut events).unwrap();
    assert!(!mapper.is_idle());
    feed(&mut mapper, &mut events, &result(0.01, 0.01));
    assert!(
        mapper.is_idle(),
        "without receipts a result answers all that was said"
    );
}

#[test]
fn a_message_that_has_a_receipt_is_waited_for() {
    let mut mapper = ClaudeMapper::new(MapperSetup::default());
    let mut events = Emitter::new(AgentKind::CLAUDE_CODE);
    let id = new_message_id();
    let lifecycle =
        |state: &str| format!(r#"{{"type":"command_lifecycle","command_uuid":"{id}","state":"{state}"}}"#);
    feed(&mut mapper, &mut events, INIT);
    // An id can be written in capitals; receipts do not.
    let command = Command::Send {
        message_id: id.to_uppercase(),
        text: "more".to_owned(),
        attachments: Vec::new(),
    };
    mapper.encode(&command, &mut events).unwrap();
    feed(&mut mapper, &mut events, &lifecycle("queued"));
    feed(&mut mapper, &mut events, &result(0.01, 0.01));
    assert!(!mapper.is_idle());
    feed(&mut mapper, &mut events, INIT);
    feed(&mut mapper, &mut events, &lifecycle("started"));
    feed(&mut mapper, &mut events, &result(0.02, 0.01));
    assert!(mapper.is_idle());
}

#[test]
fn a_request_that_nobody_can_serve_is_answered_at_once() {
    for body in [
        r#"{"subtype":"hook_callback","callback_id":"c"}"#,
        r#"{"subtype":"mcp_message","server_name":"x"}"#,
        r#"{"subtype":"teleport"}"#,
    ] {
        let mut mapper = ClaudeMapper::new(MapperSetup::default());
        let mut events = Emitter::new(AgentKind::CLAUDE_CODE);
        let line = format!(r#"{{"type":"control_request","request_id":"r1","request":{body}}}"#);
        feed(&mut mapper, &mut events, &line);
        let replies = events.take_replies();
        let [reply] = &*replies else {
            panic!("{replies:?}");
        };
        let reply: serde_json::Value = serde_json::from_slice(reply).unwrap();
        assert_eq!(reply["type"], "control_response");
        assert_eq!(reply["response"]["subtype"], "error");
        assert_eq!(reply["response"]["request_id"], "r1");
        assert!(events.take_replies().is_empty());
    }
}

#[test]
fn a_cleared_conversation_is_named_by_the_next_init_only() {
    let fixture = fixtures::named("2.1.325", "slash_clear").unwrap();
    let mut ids = Vec::new();
    for body in bodies(&replay(&fixture).events) {
        match body {
            Body::SessionStarted(session) => ids.push(session.session_id.clone()),
            Body::SessionUpdated(session) => ids.push(session.session_id.clone()),
            _ => {}
        }
    }
    let init: serde_json::Value = fixture
        .bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .find(|line: &serde_json::Value| line["subtype"] == "init")
        .unwrap();
    assert_eq!(ids, [init["session_id"].as_str().map(str::to_owned)]);
}

#[test]
fn clearing_the_conversation_does_not_lower_the_cost_of_the_run() {
    let without_part = |total: f64| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"session_id":"s","total_cost_usd":{total}}}"#
        )
    };
    let reset = r#"{"type":"conversation_reset","new_conversation_id":"c","session_id":"s"}"#;
    let events = play(&[INIT, &without_part(0.4), reset, INIT, &without_part(0.1)]);
    let costs: Vec<u64> = usages(&events)
        .iter()
        .filter_map(|usage| Some(usage.run.cost?.micro_usd.as_micro_usd()))
        .collect();
    assert_eq!(costs, [400_000, 500_000]);
}

#[test]
fn the_installed_version_decides_whether_a_total_includes_earlier_runs() {
    // Before 2.1.9, `init` does not name the version, and totals are those of the process.
    let mut mapper = ClaudeMapper::new(MapperSetup {
        cost_basis: CostBasis::Resumed {
            session_total: MicroUsd::new(300_000),
        },
        capabilities: Some(Capabilities::for_version(Version::new(2, 1, 8))),
        ..MapperSetup::default()
    });
    let mut emitter = Emitter::new(AgentKind::CLAUDE_CODE);
    let result =
        r#"{"type":"result","subtype":"success","is_error":false,"session_id":"s","total_cost_usd":0.5}"#;
    feed(&mut mapper, &mut emitter, INIT);
    feed(&mut mapper, &mut emitter, result);
    let events: Vec<Event> = std::iter::from_fn(|| emitter.next_event()).collect();
    let last = usages(&events).last().unwrap().run.cost.unwrap();
    assert_eq!(last.micro_usd, MicroUsd::new(500_000));
}

#[test]
fn an_answer_repeats_the_ids_questions_and_labels_of_the_cli_however_long() {
    let id = "r".repeat(300);
    let question = "q".repeat(5_000);
    let labels = ["a".repeat(5_000), "b".repeat(5_000)];
    let request = json!({"type": "control_request", "request_id": id, "request": {
        "subtype": "can_use_tool", "tool_name": "AskUserQuestion", "tool_use_id": "t", "input": {"questions": [{
            "question": question, "header": "Q", "multiSelect": true,
            "options": [{"label": labels[0]}, {"label": labels[1]}],
        }]},
    }});
    let mut mapper = ClaudeMapper::new(MapperSetup::default());
    let mut emitter = Emitter::new(AgentKind::CLAUDE_CODE);
    feed(&mut mapper, &mut emitter, &request.to_string());
    let events: Vec<Event> = std::iter::from_fn(|| emitter.next_event()).collect();
    let asked = bodies(&events)
        .find_map(|body| match body {
            Body::QuestionAsked(asked) => Some(asked),
            _ => None,
        })
        .unwrap();
    let shown = &asked.questions[0];
    let chosen = format!("{}, {}", shown.options[0].label, shown.options[1].label);
    assert!(asked.request.as_str().len() <= 256 && shown.text.len() <= bounds::MESSAGE_BYTES);
    let answer = Command::Answer {
        request: asked.request.clone(),
        answer: Answer::Answers(vec![(shown.text.clone(), chosen)]),
    };
    let line = mapper.encode(&answer, &mut emitter).unwrap().unwrap();
    let line: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(line["response"]["request_id"], json!(id));
    let answers = &line["response"]["response"]["updatedInput"]["answers"];
    assert_eq!(
        *answers,
        json!({question: format!("{}, {}", labels[0], labels[1])})
    );
}

#[test]
fn more_requests_than_anyone_could_answer_are_denied() {
    let mut mapper = ClaudeMapper::new(MapperSetup::default());
    let mut emitter = Emitter::new(AgentKind::CLAUDE_CODE);
    for number in 0..1_100 {
        let request = json!({"type": "control_request", "request_id": format!("r{number}"), "request": {
            "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "make"}}});
        feed(&mut mapper, &mut emitter, &request.to_string());
    }
    let events: Vec<Event> = std::iter::from_fn(|| emitter.next_event()).collect();
    let count = |name: &str| bodies(&events).filter(|body| body.name() == name).count();
    assert_eq!(
        (count("permission_requested"), count("permission_denied")),
        (1_024, 76)
    );
    assert_eq!(
        emitter.take_replies().len(),
        76,
        "the CLI waits for an answer to each"
    );
}
