//! Ids of sessions.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The id of a conversation: a UUID, because the CLI refuses anything else. The spelling is kept as given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionId(Box<str>);

impl SessionId {
    /// A new id that nobody else has; ids made later sort later.
    #[must_use]
    pub fn random() -> Self {
        Self(Uuid::now_v7().to_string().into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = SessionIdError;

    fn from_str(text: &str) -> Result<Self, SessionIdError> {
        // The library also reads braces, URNs and missing hyphens; the CLI does not.
        const HYPHENATED_LENGTH: usize = 36;
        if text.len() == HYPHENATED_LENGTH && Uuid::try_parse(text).is_ok() {
            Ok(Self(text.into()))
        } else {
            Err(SessionIdError)
        }
    }
}

impl TryFrom<&str> for SessionId {
    type Error = SessionIdError;

    fn try_from(text: &str) -> Result<Self, SessionIdError> {
        text.parse()
    }
}

impl From<Uuid> for SessionId {
    fn from(uuid: Uuid) -> Self {
        Self(uuid.to_string().into())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The text is not a UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a session id must be a UUID such as `10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55`: take it from an event of the run"
)]
pub struct SessionIdError;

#[cfg(test)]
mod tests {
    use super::SessionId;

    #[test]
    fn only_hyphenated_uuids_are_session_ids() {
        for id in [
            "10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55",
            "10F6D3C2-93AB-9A4E-1C0E-2F6F1D0A7B55",
        ] {
            assert_eq!(
                id.parse::<SessionId>().unwrap().as_str(),
                id,
                "the spelling is kept"
            );
        }
        for text in [
            "",
            "worker-abc-1706123456",
            "10f6d3c293ab4a4e9c0e2f6f1d0a7b55",
            "{10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b55}",
            "10f6d3c2-93ab-4a4e-9c0e-2f6f1d0a7b5g",
            "--dangerously-skip-permissions------",
        ] {
            assert!(text.parse::<SessionId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn random_ids_are_valid_and_differ() {
        let (first, second) = (SessionId::random(), SessionId::random());
        assert_ne!(first, second);
        assert_eq!(first.as_str().parse(), Ok(first.clone()));
    }
}
