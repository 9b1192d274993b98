//! Tokens add up to what the scripted model gave: 1,200 in per call, 1,000 of them cached, and 34 out, 10 of them
//! reasoning. To Gemini's API thoughts are no part of the answer: there it is 34 and 10.

use agent_api::backends::claude_code::{ClaudeMapper, MapperSetup};
use agent_api::backends::codex::CodexMapper;
use agent_api::{CostBasis, Outcome, Tokens, UsageScope};

use crate::replay::{Replayed, Vendor, replay_with};

fn calls(vendor: Vendor, count: u64) -> Tokens {
    let (output, reasoning) = match vendor {
        Vendor::Codex => (34, 10),
        Vendor::Gemini => (44, 10),
        // It does not tell them apart.
        Vendor::Qwen => (34, 0),
    };
    Tokens {
        input: 200 * count,
        cache_read: 1_000 * count,
        cache_write: 0,
        output: output * count,
        reasoning: reasoning * count,
    }
}

fn run_tokens(replayed: &Replayed) -> Tokens {
    replayed
        .last_usage()
        .map(|usage| usage.run.tokens)
        .unwrap_or_default()
}

#[test]
fn totals_of_new_sessions_are_the_known_truth() {
    for (vendor, name, count) in [
        (Vendor::Codex, "text", 1),
        (Vendor::Codex, "shell", 2),
        (Vendor::Codex, "edit", 4),
        (Vendor::Codex, "todo", 3),
        (Vendor::Codex, "mcp", 2),
        (Vendor::Codex, "parallel", 2),
        // What the other agent used is not told.
        (Vendor::Codex, "collab", 3),
        (Vendor::Codex, "err500_once", 1),
        (Vendor::Codex, "midcut_once", 1),
        (Vendor::Codex, "err401", 0),
        (Vendor::Gemini, "text", 1),
        (Vendor::Gemini, "shell", 2),
        (Vendor::Gemini, "edit", 3),
        (Vendor::Gemini, "multi", 3),
        (Vendor::Gemini, "para", 2),
        (Vendor::Gemini, "session", 1),
        (Vendor::Gemini, "midcut_once", 1),
        (Vendor::Gemini, "err401", 0),
        // Qwen's second call writes its memory.
        (Vendor::Qwen, "text", 2),
        (Vendor::Qwen, "shell", 2),
        (Vendor::Qwen, "edit", 3),
        (Vendor::Qwen, "partials", 2),
        (Vendor::Qwen, "input_stream_json", 4),
        (Vendor::Qwen, "err401", 0),
    ] {
        let replayed = vendor.replay_fixture(name);
        assert_eq!(run_tokens(&replayed), calls(vendor, count), "{vendor:?}/{name}");
        let usage = replayed.last_usage().unwrap();
        assert_eq!(usage.cost, None, "{vendor:?}/{name}");
        assert!(!usage.run.may_include_earlier_runs, "{vendor:?}/{name}");
        let has_succeeded = replayed.last_turn().unwrap().outcome == Outcome::Succeeded;
        assert!(
            !has_succeeded || !usage.run.is_partial,
            "{vendor:?}/{name}: {usage:?}"
        );
    }
}

#[test]
fn a_resumed_run_counts_its_own_tokens() {
    let bytes = |name| Vendor::Codex.fixture(name).bytes;
    let resumed = |name, earlier| {
        let mapper = Box::new(CodexMapper::new(earlier));
        replay_with(Vendor::Codex, mapper, &bytes(name))
    };
    let first = Vendor::Codex.replay_fixture("shell");
    let mut earlier = first.last_usage().unwrap().tokens;
    let mut sum = run_tokens(&first);
    for name in ["resume", "resume_twice"] {
        let run = resumed(name, Some(earlier));
        let usage = run.last_usage().unwrap();
        assert_eq!(usage.scope, UsageScope::Session);
        assert_eq!(usage.run.tokens, calls(Vendor::Codex, 1), "{name}");
        assert!(!usage.run.may_include_earlier_runs);
        earlier = usage.tokens;
        sum += usage.run.tokens;
    }
    assert_eq!(sum, calls(Vendor::Codex, 4));
    assert_eq!(earlier, sum);

    let fork = resumed("fork", first.last_usage().map(|usage| usage.tokens));
    assert_eq!(run_tokens(&fork), calls(Vendor::Codex, 1));

    let unknown = resumed("resume", None);
    let usage = unknown.last_usage().unwrap();
    assert_eq!(usage.run.tokens, calls(Vendor::Codex, 3));
    assert!(usage.run.may_include_earlier_runs);

    // Gemini counts every run for itself.
    let resumed = Vendor::Gemini.replay_fixture("resume");
    assert_eq!(run_tokens(&resumed), calls(Vendor::Gemini, 1));
}

#[test]
fn a_resumed_run_of_qwen_counts_its_own_tokens() {
    let bytes = Vendor::Qwen.fixture("resume").bytes;
    let resumed = |earlier| {
        let mapper = ClaudeMapper::new(MapperSetup {
            dialect: agent_api::backends::qwen::DIALECT,
            extras: agent_api::backends::qwen::EXTRAS,
            cost_basis: CostBasis::ResumedUnknown,
            earlier_tokens: earlier,
            ..MapperSetup::default()
        });
        replay_with(Vendor::Qwen, Box::new(mapper), &bytes)
    };
    let first = Vendor::Qwen.replay_fixture("text");
    let earlier = first.last_usage().unwrap().tokens;
    let run = resumed(Some(earlier));
    let usage = run.last_usage().unwrap();
    assert_eq!(usage.scope, UsageScope::Session);
    assert_eq!(usage.run.tokens, calls(Vendor::Qwen, 2));
    assert!(!usage.run.may_include_earlier_runs);
    let usage = resumed(None).last_usage().unwrap().run;
    assert_eq!(usage.tokens, calls(Vendor::Qwen, 4));
    assert!(usage.may_include_earlier_runs);
}

#[test]
fn a_turn_without_figures_makes_the_total_a_lower_bound() {
    for (vendor, name) in [
        (Vendor::Codex, "err401"),
        (Vendor::Codex, "midcut"),
        (Vendor::Gemini, "midcut"),
    ] {
        let replayed = vendor.replay_fixture(name);
        assert!(replayed.last_usage().unwrap().run.is_partial, "{vendor:?}/{name}");
    }
}
