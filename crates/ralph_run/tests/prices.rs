//! Estimates from the price list.

use agent_api::{MicroUsd, Tokens};
use ralph_run::{context_window, estimate, price_source};

fn tokens(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Tokens {
    Tokens {
        input,
        cache_read,
        cache_write,
        output,
        reasoning: 0,
    }
}

fn price_per_million(model: &str) -> Option<[u64; 4]> {
    let of = |tokens| estimate(model, &tokens).map(MicroUsd::as_micro_usd);
    Some([
        of(tokens(1_000_000, 0, 0, 0))?,
        of(tokens(0, 1_000_000, 0, 0))?,
        of(tokens(0, 0, 1_000_000, 0))?,
        of(tokens(0, 0, 0, 1_000_000))?,
    ])
}

#[test]
fn each_kind_of_token_has_its_price() {
    assert_eq!(
        price_per_million("claude-sonnet-4-5"),
        Some([3_000_000, 300_000, 3_750_000, 15_000_000])
    );
    let used = tokens(200, 10_000, 1_000, 34);
    assert_eq!(
        estimate("claude-sonnet-4-5", &used),
        Some(MicroUsd::new(600 + 3_000 + 3_750 + 510))
    );
}

#[test]
fn thinking_is_part_of_the_output_and_not_paid_twice() {
    let used = Tokens {
        reasoning: 30,
        ..tokens(0, 0, 0, 34)
    };
    assert_eq!(estimate("claude-sonnet-4-5", &used), Some(MicroUsd::new(510)));
}

#[test]
fn fractions_of_a_micro_dollar_are_rounded_once() {
    // 0.3 micro-dollars each.
    assert_eq!(
        estimate("claude-sonnet-4-5", &tokens(0, 1, 0, 0)),
        Some(MicroUsd::ZERO)
    );
    assert_eq!(
        estimate("claude-sonnet-4-5", &tokens(0, 2, 0, 0)),
        Some(MicroUsd::new(1))
    );
    assert_eq!(
        estimate("claude-sonnet-4-5", &tokens(0, 10, 0, 0)),
        Some(MicroUsd::new(3))
    );
}

#[test]
fn absurd_counts_saturate() {
    let used = tokens(u64::MAX, u64::MAX, u64::MAX, u64::MAX);
    assert_eq!(estimate("claude-opus-5-5", &used), Some(MicroUsd::new(u64::MAX)));
}

#[test]
fn dates_providers_and_options_do_not_hide_a_model() {
    for (written, meant) in [
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("claude-opus-4-8[1m]", "claude-opus-4-8"),
        ("claude-opus-4-5-20251101[1m]", "claude-opus-4-5"),
        ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("openrouter/anthropic/claude-opus-5-5:beta", "claude-opus-5-5"),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5",
        ),
        ("vertex_ai/claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("gpt-5.1-2025-11-13", "gpt-5.1"),
        ("gpt-5.2-codex-high", "gpt-5.2-codex"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("Qwen3-Coder-Plus", "qwen3-coder-plus"),
    ] {
        let meant = price_per_million(meant);
        assert!(meant.is_some(), "{written}");
        assert_eq!(price_per_million(written), meant, "{written}");
    }
}

#[test]
fn an_unknown_model_has_no_price() {
    for model in [
        "",
        "-",
        "/",
        "opus",
        "scripted-model",
        "<synthetic>",
        "claude-opus-5-99",
        "gpt-5.1-codex-enormous",
        "claude",
        "-20250929",
        "é-2025-09-29",
    ] {
        assert_eq!(estimate(model, &tokens(1, 1, 1, 1)), None, "{model}");
        assert_eq!(context_window(model), None, "{model}");
    }
}

#[test]
fn a_context_window_follows_the_model_and_its_option() {
    assert_eq!(context_window("claude-opus-5-5"), Some(1_000_000));
    assert_eq!(context_window("claude-sonnet-4-5-20250929"), Some(200_000));
    assert_eq!(context_window("claude-sonnet-4-5[1m]"), Some(1_000_000));
    assert_eq!(context_window("gemini-2.5-pro"), Some(1_048_576));
}

#[test]
fn the_list_says_where_it_comes_from_and_of_when_it_is() {
    let source = price_source().unwrap();
    assert!(!source.package.is_empty());
    assert!(
        source.version.split('.').all(|part| part.parse::<u32>().is_ok()),
        "{}",
        source.version
    );
    assert!(
        source.date.parse::<jiff::civil::Date>().is_ok(),
        "{}",
        source.date
    );
}
