//! Parsers of values, the same for flags, variables and `ralph.yml`. An error continues "`key` …".

use clap::ValueEnum;

pub(crate) use run_view::excerpt;
pub use run_view::{parse_count, parse_duration, parse_money, parse_tokens};

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

#[cfg(test)]
mod tests {
    use super::{parse_count, parse_names, parse_speed, parse_switch};

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
