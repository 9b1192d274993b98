//! Formats durations, costs and token counts.

use agent_api::{MicroUsd, Tokens};

/// `877ms`, from a second on `1.2s` or `12s`, from a minute on `1m 23s` and `2h 05m`.
pub fn format_duration(milliseconds: u64) -> String {
    let (seconds, tenths) = (milliseconds / 1_000, milliseconds / 100 % 10);
    match seconds {
        0 if milliseconds > 0 => format!("{milliseconds}ms"),
        0..60 if tenths == 0 => format!("{seconds}s"),
        0..60 => format!("{seconds}.{tenths}s"),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

/// `$0.0096`, from a dollar on `$1.25`.
pub fn format_cost(cost: MicroUsd) -> String {
    const DOLLAR: u64 = 1_000_000;
    let micro_usd = cost.as_micro_usd();
    if micro_usd >= DOLLAR {
        return format_cents(cost);
    }
    let rounded = micro_usd.saturating_add(50) / 100;
    if rounded == 0 && micro_usd > 0 {
        return "<$0.0001".to_owned();
    }
    let decimals = format!("{rounded:04}");
    if rounded >= 10_000 {
        return "$1.00".to_owned();
    }
    let significant = decimals.trim_end_matches('0').len().max(2);
    format!("$0.{}", &decimals[..significant])
}

/// `$0.01`: to the cent.
pub(super) fn format_cents(cost: MicroUsd) -> String {
    let cents = cost.as_micro_usd().saturating_add(5_000) / 10_000;
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// `in 1200 (cached 1000) out 34`.
pub fn format_tokens(tokens: &Tokens) -> String {
    let read = [tokens.input, tokens.cache_read, tokens.cache_write];
    let read = read.into_iter().fold(0, u64::saturating_add);
    match tokens.cache_read {
        0 => format!("in {read} out {}", tokens.output),
        cached => format!("in {read} (cached {cached}) out {}", tokens.output),
    }
}

#[cfg(test)]
mod tests {
    use super::{format_cost, format_duration, format_tokens};
    use agent_api::{MicroUsd, Tokens};

    #[test]
    fn durations_are_short_at_any_length() {
        let shown = [
            0, 877, 1_234, 12_000, 59_999, 60_000, 83_000, 3_600_000, 7_500_000,
        ]
        .map(format_duration);
        assert_eq!(
            shown,
            [
                "0s", "877ms", "1.2s", "12s", "59.9s", "1m 00s", "1m 23s", "1h 00m", "2h 05m"
            ]
        );
        assert!(!format_duration(u64::MAX).is_empty());
    }

    #[test]
    fn prices_have_the_decimals_that_matter() {
        let amounts = [0, 3, 9_600, 120_000, 999_990, 1_000_000, 12_345_678, u64::MAX];
        let shown = amounts.map(|amount| format_cost(MicroUsd::new(amount)));
        assert_eq!(
            shown[..7],
            [
                "$0.00", "<$0.0001", "$0.0096", "$0.12", "$1.00", "$1.00", "$12.35"
            ]
        );
    }

    #[test]
    fn tokens_count_what_was_read_as_a_whole() {
        let mut tokens = Tokens {
            input: 150,
            cache_read: 1_000,
            cache_write: 50,
            output: 34,
            reasoning: 10,
        };
        assert_eq!(format_tokens(&tokens), "in 1200 (cached 1000) out 34");
        tokens.cache_read = 0;
        assert_eq!(format_tokens(&tokens), "in 200 out 34");
    }
}
