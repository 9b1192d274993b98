//! `open_enum!`: enums over words to which a program may add new ones at any time.

/// Declares enums over known words. An unknown word becomes `Other` and keeps its text. A variant
/// needs no comment if its name says everything.
#[macro_export]
macro_rules! open_enum {
    ($(
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )+
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )+
            /// A word that this version does not know.
            Other($crate::Text),
        }

        impl $name {
            /// The word as it is written in JSON.
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
            pub(crate) fn from_span(span: $crate::reader::StringSpan, source: &$crate::Bytes) -> Self {
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

        impl $crate::reader::Value for $name {
            #[inline(never)]
            fn read_into(
                slot: &mut Option<Self>,
                cursor: &mut $crate::reader::Cursor<'_>,
            ) -> Result<(), $crate::reader::Failed> {
                *slot = cursor.string()?.map(|span| $name::from_span(span, cursor.source()));
                Ok(())
            }
        }
    )+};
}
