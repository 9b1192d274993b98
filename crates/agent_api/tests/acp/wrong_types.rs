//! Lines of the right protocol with fields of the wrong type: each becomes an event, none stops the mapping.

use agent_api::{Body, Outcome};
use serde_json::{Value, json};
use test_support::fixtures;

use super::recordings::replay;
use super::scripted::{PROMPT, prompted, run, stopped, text_chunk};

/// Every field of the value replaced by `odd`, one at a time.
fn variants(value: &Value, odd: &Value) -> Vec<Value> {
    let mut all = vec![odd.clone()];
    match value {
        Value::Object(object) => {
            for (key, inner) in object {
                for variant in variants(inner, odd) {
                    let mut changed = object.clone();
                    changed.insert(key.clone(), variant);
                    all.push(Value::Object(changed));
                }
                let mut without = object.clone();
                without.remove(key);
                all.push(Value::Object(without));
            }
        }
        Value::Array(list) => {
            if let Some(first) = list.first() {
                all.extend(variants(first, odd).into_iter().map(|variant| json!([variant])));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}

#[test]
fn a_field_of_the_wrong_type_counts_as_absent() {
    let mut count = 0;
    for (agent, name) in [
        ("copilot", "acp_edit"),
        ("goose", "edit"),
        ("qwen_acp", "shell"),
        ("codex_acp", "shell"),
    ] {
        let mut of = fixtures::of(agent).unwrap().into_iter();
        let fixture = of.find(|fixture| fixture.name == name).unwrap();
        let lines: Vec<&[u8]> = fixture.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let value: Value = serde_json::from_slice(line).unwrap();
            // Long lists of choices add nothing.
            if line.len() > 3_000 {
                continue;
            }
            for odd in [
                json!(null),
                json!(7),
                json!("word"),
                json!([{}]),
                json!({"a": []}),
            ] {
                for variant in variants(&value, &odd).into_iter().filter(Value::is_object) {
                    let mut bytes = lines[..index.min(3)].join(&b'\n');
                    bytes.extend_from_slice(format!("\n{variant}\n").as_bytes());
                    let last = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                    let events = replay(&bytes);
                    let has_event = events
                        .iter()
                        .any(|event| event.raw.is_some_and(|raw| raw.line == last));
                    assert!(has_event, "{agent}/{name}: {variant}");
                    count += 1;
                }
            }
        }
    }
    assert!(count > 3_000, "{count}");
}

/// Copilot replaces a short API key wherever it occurs in a line, keys of objects included.
fn redacted(line: &str, secret: &str) -> String {
    line.replace(secret, "******")
}

#[test]
fn a_recording_whose_keys_are_redacted_keeps_an_event_for_every_line() {
    for secret in ["x", "de", "ate", "Id", "ssion", "ool"] {
        for name in ["acp_edit", "acp_shell", "acp_err401"] {
            let mut of = fixtures::of("copilot").unwrap().into_iter();
            let fixture = of.find(|fixture| fixture.name == name).unwrap();
            let lines: Vec<String> = fixture
                .lines()
                .map(|line| redacted(std::str::from_utf8(line).unwrap(), secret))
                .collect();
            let events = replay(format!("{}\n", lines.join("\n")).as_bytes());
            for number in 1..=lines.len() as u64 {
                let mut events = events.iter();
                assert!(
                    events.any(|event| event.raw.is_some_and(|raw| raw.line == number)),
                    "{secret} in {name}: line {number} has no event"
                );
            }
        }
    }
}

#[tokio::test]
async fn text_with_a_redacted_key_is_lost_and_the_rest_of_the_turn_is_not() {
    let script = prompted()
        .emit(redacted(&text_chunk("lost"), "text\""))
        .emit_lines([text_chunk("kept"), stopped(PROMPT, "end_turn")])
        .read_to_end();
    let (events, finished) = run(&script).await;
    assert_eq!(finished.outcome, Outcome::Succeeded);
    let blocks: Vec<&str> = events
        .iter()
        .filter_map(|event| match &event.body {
            Body::TextBlock(block) => Some(&*block.text),
            _ => None,
        })
        .collect();
    assert_eq!(blocks, ["kept"]);
}

#[tokio::test]
async fn an_answer_to_the_prompt_with_a_redacted_key_ends_the_turn_as_failed() {
    for secret in ["result", "stopReason"] {
        let script = prompted()
            .emit(text_chunk("kept"))
            .emit(redacted(&stopped(PROMPT, "end_turn"), secret))
            .read_to_end();
        let (_, finished) = run(&script).await;
        assert_eq!(finished.outcome, Outcome::Failed, "{secret}");
        assert_eq!(finished.error.unwrap().code, "no_stop_reason", "{secret}");
    }
}
