//! What can be wrong with a journal.

use std::fmt;
use std::io;

use crate::record::FORMAT_VERSION;

/// A place in a journal that is not as it was written. Reading goes on behind it where that makes sense.
#[derive(Debug)]
pub struct Damage {
    /// Counts the lines from 1.
    pub line: u64,
    /// Where the line starts in the file.
    pub offset: u64,
    /// What is wrong.
    pub kind: DamageKind,
}

/// What is wrong with a place in a journal.
#[derive(Debug)]
#[non_exhaustive]
pub enum DamageKind {
    /// The line is not a record. The reason never quotes the line.
    NotARecord(String),
    /// The line is longer than any record.
    TooLong {
        /// Its length.
        length_bytes: u64,
    },
    /// Records are missing before this line, which is delivered next.
    Missing {
        /// The first missing number.
        first: u64,
        /// The last missing number.
        last: u64,
    },
    /// The record was there before; it is not delivered again.
    OutOfOrder {
        /// The number that should have come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// The record, which is delivered next, leaves out text that earlier records had.
    TextLost(io::Error),
    /// A newer version of ralph wrote it. Nothing is read.
    NewerFormat {
        /// The version of its format.
        found: u32,
    },
    /// The system could not read it. Nothing more is read.
    Unreadable(io::Error),
}

impl Damage {
    /// Whether reading ends here.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(
            self.kind,
            DamageKind::NewerFormat { .. } | DamageKind::Unreadable(_)
        )
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, offset, kind } = self;
        match kind {
            DamageKind::NewerFormat { found } => write!(
                formatter,
                "the journal has format {found}; this version of ralph reads up to {FORMAT_VERSION}. Upgrade ralph to read it."
            ),
            DamageKind::Unreadable(error) => write!(formatter, "the journal cannot be read: {error}"),
            DamageKind::NotARecord(reason) => {
                write!(
                    formatter,
                    "line {line} (byte {offset}) of the journal is not a record: {reason}"
                )
            }
            DamageKind::TextLost(error) => {
                write!(
                    formatter,
                    "the text of line {line} (byte {offset}) of the journal is lost: {error}"
                )
            }
            DamageKind::TooLong { length_bytes } => {
                write!(
                    formatter,
                    "line {line} (byte {offset}) of the journal is too long: {length_bytes} bytes"
                )
            }
            DamageKind::Missing { first, last } => {
                write!(
                    formatter,
                    "records {first} to {last} are missing before line {line} (byte {offset})"
                )
            }
            DamageKind::OutOfOrder { expected, found } => write!(
                formatter,
                "line {line} (byte {offset}) of the journal is record {found} where {expected} should be"
            ),
        }
    }
}

impl std::error::Error for Damage {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            DamageKind::Unreadable(error) | DamageKind::TextLost(error) => Some(error),
            DamageKind::NotARecord(_)
            | DamageKind::TooLong { .. }
            | DamageKind::Missing { .. }
            | DamageKind::OutOfOrder { .. }
            | DamageKind::NewerFormat { .. } => None,
        }
    }
}
