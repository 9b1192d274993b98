//! Why the bytes are not a JSON value.

/// The reason and the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// Index of the offending byte.
    pub(crate) position: usize,
}

/// What is wrong at that place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The bytes end inside a value.
    Truncated,
    /// A byte that cannot stand there.
    Unexpected,
    /// Nested deeper than [`super::MAX_DEPTH`].
    TooDeep,
}

impl Fault {
    /// The value at `position` goes wrong there, or has no more bytes.
    #[cold]
    pub(crate) fn at(bytes: &[u8], position: usize) -> Self {
        if position >= bytes.len() {
            Self {
                kind: FaultKind::Truncated,
                position: bytes.len(),
            }
        } else {
            Self {
                kind: FaultKind::Unexpected,
                position,
            }
        }
    }
}

/// A value could not be read; the cursor knows the [`Fault`]. Without content, so that it travels in a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;
