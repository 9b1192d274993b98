//! Lists and maps that most readers never look at: kept as written, read on demand.

use crate::event::field::{Field, Ignored, Object};
use crate::event::tokens::ModelUsage;
use crate::json::{Cursor, Failed, RawJson};
use crate::text::Text;

/// A list of strings. Elements of other types are left out.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextList {
    raw: Option<RawJson>,
}

impl TextList {
    /// The strings in order. Reads the list anew at every call.
    #[must_use]
    pub fn to_vec(&self) -> Vec<Text> {
        let mut strings = Vec::new();
        if let Some(raw) = &self.raw {
            let walked = Cursor::new(raw.as_bytes()).array(|cursor| {
                strings.extend(cursor.text()?);
                Ok(())
            });
            debug_assert!(walked.is_ok(), "validated with its line");
        }
        strings
    }

    /// Whether `word` is one of the strings.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.to_vec().iter().any(|string| &**string == word)
    }

    /// The list as written, where there is one.
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

/// Tokens and cost per model, as in `result.modelUsage`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Models {
    raw: Option<RawJson>,
}

impl Models {
    /// Whether the vendor gave the map at all; it may still be empty.
    #[must_use]
    pub fn is_present(&self) -> bool {
        self.raw.is_some()
    }

    /// One entry per model, in order. Reads the map anew at every call.
    #[must_use]
    pub fn to_vec(&self) -> Vec<(Text, ModelUsage)> {
        let mut models = Vec::new();
        if let Some(raw) = &self.raw {
            let walked = Cursor::new(raw.as_bytes()).object(|cursor, key| {
                let mut usage = ModelUsage::default();
                if usage.read_members(cursor, &mut Ignored)? {
                    models.push((Text::from(String::from_utf8_lossy(key).into_owned()), usage));
                }
                Ok(())
            });
            debug_assert!(walked.is_ok(), "validated with its line");
        }
        models
    }

    /// The map as written, where there is one.
    #[must_use]
    pub fn raw(&self) -> Option<&RawJson> {
        self.raw.as_ref()
    }
}

impl Field for Models {
    #[inline(never)]
    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Failed> {
        let is_object = cursor.peek() == Some(b'{');
        self.raw = cursor.raw()?.filter(|_| is_object);
        Ok(())
    }
}
