//! `Text`: the string type of everything that is read here. `TextList`: a list of strings, read on demand.

use crate::raw_json::RawJson;
use crate::reader::{Cursor, Failed, Field};

/// UTF-8 text that shares the memory of the line it came from.
///
/// It dereferences to [`str`] and is cheap to clone. Text without escapes is a slice of its line and keeps the line's
/// buffer alive: to keep a few short strings for long, call `.to_string()`.
///
/// It is an alias and not a type of our own because a wrapper would have to repeat every method and trait of a string.
/// A new major version of `bytestring` is a breaking change of this crate.
pub type Text = bytestring::ByteString;

/// A list of strings, kept as written until it is read. Elements of other types are left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextList {
    raw: Option<RawJson>,
}

impl TextList {
    /// The strings in order. Reads the list again at every call.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Text> {
        let mut strings = Vec::new();
        if let Some(raw) = &self.raw {
            // Cannot fail: the list was read together with its line.
            let _ = Cursor::new(raw.as_bytes()).array(|cursor| {
                strings.extend(cursor.text()?);
                Ok(())
            });
        }
        strings
    }

    /// Whether `word` is one of the strings.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.to_vec().iter().any(|string| &**string == word)
    }

    /// The list as written; `None` if there was none.
    #[must_use]
    pub fn raw(&self) -> Option<&RawJson> {
        self.raw.as_ref()
    }
}

impl Field for TextList {
    #[inline(never)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        let is_array = cursor.peek() == Some(b'[');
        self.raw = cursor.raw()?.filter(|_| is_array);
        Ok(())
    }
}
