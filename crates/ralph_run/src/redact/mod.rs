//! Takes secrets out of what is recorded or shown.
//!
//! Two things are secrets: the values of variables that the caller names, wherever they occur, and everything that
//! looks like a token of a well-known kind. Each becomes `[redacted:…]`. The raw log is not redacted.
//!
//! A piece of streamed text is looked at as it is recorded: pieces are joined first, but a token that is cut between
//! two records is not seen in either. The whole block that follows them is. The same goes for text that was shortened
//! within a token.

mod json_line;
mod kind;
mod redactor;
mod secret;
mod shape;

pub use redactor::{RedactError, Redactor};
pub use secret::{Secret, secrets_among};
