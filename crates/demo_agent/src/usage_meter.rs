//! `UsageMeter`: invented but reproducible token counts and costs.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What every model call adds, apart from its output.
const INPUT_PER_CALL: u64 = 12;
const CACHE_WRITE_PER_CALL: u64 = 640;
const FIRST_CACHE_READ: u64 = 14_000;
const CHARACTERS_PER_TOKEN: usize = 4;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Tokens {
    fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }

    /// At 5, 25, 0.5 and 6.25 dollars per million tokens.
    fn usd(self) -> f64 {
        let micro_usd = 5 * self.input + 25 * self.output + self.cache_read / 2 + self.cache_write * 25 / 4;
        micro_usd as f64 / 1e6
    }

    pub(crate) fn usage(self) -> Value {
        json!({
            "input_tokens": self.input, "output_tokens": self.output,
            "cache_read_input_tokens": self.cache_read, "cache_creation_input_tokens": self.cache_write,
            "service_tier": "standard",
        })
    }

    fn model_usage(self) -> Value {
        json!({
            "inputTokens": self.input, "outputTokens": self.output,
            "cacheReadInputTokens": self.cache_read, "cacheCreationInputTokens": self.cache_write,
            "webSearchRequests": 0, "costUSD": self.usd(), "contextWindow": 200_000, "maxOutputTokens": 32_000,
        })
    }
}

/// Counts the model calls of a process. A turn belongs to the model that is set when it ends.
#[derive(Debug, Default)]
pub(crate) struct UsageMeter {
    calls: u64,
    current: Tokens,
    turn: Tokens,
    total: BTreeMap<String, Tokens>,
}

impl UsageMeter {
    /// Each call reads what the calls before it have written to the cache.
    pub(crate) fn begin_call(&mut self) -> Tokens {
        self.current = Tokens {
            input: INPUT_PER_CALL,
            output: 1,
            cache_read: FIRST_CACHE_READ + CACHE_WRITE_PER_CALL * self.calls,
            cache_write: CACHE_WRITE_PER_CALL,
        };
        self.calls += 1;
        self.current
    }

    pub(crate) fn add_output(&mut self, text: &str) {
        self.current.output += text.chars().count().div_ceil(CHARACTERS_PER_TOKEN) as u64;
    }

    /// The usage at the start of the call, which is what whole blocks report.
    pub(crate) fn at_call_start(&self) -> Tokens {
        Tokens {
            output: 1,
            ..self.current
        }
    }

    /// Calls that never end are not counted, as in Claude Code.
    pub(crate) fn end_call(&mut self) -> Tokens {
        let call = std::mem::take(&mut self.current);
        self.turn.add(call);
        call
    }

    /// The usage fields of a `result`.
    pub(crate) fn end_turn(&mut self, model: &str) -> Map<String, Value> {
        let turn = std::mem::take(&mut self.turn);
        self.total.entry(model.to_owned()).or_default().add(turn);
        let mut sum = Tokens::default();
        self.total.values().for_each(|tokens| sum.add(*tokens));
        let totals: Map<String, Value> = self
            .total
            .iter()
            .map(|(model, tokens)| (model.clone(), tokens.model_usage()))
            .collect();
        Map::from_iter([
            ("total_cost_usd".to_owned(), sum.usd().into()),
            ("usage".to_owned(), turn.usage()),
            ("modelUsage".to_owned(), totals.into()),
            (
                "model_usage_since_last_result".to_owned(),
                json!({model: turn.model_usage()}),
            ),
        ])
    }
}
