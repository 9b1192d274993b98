//! Parsers of amounts that people type: money, counts, tokens, durations. Settings, flags and forms use them. An error
//! continues "`key` …".

use std::time::Duration;

use agent_api::MicroUsd;
use jiff::{Span, SpanRelativeTo};

/// A whole number. 0 and `false` turn a limit off.
pub fn parse_count(text: &str) -> Result<u32, String> {
    u32::try_from(parse_tokens(text)?).map_err(|_| format!("must be at most {}", u32::MAX))
}

/// A whole number, also with `k` for thousands or `M` for millions.
pub fn parse_tokens(text: &str) -> Result<u64, String> {
    let digits = text.trim().replace('_', "");
    if is_off(&digits) {
        return Ok(0);
    }
    let (digits, factor) = match digits.strip_suffix(['k', 'K']) {
        Some(thousands) => (thousands, 1_000),
        None => digits
            .strip_suffix(['m', 'M'])
            .map_or((digits.as_str(), 1), |millions| (millions, 1_000_000)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "must be a whole number such as 50, not `{}`",
            excerpt(text)
        ));
    }
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| format!("must be at most {}", u64::MAX))
}

/// A time such as `90s`, `15m`, `1h30m` or `7d`; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let wrong = || {
        format!(
            "must be a duration such as 90s, 15m or 4h, not `{}`",
            excerpt(text)
        )
    };
    if is_off(text) {
        return Ok(Duration::ZERO);
    }
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| wrong());
    }
    let span: Span = text.parse().map_err(|_| wrong())?;
    let duration = span
        .to_duration(SpanRelativeTo::days_are_24_hours())
        .map_err(|_| wrong())?;
    Duration::try_from(duration).map_err(|_| wrong())
}

/// An amount in dollars such as `10` or `$2.50`.
pub fn parse_money(text: &str) -> Result<MicroUsd, String> {
    let wrong = || {
        format!(
            "must be an amount in dollars such as 10 or $2.50, not `{}`",
            excerpt(text)
        )
    };
    let amount = text.trim();
    if is_off(amount) {
        return Ok(MicroUsd::ZERO);
    }
    let amount = amount.strip_prefix('$').unwrap_or(amount);
    let (whole, decimals) = amount.split_once('.').unwrap_or((amount, ""));
    let is_number = (whole.len() + decimals.len() > 0)
        && decimals.len() <= 6
        && whole
            .bytes()
            .chain(decimals.bytes())
            .all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(wrong());
    }
    // Not parsed as a floating point number, so that `0.1` is exactly 100,000 millionths.
    format!("{whole}{decimals:0<6}")
        .parse()
        .map(MicroUsd::new)
        .map_err(|_| wrong())
}

fn is_off(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "false" | "off" | "none")
}

/// The beginning of an invalid value, safe for a terminal.
pub fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(40).flat_map(char::escape_default).collect();
    if text.chars().count() > 40 {
        format!("{short}…")
    } else {
        short
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use agent_api::MicroUsd;

    use super::{parse_count, parse_duration, parse_money, parse_tokens};

    #[test]
    fn durations_have_units_and_bare_numbers_are_seconds() {
        for (text, seconds) in [
            ("90s", 90),
            ("15m", 900),
            ("4h", 14_400),
            ("1h30m", 5_400),
            ("1h 30m", 5_400),
            ("7d", 604_800),
            ("300", 300),
            ("0", 0),
            ("false", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1500)));
        for text in ["", "soon", "-4h", "-1", "1 month", "4x", "NaN", "inf", "1e400"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn money_is_exact() {
        for (text, micro_usd) in [
            ("10", 10_000_000),
            ("$2.50", 2_500_000),
            ("0.1", 100_000),
            (".5", 500_000),
            ("0.000001", 1),
            ("0", 0),
            ("false", 0),
        ] {
            assert_eq!(parse_money(text), Ok(MicroUsd::new(micro_usd)), "{text}");
        }
        for text in [
            "",
            "$",
            ".",
            "-1",
            "1.0000001",
            "1e3",
            "ten",
            "1,50",
            "99999999999999999999",
        ] {
            assert!(parse_money(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_whole_and_fit() {
        assert_eq!(parse_count("50"), Ok(50));
        assert_eq!(parse_tokens("1_000_000"), Ok(1_000_000));
        assert_eq!(parse_tokens("100k"), Ok(100_000));
        assert_eq!(parse_tokens("2M"), Ok(2_000_000));
        for text in ["k", "1.5M", "20000000000000000M", "5 k"] {
            assert!(parse_tokens(text).is_err(), "{text}");
        }
        assert_eq!(parse_count("off"), Ok(0));
        for text in ["many", "-1", "1.5", "4294967296", "+1"] {
            assert!(parse_count(text).is_err(), "{text}");
        }
        assert!(parse_tokens("").is_err());
    }
}
