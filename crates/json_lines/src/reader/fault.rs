//! `Fault`: why bytes are not a JSON value, and where.

/// Why bytes are not a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a JSON value: {kind} at byte {position}")]
pub struct Fault {
    /// The reason.
    pub kind: FaultKind,
    /// Index of the offending byte.
    pub position: usize,
}

/// The reason of a [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The bytes end inside a value.
    Truncated,
    /// A byte that is not allowed at its position.
    Unexpected,
    /// Nested deeper than [`super::MAX_DEPTH`].
    TooDeep,
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Truncated => "it ends",
            Self::Unexpected => "unexpected byte",
            Self::TooDeep => "nested too deeply",
        })
    }
}

impl Fault {
    /// An unexpected byte at `position`, or the end of `bytes`.
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

/// Reading failed; [`Cursor::fault`](super::Cursor::fault) has the details. Has no content, so that results fit into
/// registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a JSON value")]
pub struct Failed;
