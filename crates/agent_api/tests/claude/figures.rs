//! What runs used and cost: the recorded truth.

use agent_api::backends::claude_code::MapperSetup;
use agent_api::{Body, CostBasis, MicroUsd, Tokens, UsageScope};
use test_support::fixtures;

use crate::replay::{bodies, replay, replay_with};

/// What the last result of a fixture says, read without our own parser.
fn last_result(bytes: &[u8]) -> Option<serde_json::Value> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
        .rfind(|value| value["type"] == "result")
}

fn models_of(result: &serde_json::Value) -> Option<Tokens> {
    let models = result["modelUsage"].as_object()?;
    let sum = |key: &str| models.values().filter_map(|model| model[key].as_u64()).sum();
    Some(Tokens {
        input: sum("inputTokens"),
        cache_read: sum("cacheReadInputTokens"),
        cache_write: sum("cacheCreationInputTokens"),
        output: sum("outputTokens"),
        reasoning: sum("thinkingTokens"),
    })
}

#[test]
fn the_total_of_a_new_session_is_what_its_last_result_says_subagents_and_retries_included() {
    let mut compared = 0;
    for fixture in fixtures::all().unwrap() {
        let arguments = fixture.capture.arguments.join(" ");
        if arguments.contains("--resume") || arguments.contains("--continue") {
            continue;
        }
        let Some(result) = last_result(&fixture.bytes) else {
            continue;
        };
        let Some(expected) = models_of(&result) else {
            continue;
        };
        let replayed = replay(&fixture);
        let totals = bodies(&replayed.events).filter_map(|body| match body {
            Body::Usage(usage) if usage.scope != UsageScope::Step => Some(usage.run),
            _ => None,
        });
        let last = totals.last().unwrap();
        let name = format!("{}/{}", fixture.version, fixture.name);
        assert_eq!(last.tokens, expected, "{name}");
        let cost = (result["total_cost_usd"].as_f64().unwrap() * 1e6).round() as u64;
        let told = last.cost.unwrap().micro_usd.as_micro_usd();
        assert!(
            told.abs_diff(cost) <= 1 + fixture.capture.events.matches("result").count() as u64,
            "{name}: {told} {cost}"
        );
        assert!(!last.may_include_earlier_runs && !last.is_partial, "{name}");
        compared += 1;
    }
    println!("{compared} totals compared");
    assert!(compared >= 150, "{compared}");
}

#[test]
fn the_estimate_before_a_result_is_a_lower_bound() {
    for fixture in fixtures::all().unwrap() {
        let events = replay(&fixture).events;
        if bodies(&events).any(|body| matches!(body, Body::ItemDiscarded(_))) {
            // The agent does not count an answer that broke, though it was paid for.
            continue;
        }
        let mut estimate = 0;
        for body in bodies(&events) {
            let Body::Usage(usage) = body else { continue };
            let total = usage.run.tokens.total();
            match usage.scope {
                UsageScope::Step => {
                    assert!(usage.run.is_partial, "{}", fixture.name);
                    estimate = total;
                }
                UsageScope::Turn | UsageScope::Run | UsageScope::Session => {
                    assert!(
                        total >= estimate || total == 0,
                        "{}/{}: {total} after {estimate}",
                        fixture.version,
                        fixture.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_resumed_run_does_not_pay_for_the_ones_before() {
    let fixture = fixtures::named("2.1.325", "session_resume").unwrap();
    let result = last_result(&fixture.bytes).unwrap();
    let part = result["model_usage_since_last_result"].as_object().unwrap();
    let expected: f64 = part.values().filter_map(|model| model["costUSD"].as_f64()).sum();
    let total = result["total_cost_usd"].as_f64().unwrap();
    assert!(
        total > expected * 1.5,
        "the session's total includes the run before"
    );
    for basis in [
        CostBasis::ResumedUnknown,
        CostBasis::Resumed {
            session_total: MicroUsd::new(((total - expected) * 1e6).round() as u64),
        },
    ] {
        let setup = MapperSetup {
            cost_basis: basis,
            ..MapperSetup::default()
        };
        let events = replay_with(&fixture.bytes, setup).events;
        let run = bodies(&events)
            .filter_map(|body| match body {
                Body::Usage(usage) => Some(usage.run),
                _ => None,
            })
            .last()
            .unwrap();
        let told = run.cost.unwrap().micro_usd.as_micro_usd();
        assert!(
            told.abs_diff((expected * 1e6).round() as u64) <= 1,
            "{told} {expected}"
        );
    }
}

#[test]
fn the_context_is_that_of_the_main_conversation() {
    let events = replay(&fixtures::named("2.1.325", "subagent").unwrap()).events;
    let mut seen = 0;
    for event in &events {
        if let Body::Usage(usage) = &event.body
            && usage.scope == UsageScope::Step
        {
            assert_eq!(usage.context.is_some(), event.parent.is_none());
            seen += 1;
        }
    }
    assert!(seen >= 2, "{seen}");
}
