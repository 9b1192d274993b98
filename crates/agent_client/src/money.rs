//! `MicroUsd`: money as an integer of millionths of a US dollar. `CostBasis`: what a session had cost before this run.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use crate::options::SessionChoice;

/// An amount in millionths of a US dollar.
///
/// Vendors report floating-point dollars. They are rounded once, when they are read; all arithmetic after that is exact.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(transparent)]
pub struct MicroUsd(u64);

impl json_lines::reader::Value for MicroUsd {
    /// Reads a number of dollars.
    #[inline(never)]
    fn read_into(
        slot: &mut Option<Self>,
        cursor: &mut json_lines::reader::Cursor<'_>,
    ) -> Result<(), json_lines::reader::Failed> {
        *slot = cursor.micro_units()?.map(Self::new);
        Ok(())
    }
}

impl MicroUsd {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// An amount of millionths.
    #[must_use]
    pub const fn new(micro_usd: u64) -> Self {
        Self(micro_usd)
    }

    /// An amount of dollars; `None` if it is negative or not a number.
    #[must_use]
    pub fn from_usd(usd: f64) -> Option<Self> {
        let micro = (usd * 1e6).round();
        (micro.is_finite() && micro >= 0.0).then_some(Self(micro as u64))
    }

    /// The amount in millionths.
    #[must_use]
    pub const fn as_micro_usd(self) -> u64 {
        self.0
    }

    /// The amount in dollars, for display.
    #[must_use]
    pub fn as_usd(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The difference, or zero if it would be negative.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for MicroUsd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for MicroUsd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for MicroUsd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for MicroUsd {
    /// `$0.0096`: at least two and at most six decimals.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:06}", self.0 % 1_000_000);
        let significant = decimals.trim_end_matches('0').len().max(2);
        write!(formatter, "${}.{}", self.0 / 1_000_000, &decimals[..significant])
    }
}

/// What is known about a session's cost before this run starts. Some agents report the cost of a resumed session as
/// one total that includes earlier runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CostBasis {
    /// A new session, which starts at zero.
    #[default]
    NewSession,
    /// A resumed or forked session whose total so far is known.
    Resumed {
        /// The last total that the session reported.
        session_total: MicroUsd,
    },
    /// A resumed or forked session whose total so far is not known.
    ResumedUnknown,
}

impl CostBasis {
    /// The basis for a session if the caller gives none.
    #[must_use]
    pub fn of(session: Option<&SessionChoice>) -> Self {
        match session {
            None | Some(SessionChoice::New | SessionChoice::NewWithId(_)) => Self::NewSession,
            Some(
                SessionChoice::Resume(_)
                | SessionChoice::Last
                | SessionChoice::Fork { .. }
                | SessionChoice::ForkLast { .. },
            ) => Self::ResumedUnknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MicroUsd;

    #[test]
    fn amounts_read_like_prices() {
        for (micro_usd, text) in [
            (0, "$0.00"),
            (9_600, "$0.0096"),
            (1_600_000, "$1.60"),
            (12_345_678, "$12.345678"),
        ] {
            assert_eq!(MicroUsd::new(micro_usd).to_string(), text);
        }
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(MicroUsd::new(1).saturating_sub(MicroUsd::new(2)), MicroUsd::ZERO);
        assert_eq!(
            MicroUsd::new(u64::MAX) + MicroUsd::new(1),
            MicroUsd::new(u64::MAX)
        );
        assert_eq!(
            [1, 2, 3].map(MicroUsd::new).into_iter().sum::<MicroUsd>(),
            MicroUsd::new(6)
        );
    }
}
