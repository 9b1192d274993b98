//! Turns, budget, fallback models, structured output.

use super::all::OLDER;
use crate::scenario::Scenario;

pub(super) fn scenarios() -> Vec<Scenario> {
    let plain = Scenario::plain;
    let schema = r#"--json-schema={"type":"object","properties":{"name":{"type":"string"},"count":{"type":"integer"}},"required":["name","count"],"additionalProperties":false}"#;
    vec![
        plain("max_turns_1", "--max-turns=1", "loop")
            .flag("--max-turns=1")
            .also_in(&OLDER),
        plain("max_turns_3", "--max-turns=3", "loop").flag("--max-turns=3"),
        plain("max_budget", "--max-budget-usd=1", "costly").flag("--max-budget-usd=1"),
        plain(
            "fallback_model",
            "the fallback model is overloaded, too",
            "err529",
        )
        .with_two_retries()
        .flag("--model=claude-opus-5-5")
        .flag("--fallback-model=claude-sonnet-5"),
        plain(
            "fallback_model_success",
            "the fallback model answers",
            "overload_primary",
        )
        .flag("--model=claude-opus-5-5")
        .flag("--fallback-model=claude-sonnet-5"),
        plain(
            "fallback_refusal",
            "a refusal does not fall back",
            "refuse_primary",
        )
        .flag("--model=opus")
        .flag("--fallback-model=sonnet"),
        plain("json_schema", "--json-schema", "structured").flag(schema),
        plain(
            "json_schema_retry",
            "--json-schema, invalid once",
            "structured_bad",
        )
        .flag(schema),
        plain(
            "json_schema_never",
            "--json-schema, the model does not call the tool",
            "structured_never",
        )
        .flag(schema),
        plain(
            "json_schema_always_bad",
            "--json-schema, always invalid",
            "structured_alwaysbad",
        )
        .flag(schema),
    ]
}
