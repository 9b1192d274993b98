//! `Account`: the tokens of a Codex thread, and this run's part of them.

use json_lines::Value;

use super::items::either;
use crate::event::{RunUsage, Tokens, Usage, UsageScope};

/// The account of one process. Codex counts for the whole thread: over turns, resumed runs and forks.
#[derive(Debug)]
pub(super) struct Account {
    /// What the thread had used before; `None` if unknown.
    earlier: Option<Tokens>,
    total: Tokens,
    /// A turn ended without figures.
    is_partial: bool,
}

impl Account {
    pub(super) fn new(earlier: Option<Tokens>) -> Self {
        Self {
            earlier,
            total: earlier.unwrap_or_default(),
            is_partial: false,
        }
    }

    /// A turn has ended, with the thread's total or without.
    pub(super) fn settle(&mut self, reported: Option<&Value>) -> Usage {
        match reported {
            Some(reported) => self.total = canonical(reported),
            None => self.is_partial = true,
        }
        let run = RunUsage {
            tokens: self.total.since(self.earlier.unwrap_or_default()),
            cost: None,
            is_partial: self.is_partial,
            may_include_earlier_runs: self.earlier.is_none(),
        };
        Usage::new(UsageScope::Session, self.total, run)
    }
}

/// Input includes what the cache had, output includes reasoning.
pub(super) fn canonical(reported: &Value) -> Tokens {
    let count = |exec, server| {
        let count = either(reported, exec, server).and_then(Value::as_u64);
        count.unwrap_or_default()
    };
    let cache_read = count("cached_input_tokens", "cachedInputTokens");
    let cache_write = count("cache_write_input_tokens", "cacheWriteInputTokens");
    let cached = cache_read.saturating_add(cache_write);
    Tokens {
        input: count("input_tokens", "inputTokens").saturating_sub(cached),
        cache_read,
        cache_write,
        output: count("output_tokens", "outputTokens"),
        reasoning: count("reasoning_output_tokens", "reasoningOutputTokens"),
    }
}
