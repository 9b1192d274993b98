//! Enums for words that the vendor may add to at any time.

/// Declares an enum over known words. A word that is not known is `Other` and keeps its text.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
            /// A word that this version does not know.
            Other($crate::text::Text),
        }

        impl $name {
            /// The word as the vendor writes it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )+
                    Self::Other(word) => word,
                }
            }

            #[inline]
            pub(crate) fn known(word: &[u8]) -> Option<Self> {
                $( if word == $word.as_bytes() { return Some(Self::$variant); } )+
                None
            }

            #[inline]
            pub(crate) fn from_span(span: $crate::json::StringSpan, source: &bytes::Bytes) -> Self {
                if span.is_literal(source) && let Some(known) = Self::known(span.written(source)) {
                    return known;
                }
                let word = span.text(source);
                Self::known(word.as_bytes().as_ref()).unwrap_or(Self::Other(word))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl $crate::event::field::Field for Option<$name> {
            #[inline(never)]
            fn read(&mut self, cursor: &mut $crate::json::Cursor<'_>) -> Result<(), $crate::json::Failed> {
                *self = cursor.string()?.map(|span| $name::from_span(span, cursor.source()));
                Ok(())
            }
        }
    };
}
pub(crate) use open_enum;
