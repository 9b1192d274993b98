//! `Redactor`: replaces secrets in everything that is recorded or shown.
//!
//! Two things are secrets: the values of variables that the caller names, wherever they occur, and everything that
//! looks like a token of a well-known kind. Each becomes `[redacted:…]`. The raw log is not redacted.

mod json_line;
mod kind;
mod partial_text;
mod redactor;
mod secret;
mod shape;
mod stream;

pub use redactor::{FoundSecret, RedactError, Redactor};
pub use secret::{Secret, secrets_among};
pub(crate) use stream::DeltaRedactor;
