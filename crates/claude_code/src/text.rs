//! The string type of all events.

/// UTF-8 text that shares the memory of the line it came from.
///
/// It derefs to [`str`] and is cheap to clone. Text without escapes is a slice of its line and keeps the line's
/// buffer alive: whoever keeps a few short strings for long should take `.to_string()`.
pub type Text = bytestring::ByteString;
