//! `Version`: the version number of an agent's program.

use std::fmt;
use std::str::FromStr;

/// The version of an agent's program, for example 2.1.325.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

impl Version {
    /// A version from its three numbers.
    #[must_use]
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self { major, minor, patch }
    }

    /// Finds the first version number in `text`, ignoring everything around it: `2.1.325 (Claude Code)`,
    /// `claude v2.1.325-beta.1`, a line after a banner.
    #[must_use]
    pub fn find(text: &str) -> Option<Self> {
        text.split(|character: char| !(character.is_ascii_digit() || character == '.'))
            .find_map(|word| {
                let mut numbers = word.split('.').map(str::parse::<u32>);
                match (numbers.next(), numbers.next(), numbers.next()) {
                    (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch))) => {
                        Some(Self::new(major, minor, patch))
                    }
                    _ => None,
                }
            })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        Self::find(text).ok_or(VersionError)
    }
}

/// The text contains no version number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no version number: expected three numbers such as `2.1.325`")]
pub struct VersionError;

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn a_version_is_found_in_whatever_the_program_prints() {
        let current = Some(Version::new(2, 1, 325));
        for text in [
            "2.1.325 (Claude Code)\n",
            "2.1.325",
            "claude v2.1.325-beta.1+build7",
            "warning: node 22 is old\nWelcome!\n2.1.325 (Claude Code)",
            "\u{1b}[1m2.1.325\u{1b}[0m",
        ] {
            assert_eq!(Version::find(text), current, "{text:?}");
        }
    }

    #[test]
    fn text_without_three_numbers_has_no_version() {
        for text in ["", "claude", "2.1", "2..1.3", "v2", "99999999999.1.1", "."] {
            assert_eq!(Version::find(text), None, "{text:?}");
        }
        assert!("unknown".parse::<Version>().is_err());
    }

    #[test]
    fn versions_order_by_number_not_by_text() {
        assert!(Version::new(2, 1, 9) < Version::new(2, 1, 83));
        assert!(Version::new(1, 0, 108) < Version::new(2, 0, 8));
        assert_eq!(Version::new(2, 1, 9).to_string(), "2.1.9");
    }
}
