//! `Tokens`: token counts in one split, whichever vendor counted them.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Token counts by price class. `reasoning` is part of `output`; the other four do not overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default)]
pub struct Tokens {
    /// Input tokens that were neither read from nor written to the cache.
    pub input: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
    /// Output tokens, including thinking.
    pub output: u64,
    /// The part of `output` that was thinking, if the vendor reports it.
    pub reasoning: u64,
}

impl Tokens {
    /// The sum of all counts.
    #[must_use]
    pub fn total(&self) -> u64 {
        [self.input, self.cache_read, self.cache_write, self.output]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// The tokens in the model's context: everything it read.
    #[must_use]
    pub fn context(&self) -> u64 {
        self.total().saturating_sub(self.output)
    }

    /// The difference to an earlier total, count by count.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }

    /// The larger of each count: for two reports about the same tokens.
    #[must_use]
    pub fn max_of_each(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }

    fn zip(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            input: combine(self.input, other.input),
            cache_read: combine(self.cache_read, other.cache_read),
            cache_write: combine(self.cache_write, other.cache_write),
            output: combine(self.output, other.output),
            reasoning: combine(self.reasoning, other.reasoning),
        }
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::Tokens;

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens {
            input,
            cache_read: 2,
            cache_write: 3,
            output,
            reasoning: output,
        }
    }

    #[test]
    fn reasoning_is_part_of_the_output_and_counted_once() {
        assert_eq!(tokens(1, 4).total(), 10);
        assert_eq!(tokens(1, 4).context(), 6);
    }

    #[test]
    fn the_difference_adds_up_to_the_total() {
        let (earlier, total) = (tokens(5, 6), tokens(50, 60));
        assert_eq!(earlier + total.since(earlier), total);
    }

    #[test]
    fn absurd_figures_neither_overflow_nor_turn_negative() {
        let most = tokens(u64::MAX, u64::MAX);
        assert_eq!((most + most).total(), u64::MAX);
        assert_eq!(tokens(1, 1).since(most).total(), 0);
    }
}
