//! `RedactedText`: output inside an error, which `Debug` does not show.

use std::fmt;
use std::ops::Deref;

/// The longest line that [`RedactedText::last_line`] returns.
const MAX_LINE_CHARS: usize = 300;

/// Text that the CLI or the model wrote. It may contain secrets, so `Debug` shows only its length. It dereferences to
/// `str`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RedactedText(String);

impl RedactedText {
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

    /// The last line that is not blank, without control characters and at most 300 characters long. On stderr it often
    /// says what is wrong.
    #[must_use]
    pub fn last_line(&self) -> Option<String> {
        let line = self.0.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        let characters = line.chars().filter(|character| !character.is_control());
        Some(characters.take(MAX_LINE_CHARS).collect())
    }
}

impl From<String> for RedactedText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl Deref for RedactedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for RedactedText {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for RedactedText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Debug for RedactedText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "<{} bytes>", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::RedactedText;

    fn captured(text: &str) -> RedactedText {
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
