//! `retry_hint`: when a vendor's message says that a request may work again. Most vendors write that only in prose.

/// When a request may work again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RetryHint {
    /// In seconds since 1970.
    pub(super) resets_at: Option<u64>,
    /// In seconds from the message on.
    pub(super) after_seconds: Option<u32>,
}

impl RetryHint {
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// Words, in lower case, that a duration follows.
const BEFORE_DURATION: [&str; 6] = [
    "try again in",
    "reset after",
    "resets in",
    "retry after",
    "retry-after",
    "retrydelay",
];

/// Words, in lower case, that a time in seconds since 1970 follows.
const BEFORE_MOMENT: [&str; 2] = ["limit reached|", "resets_at\":"];

/// Reads a message such as `Please try again in 11.054s` or `usage limit reached|1700000000`.
pub(super) fn retry_hint(message: &str) -> RetryHint {
    let low = message.to_lowercase();
    let following = |words: &[&str]| {
        let (at, word) = words.iter().find_map(|word| Some((low.find(word)?, *word)))?;
        low.get(at + word.len()..)
    };
    RetryHint {
        resets_at: following(&BEFORE_MOMENT).and_then(|rest| {
            let digits = rest.trim_start();
            let end = digits
                .find(|letter: char| !letter.is_ascii_digit())
                .unwrap_or(digits.len());
            digits.get(..end)?.parse().ok()
        }),
        after_seconds: following(&BEFORE_DURATION).and_then(read_duration),
    }
}

/// `2h15m20s`, `11.054s`, `2 hours 5 minutes`, `": "34s"`, `120`: rounded up to seconds. `None` if it does not begin with
/// one.
fn read_duration(text: &str) -> Option<u32> {
    let mut rest = text.trim_start_matches([':', '"', ' ', '=', '~']);
    let mut seconds = 0.0;
    let mut has_number = false;
    loop {
        let end = rest
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .unwrap_or(rest.len());
        let Some(number) = rest
            .get(..end)
            .and_then(|digits| digits.trim_end_matches('.').parse::<f64>().ok())
        else {
            break;
        };
        let after = rest.get(end..).unwrap_or_default();
        let unit = after.trim_start();
        let length = unit
            .find(|letter: char| !letter.is_ascii_alphabetic())
            .unwrap_or(unit.len());
        let name = unit.get(..length).unwrap_or_default();
        let factor = match name {
            "ms" => 0.001,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            // A bare number is in seconds, if it is the only one.
            _ if has_number => break,
            _ => {
                has_number = true;
                seconds = number;
                break;
            }
        };
        has_number = true;
        seconds += number * factor;
        rest = unit
            .get(length..)
            .unwrap_or_default()
            .trim_start_matches([',', ' ']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    // A delay of more than a century is not a usable hint.
    let is_sane = has_number && (0.0..3.2e9).contains(&seconds);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked above"
    )]
    is_sane.then(|| seconds.ceil() as u32)
}

#[cfg(test)]
mod tests {
    use super::{RetryHint, retry_hint};

    #[test]
    fn words_of_vendors_say_when_to_try_again() {
        for (message, seconds) in [
            (
                "Rate limit reached for gpt-5. Please try again in 11.054s.",
                Some(12),
            ),
            ("Please try again in 200ms", Some(1)),
            (
                "You've hit your usage limit. Try again in 2 hours 5 minutes.",
                Some(7_500),
            ),
            ("try again in 3 days 4 hours and 1 minute", Some(273_660)),
            ("Your quota will reset after 2h15m20s.", Some(8_120)),
            (r#"{"@type":"RetryInfo","retryDelay":"34s"}"#, Some(34)),
            (r#""retryDelay": "34.074824224s""#, Some(35)),
            ("429 Too Many Requests (retry-after: 120)", Some(120)),
            ("Please try again later.", None),
            ("try again in a moment", None),
            ("try again at 3:05 PM", None),
            ("try again in 99999999999999999999999 hours", None),
            ("", None),
        ] {
            assert_eq!(retry_hint(message).after_seconds, seconds, "{message}");
        }
    }

    #[test]
    fn a_reset_in_seconds_is_read() {
        let hint = retry_hint("Claude AI usage limit reached|1751230800");
        assert_eq!(
            hint,
            RetryHint {
                resets_at: Some(1_751_230_800),
                after_seconds: None
            }
        );
        assert!(retry_hint("usage limit reached|soon").is_empty());
    }
}
