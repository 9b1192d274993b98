//! One way to count tokens, whoever counted them.

use std::ops::{Add, AddAssign};

use crate::event::{ModelUsage, Usage};

/// Tokens by what they cost. The first four kinds do not overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// Read by the model, neither from nor into the cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Read by the model and written to the cache.
    pub cache_creation: u64,
    /// The part of `output` that was thinking, where the CLI says.
    pub thinking: u64,
}

impl TokenCount {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.input, self.output, self.cache_read, self.cache_creation]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// What was in the model's context: everything it read.
    #[must_use]
    pub fn context(&self) -> u64 {
        self.total().saturating_sub(self.output)
    }

    /// What is new since an earlier total.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            output: self.output.saturating_sub(earlier.output),
            cache_read: self.cache_read.saturating_sub(earlier.cache_read),
            cache_creation: self.cache_creation.saturating_sub(earlier.cache_creation),
            thinking: self.thinking.saturating_sub(earlier.thinking),
        }
    }

    /// The larger count of every kind: for two reports about the same tokens.
    #[must_use]
    pub fn max_of_each(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_creation: self.cache_creation.max(other.cache_creation),
            thinking: self.thinking.max(other.thinking),
        }
    }
}

impl Add for TokenCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
            thinking: self.thinking.saturating_add(other.thinking),
        }
    }
}

impl AddAssign for TokenCount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl From<&Usage> for TokenCount {
    fn from(usage: &Usage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or_default(),
            output: usage.output_tokens.unwrap_or_default(),
            cache_read: usage.cache_read_input_tokens.unwrap_or_default(),
            cache_creation: usage.cache_creation_input_tokens.unwrap_or_default(),
            thinking: usage
                .output_tokens_details
                .and_then(|details| details.thinking_tokens)
                .unwrap_or_default(),
        }
    }
}

impl From<&ModelUsage> for TokenCount {
    fn from(usage: &ModelUsage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or_default(),
            output: usage.output_tokens.unwrap_or_default(),
            cache_read: usage.cache_read_input_tokens.unwrap_or_default(),
            cache_creation: usage.cache_creation_input_tokens.unwrap_or_default(),
            thinking: usage.thinking_tokens.unwrap_or_default(),
        }
    }
}
