//! Numbers: any size is accepted; they become machine numbers where they fit.

use super::fault::Fault;

#[inline(always)]
fn digits_end(bytes: &[u8], mut position: usize) -> Result<usize, Fault> {
    if !bytes.get(position).is_some_and(u8::is_ascii_digit) {
        return Err(Fault::at(bytes, position));
    }
    while bytes.get(position).is_some_and(u8::is_ascii_digit) {
        position += 1;
    }
    Ok(position)
}

/// The end of a number of any size.
#[inline(always)]
pub(super) fn number_end(bytes: &[u8], position: usize) -> Result<usize, Fault> {
    let first = position + usize::from(bytes.get(position) == Some(&b'-'));
    let end = if bytes.get(first) == Some(&b'0') {
        first + 1
    } else {
        digits_end(bytes, first)?
    };
    match bytes.get(end) {
        Some(b'.' | b'e' | b'E') => fraction_end(bytes, end),
        // Only reached after a single zero: `01` is not a number.
        Some(b'0'..=b'9') => Err(Fault::at(bytes, end)),
        // A number at the very end of a container's bytes is cut off with it; the container reports that.
        _ => Ok(end),
    }
}

#[inline(never)]
fn fraction_end(bytes: &[u8], mut position: usize) -> Result<usize, Fault> {
    if bytes.get(position) == Some(&b'.') {
        position = digits_end(bytes, position + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(position) {
        position += 1;
        position += usize::from(matches!(bytes.get(position), Some(b'+' | b'-')));
        position = digits_end(bytes, position)?;
    }
    Ok(position)
}

/// A non-negative integer that fits; `None` for everything else.
#[inline]
pub(super) fn parse_u64(digits: &[u8]) -> Option<u64> {
    let mut value: u64 = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    Some(value)
}

/// A finite floating point number.
pub(super) fn parse_f64(number: &[u8]) -> Option<f64> {
    std::str::from_utf8(number)
        .ok()?
        .parse::<f64>()
        .ok()
        .filter(|value| value.is_finite())
}

/// A non-negative decimal in millionths, rounded to the nearest; `None` when it is negative or does not fit.
///
/// Decimal arithmetic throughout: `0.1 + 0.2` in the vendor's floating point is close enough to be rounded away,
/// and nothing is added here.
pub(super) fn parse_micro_units(number: &[u8]) -> Option<u64> {
    let exponent_start = number.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (mantissa, exponent) = match exponent_start {
        Some(start) => (&number[..start], &number[start + 1..]),
        None => (number, &b"0"[..]),
    };
    // Also with a sign, and whatever the exponent is.
    if mantissa.iter().all(|byte| matches!(byte, b'-' | b'0' | b'.')) {
        return Some(0);
    }
    let point = mantissa
        .iter()
        .position(|byte| *byte == b'.')
        .unwrap_or(mantissa.len());
    let digits = || mantissa.iter().copied().filter(|byte| *byte != b'.');
    if !digits().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let exponent: i32 = match std::str::from_utf8(exponent).ok()?.parse() {
        Ok(exponent) => exponent,
        Err(_) if exponent.starts_with(b"-") => return Some(0),
        Err(_) => return None,
    };
    // How many of the mantissa's digits are whole micro units.
    let whole = i64::try_from(point).ok()? + i64::from(exponent) + 6;
    let mut value: u64 = 0;
    let mut count: i64 = 0;
    for digit in digits() {
        if count >= whole {
            let rounds_up = count == whole && digit >= b'5';
            return value.checked_add(u64::from(rounds_up));
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        count += 1;
    }
    while count < whole && value != 0 {
        value = value.checked_mul(10)?;
        count += 1;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::{parse_f64, parse_micro_units, parse_u64};

    #[test]
    fn integers_that_do_not_fit_are_no_integers() {
        assert_eq!(parse_u64(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_u64(b"18446744073709551616"), None);
        assert_eq!(parse_u64(b"123456789012345678901234567890"), None);
        assert_eq!(parse_u64(b"-1"), None);
        assert_eq!(parse_u64(b"1.0"), None);
    }

    #[test]
    fn infinite_numbers_are_no_numbers() {
        assert_eq!(parse_f64(b"1e400"), None);
        assert_eq!(parse_f64(b"527.25"), Some(527.25));
    }

    #[test]
    fn money_is_rounded_to_the_nearest_micro_unit() {
        for (text, expected) in [
            ("0", Some(0)),
            ("0.0223456", Some(22_346)),
            ("0.022105599999999996", Some(22_106)),
            ("1.6", Some(1_600_000)),
            ("12", Some(12_000_000)),
            ("1e-7", Some(0)),
            ("5e-7", Some(1)),
            ("2.5E-3", Some(2_500)),
            ("1e3", Some(1_000_000_000)),
            ("0e999999", Some(0)),
            ("0.0000004999999999999999999999999", Some(0)),
            ("-0", Some(0)),
            ("-0.0", Some(0)),
            ("0e99999999999", Some(0)),
            ("1e-99999999999", Some(0)),
            ("1e99999999999", None),
            ("-1", None),
            ("-1e-99999999999", None),
            ("1e400", None),
            ("1e-400", Some(0)),
            ("99999999999999999999999999", None),
        ] {
            assert_eq!(parse_micro_units(text.as_bytes()), expected, "{text}");
        }
    }
}
