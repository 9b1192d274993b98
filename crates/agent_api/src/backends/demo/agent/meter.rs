//! Tokens and money, made up but always the same.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// What one call of the model takes before anything is said.
const CALL_INPUT: u64 = 12;
const CALL_CACHE_WRITE: u64 = 640;
const CONTEXT_WINDOW: u64 = 200_000;

/// Tokens of one kind each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tokens {
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

    /// In millionths of a dollar: 5, 25, 0.5 and 6.25 dollars for a million.
    fn micro_usd(self) -> u64 {
        5 * self.input + 25 * self.output + self.cache_read / 2 + self.cache_write * 25 / 4
    }

    fn usd(self) -> f64 {
        self.micro_usd() as f64 / 1e6
    }

    pub(super) fn usage(self) -> Value {
        json!({
            "input_tokens": self.input,
            "output_tokens": self.output,
            "cache_read_input_tokens": self.cache_read,
            "cache_creation_input_tokens": self.cache_write,
            "service_tier": "standard",
        })
    }

    fn model_usage(self) -> Value {
        json!({
            "inputTokens": self.input,
            "outputTokens": self.output,
            "cacheReadInputTokens": self.cache_read,
            "cacheCreationInputTokens": self.cache_write,
            "webSearchRequests": 0,
            "costUSD": self.usd(),
            "contextWindow": CONTEXT_WINDOW,
            "maxOutputTokens": 32_000,
        })
    }
}

/// The model can be changed in between.
type ByModel = BTreeMap<String, Tokens>;

fn sum(models: &ByModel) -> Tokens {
    let mut all = Tokens::default();
    for tokens in models.values() {
        all.add(*tokens);
    }
    all
}

fn model_usage(models: &ByModel) -> Value {
    let models = models.iter();
    Value::Object(
        models
            .map(|(model, tokens)| (model.clone(), tokens.model_usage()))
            .collect::<Map<_, _>>(),
    )
}

/// Counts the calls of a process.
#[derive(Debug, Default)]
pub(super) struct Meter {
    calls: u64,
    /// The call that is being made: its output grows with what is said.
    current: Option<Tokens>,
    turn: ByModel,
    total: ByModel,
}

impl Meter {
    /// A call of the model begins; what it reads grows from call to call.
    pub(super) fn begin_call(&mut self) -> Tokens {
        let call = Tokens {
            input: CALL_INPUT,
            output: 1,
            cache_read: 14_000 + CALL_CACHE_WRITE * self.calls,
            cache_write: CALL_CACHE_WRITE,
        };
        self.calls += 1;
        self.current = Some(call);
        call
    }

    /// As it was when the call began, which is what whole blocks carry.
    pub(super) fn at_start(&self) -> Tokens {
        Tokens {
            output: 1,
            ..self.current.unwrap_or_default()
        }
    }

    pub(super) fn said(&mut self, characters: usize) {
        if let Some(current) = &mut self.current {
            current.output += characters.div_ceil(4) as u64;
        }
    }

    /// The call is over.
    pub(super) fn end_call(&mut self, model: &str) -> Tokens {
        let call = self.current.take().unwrap_or_default();
        for models in [&mut self.turn, &mut self.total] {
            models.entry(model.to_owned()).or_default().add(call);
        }
        call
    }

    /// The call was broken off. Those are not counted; the real CLI does not count them either.
    pub(super) fn drop_call(&mut self) {
        self.current = None;
    }

    /// The figures of a `result`; the next turn counts from zero.
    pub(super) fn end_turn(&mut self) -> Figures {
        let turn = std::mem::take(&mut self.turn);
        Figures {
            total_cost: sum(&self.total).usd().into(),
            usage: sum(&turn).usage(),
            model_usage: model_usage(&self.total),
            since_last_result: model_usage(&turn),
        }
    }
}

/// The figures of a `result`.
pub(super) struct Figures {
    pub(super) total_cost: Value,
    pub(super) usage: Value,
    pub(super) model_usage: Value,
    pub(super) since_last_result: Value,
}
