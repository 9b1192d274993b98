//! `Dialect`: how agents that write Claude Code's format differ from it.

use agent_client::Tokens;

use crate::event::Usage;

/// What differs between the agents whose output this crate reads. It is data only: the parser reads all of them, because
/// other names for the same field are just more keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// Whether `input_tokens` includes what was read from the cache.
    pub input_includes_cached: bool,
    /// Whether the usage in a `result` is that of the whole session, earlier turns and resumed runs included, instead
    /// of one turn's.
    pub usage_is_cumulative: bool,
    /// Whether it reports the cost of a run and its tokens per model.
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

    /// The tokens of a report in the common split.
    #[must_use]
    pub fn tokens(self, usage: &Usage) -> Tokens {
        let mut tokens = Tokens::from(usage);
        if self.input_includes_cached {
            let cached = tokens.cache_read.saturating_add(tokens.cache_write);
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
