//! The errors of this crate. None of them quotes the CLI's output, which may contain secrets.

#[cfg(feature = "process")]
mod client;
mod redacted_text;
mod request;

#[cfg(feature = "process")]
pub use client::{Error, NoResult};
pub use redacted_text::RedactedText;
pub use request::RequestError;
