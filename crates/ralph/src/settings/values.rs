//! Parsers of values, the same for flags, variables and `ralph.yml`. An error continues "`key` …".

use std::time::Duration;

use agent_api::MicroUsd;
use clap::ValueEnum;
use jiff::{Span, SpanRelativeTo};

/// A list of names, as in `Read,Bash(git:*)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

/// The word `-`: stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StdinMarker;

pub fn parse_stdin_marker(text: &str) -> Result<StdinMarker, String> {
    if text == "-" {
        Ok(StdinMarker)
    } else {
        Err("only `-` (stdin) goes here; the prompt itself follows `-p`".to_owned())
    }
}

/// `true` or `false` and the usual synonyms. An empty text is `false`.
pub fn parse_switch(text: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "" | "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(format!("must be true or false, not `{}`", excerpt(text))),
    }
}

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

/// A factor, or `max`, which is 0.
pub fn parse_speed(text: &str) -> Result<f64, String> {
    if text == "max" {
        return Ok(0.0);
    }
    let speed: f64 = text
        .parse()
        .map_err(|_| "must be a number such as 2, or max".to_owned())?;
    if speed.is_finite() && speed >= 0.0 {
        Ok(speed)
    } else {
        Err("must not be negative".to_owned())
    }
}

/// Names separated by commas. A comma within parentheses is part of its name.
pub fn parse_names(text: &str) -> Result<Names, String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut depth = 0_u32;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| format!("has a `)` too many: `{}`", excerpt(text)))?;
            }
            ',' if depth == 0 => {
                names.push(std::mem::take(&mut name));
                continue;
            }
            _ => {}
        }
        name.push(character);
    }
    if depth > 0 {
        return Err(format!("has a `(` too many: `{}`", excerpt(text)));
    }
    names.push(name);
    let names = names.iter().map(|name| name.trim().to_owned());
    Ok(Names(names.filter(|name| !name.is_empty()).collect()))
}

pub fn parse_choice<T: ValueEnum>(text: &str) -> Result<T, String> {
    T::from_str(text.trim(), false).map_err(|_| {
        format!(
            "must be one of {}, not `{}`",
            choice_names::<T>().join(", "),
            excerpt(text)
        )
    })
}

/// The words that [`parse_choice`] takes, without their other spellings.
pub fn choice_names<T: ValueEnum>() -> Vec<String> {
    let values = T::value_variants()
        .iter()
        .filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

/// Text that is not only white space.
pub fn parse_text(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("must not be empty".to_owned());
    }
    Ok(text.to_owned())
}

fn is_off(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "false" | "off" | "none")
}

/// The beginning of an invalid value, safe for a terminal.
pub(crate) fn excerpt(text: &str) -> String {
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

    use super::{
        parse_count, parse_duration, parse_money, parse_names, parse_speed, parse_switch, parse_tokens,
    };

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

    #[test]
    fn nothing_is_off() {
        assert_eq!(parse_switch(""), Ok(false));
        assert_eq!(parse_switch("0"), Ok(false));
        assert_eq!(parse_switch("False"), Ok(false));
        assert_eq!(parse_switch("1"), Ok(true));
        assert!(parse_switch("maybe").is_err());
    }

    #[test]
    fn a_comma_within_parentheses_belongs_to_its_name() {
        let names = parse_names("Read, Bash(git:*,ls),,Edit").map(|names| names.0);
        assert_eq!(
            names,
            Ok(vec![
                "Read".to_owned(),
                "Bash(git:*,ls)".to_owned(),
                "Edit".to_owned()
            ])
        );
        assert!(parse_names("Bash(git").is_err());
        assert!(parse_names("Bash)").is_err());
    }

    #[test]
    fn speed_is_a_factor_or_max() {
        assert_eq!(parse_speed("max"), Ok(0.0));
        assert_eq!(parse_speed("2.5"), Ok(2.5));
        for text in ["-1", "NaN", "inf", "fast"] {
            assert!(parse_speed(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wrong_value_is_quoted_short_and_harmless() {
        let message = parse_count(&format!("\u{1b}]0;x{}", "y".repeat(100))).unwrap_err();
        assert!(!message.contains('\u{1b}') && message.len() < 120, "{message}");
    }
}
