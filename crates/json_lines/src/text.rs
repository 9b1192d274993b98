//! `Text`: the string type of everything that is read here.

/// UTF-8 text that shares the memory of the line it came from.
///
/// It dereferences to [`str`] and is cheap to clone. Text without escapes is a slice of its line and keeps the line's
/// buffer alive: to keep a few short strings for long, call `.to_string()`.
///
/// It is an alias and not a type of our own because a wrapper would have to repeat every method and trait of a string.
/// A new major version of `bytestring` is a breaking change of this crate.
pub type Text = bytestring::ByteString;
