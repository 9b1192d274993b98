//! Agents that write what Claude Code writes, and count differently.

use crate::event::Usage;
use crate::usage::TokenCount;

/// What differs between the agents whose output is read here. Data only: the parser itself reads all of them, because
/// other names of the same fields are no more than further keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// Whether `input_tokens` includes what was read from the cache.
    pub input_includes_cached: bool,
    /// Whether the usage in a `result` is that of the whole session, earlier turns and resumed runs included, instead
    /// of one turn's.
    pub usage_is_cumulative: bool,
    /// Whether it tells what a run cost, and its tokens by model.
    pub has_cost: bool,
    /// Whether the failure of a turn is repeated at the end of the last text, as `[API Error: …]`.
    pub writes_errors_as_text: bool,
}

impl Dialect {
    /// Claude Code itself.
    pub const CLAUDE_CODE: Self = Self {
        input_includes_cached: false,
        usage_is_cumulative: false,
        has_cost: true,
        writes_errors_as_text: false,
    };

    /// Qwen Code.
    pub const QWEN: Self = Self {
        input_includes_cached: true,
        usage_is_cumulative: true,
        has_cost: false,
        writes_errors_as_text: true,
    };

    /// The tokens of a report, in one split.
    #[must_use]
    pub fn tokens(self, usage: &Usage) -> TokenCount {
        let mut tokens = TokenCount::from(usage);
        if self.input_includes_cached {
            let cached = tokens.cache_read.saturating_add(tokens.cache_creation);
            tokens.input = tokens.input.saturating_sub(cached);
        }
        tokens
    }
}

impl Default for Dialect {
    fn default() -> Self {
        Self::CLAUDE_CODE
    }
}
