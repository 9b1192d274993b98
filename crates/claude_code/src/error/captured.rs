//! Output inside errors.

use std::fmt;
use std::ops::Deref;

/// How much of a line [`Captured::last_line`] gives.
const LONGEST_LINE: usize = 300;

/// Text that the CLI or the model wrote. It may hold anything, so `Debug` shows only its length, and an error that is
/// logged does not spread it. It reads as a `str`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Captured(String);

impl Captured {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, owned.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }

    /// The last line that says something, without control characters and 300 characters long at most: of stderr it
    /// often tells a person what is wrong.
    #[must_use]
    pub fn last_line(&self) -> Option<String> {
        let line = self.0.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        let characters = line.chars().filter(|character| !character.is_control());
        Some(characters.take(LONGEST_LINE).collect())
    }
}

impl From<String> for Captured {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl Deref for Captured {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Captured {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Captured {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "<{} bytes>", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Captured;

    fn captured(text: &str) -> Captured {
        text.to_owned().into()
    }

    #[test]
    fn the_last_line_is_bounded_and_without_control_characters() {
        let said = captured("warning: x\nError: Invalid session ID.\u{1b}[0m\n\n");
        assert_eq!(said.last_line().as_deref(), Some("Error: Invalid session ID.[0m"));
        assert_eq!(captured(" \n").last_line(), None);
        assert_eq!(captured(&"x".repeat(10_000)).last_line().unwrap().len(), 300);
    }

    #[test]
    fn debug_shows_only_the_length() {
        assert_eq!(format!("{:?}", captured("secret")), "<6 bytes>");
    }
}
