//! Output that no parser should see, as it was captured.

use agent_api::{Body, ErrorClass, Outcome, ToolStatus, backends, capability};

use crate::replay::{Replayed, Vendor};

fn codex(lines: &[&str]) -> Replayed {
    Vendor::Codex.replay(lines.join("\n").as_bytes())
}

const DONE: &str = r#"{"type":"turn.completed","usage":{"input_tokens":1200,"cached_input_tokens":1000,"output_tokens":34}}"#;

#[test]
fn prose_glued_before_an_object_is_noise_and_the_object_counts() {
    let line = r#"Yes — what would you like me to do?{"type":"error","message":"interrupted"}"#;
    for vendor in [Vendor::Codex, Vendor::Gemini] {
        let replayed = vendor.replay(line.as_bytes());
        let [noise, error] = &replayed.events[..] else {
            unreachable!("{:?}", replayed.names());
        };
        let Body::Error(info) = &noise.body else {
            unreachable!("{noise:?}");
        };
        assert_eq!((info.class, info.code.as_str()), (ErrorClass::Protocol, "noise"));
        assert!(!info.message.contains("would you like"));
        assert!(matches!(&error.body, Body::Error(info) if info.message == "interrupted"));
        let raw = error.raw.unwrap();
        let start = usize::try_from(raw.offset).unwrap();
        assert!(line[start..].starts_with(r#"{"type":"error""#));
        assert_eq!(raw.line, 1);
    }
}

#[test]
fn text_instead_of_json_is_an_error_with_a_place_and_without_words() {
    let bytes = b"\n  \nsecret banner\r\n{\"type\":\"turn.started\"}\n{\"type\":\"turn.st";
    for vendor in [Vendor::Codex, Vendor::Gemini] {
        let replayed = vendor.replay(bytes);
        let errors: Vec<_> = replayed
            .bodies()
            .filter_map(|body| match body {
                Body::Error(info) => Some((info.code.as_str(), info.position.unwrap())),
                _ => None,
            })
            .collect();
        let places: Vec<_> = errors
            .iter()
            .map(|(code, place)| (*code, place.line, place.offset, place.length))
            .collect();
        assert_eq!(
            places,
            [("noise", 3, 4, 13), ("truncated", 5, 43, 16)],
            "{vendor:?}"
        );
        for event in &replayed.events {
            assert!(!serde_json::to_string(event).unwrap().contains("secret"));
        }
    }
}

#[test]
fn a_line_over_the_limit_is_an_error() {
    for vendor in [Vendor::Codex, Vendor::Gemini] {
        let mut mapper = vendor.mapper();
        let mut emitter = agent_api::Emitter::new(vendor.kind());
        let line = json_lines::Framed::Overlong {
            number: 7,
            offset: 100,
            length_bytes: 1 << 30,
        };
        mapper.map_line(line, &mut emitter);
        let Some(Body::Error(info)) = emitter.next_event().map(|event| event.body) else {
            unreachable!();
        };
        assert_eq!(info.code, "overlong");
        assert_eq!(
            info.position.map(|place| (place.line, place.length)),
            Some((7, 1 << 30))
        );
    }
}

#[test]
fn of_a_key_that_comes_twice_the_last_counts() {
    let replayed = codex(&[r#"{"type":"thread.started","thread_id":"a","thread_id":"b"}"#]);
    let Some(Body::SessionStarted(session)) = replayed.bodies().next() else {
        unreachable!();
    };
    assert_eq!(session.session_id.as_deref(), Some("b"));
}

#[test]
fn corrupted_keys_cost_only_what_they_named() {
    let replayed = codex(&[
        r#"{"type":"thread.started","thr******d_id":"a"}"#,
        r#"{"t******pe":"turn.started"}"#,
        r#"{"type":"item.completed","it******m":{}}"#,
        r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"false","aggregated_output":"x","e******itCode":1,"status":"failed"}}"#,
        r#"{"type":"item.completed","item":{"i******d":"item_2","type":"agent_message","te******t":"hello"}}"#,
        r#"{"type":"item.completed","item":{"id":"item_3","type":"new_thing"}}"#,
        r#"{"type":"turn.completed","us******ge":{}}"#,
    ]);
    assert_eq!(
        replayed.names(),
        [
            "session_started",
            "unknown",
            "unknown",
            "tool_started",
            "tool_finished",
            "text_block",
            "unknown",
            "usage",
            "turn_finished"
        ]
    );
    let failed = replayed.bodies().find_map(|body| match body {
        Body::ToolFinished(tool) => Some((tool.status, tool.exit_code)),
        _ => None,
    });
    assert_eq!(failed, Some((ToolStatus::Failed, None)));
    assert!(replayed.last_usage().unwrap().run.is_partial);
    let gemini = Vendor::Gemini.replay(
        [
            r#"{"type":"message","r******le":"assistant","content":"x"}"#,
            r#"{"type":"tool_use","tool_name":"glob"}"#,
            r#"{"type":"tool_result","st******tus":"error","error":{"message":"no"}}"#,
            r#"{"type":"result","st******tus":"success"}"#,
        ]
        .join("\n")
        .as_bytes(),
    );
    assert_eq!(
        gemini.names(),
        ["unknown", "tool_started", "tool_finished", "turn_finished"]
    );
    assert_eq!(gemini.last_turn().unwrap().outcome, Outcome::Failed);
}

#[test]
fn values_of_a_wrong_type_are_absent() {
    let replayed = codex(&[
        r#"{"type":"item.completed","item":{"id":5,"type":"agent_message","text":["a"]}}"#,
        r#"{"type":"item.completed","item":"agent_message"}"#,
        r#"{"type":7}"#,
        r#"{"type":"turn.completed","usage":{"input_tokens":-5,"output_tokens":1e999,"cached_input_tokens":"x"}}"#,
        DONE,
    ]);
    assert_eq!(
        replayed.names(),
        [
            "text_block",
            "unknown",
            "unknown",
            "usage",
            "turn_finished",
            "usage",
            "turn_finished"
        ]
    );
    assert_eq!(replayed.last_usage().unwrap().run.tokens.output, 34);
}

#[test]
fn half_a_character_does_not_cost_the_line() {
    let line = br#"{"type":"message","role":"assistant","content":"half \ud83d","delta":true}"#;
    let replayed = Vendor::Gemini.replay(line);
    assert!(matches!(
        replayed.bodies().next(),
        Some(Body::Delta(delta)) if delta.text == "half \u{fffd}"
    ));
}

#[test]
fn a_text_that_nothing_follows_is_marked_as_cut_off() {
    let line = br#"{"type":"message","role":"assistant","content":"I am about to","delta":true}"#;
    let replayed = Vendor::Gemini.replay(line);
    assert!(matches!(
        replayed.bodies().last(),
        Some(Body::TextBlock(block)) if block.is_aborted && block.text == "I am about to"
    ));
}

#[test]
fn profiles_offer_only_what_their_agent_has() {
    for profile in [
        backends::codex::profile(),
        backends::gemini::profile(),
        backends::qwen::profile(),
    ] {
        assert!(profile.has(capability::CONFIG_PERMISSIONS));
        // None of them reports costs.
        assert!(!profile.has(capability::COST), "{}", profile.kind);
        for class in profile.stderr_classes {
            assert_eq!(
                class.word,
                class.word.to_lowercase(),
                "words are compared in lower case"
            );
        }
    }
    // Gemini takes messages only over ACP, which reports less, and has no way to fork a session.
    let gemini = backends::gemini::profile();
    assert!(gemini.messages_on_demand && gemini.has(capability::SEND) && gemini.has(capability::ANSWER));
    assert!(!gemini.has(capability::SESSION_FORK));
}
