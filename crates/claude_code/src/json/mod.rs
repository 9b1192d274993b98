//! A forgiving, forward-only JSON reader over the bytes of one line.
//!
//! It validates the structure of everything it passes and is lenient about content: lone surrogates, control
//! characters and invalid UTF-8 inside strings, numbers of any size and duplicate keys are all fine, because
//! vendors emit them and a lost line is worse than an odd character. Nesting costs no stack.

mod cursor;
mod fault;
mod number;
mod raw;
mod repair;
mod scan;
mod string;

pub(crate) use cursor::{Cursor, Entry, StringSpan};
pub(crate) use fault::{Failed, Fault, FaultKind};
pub use raw::RawJson;

/// Values nested deeper than this are refused.
pub(crate) const MAX_DEPTH: u32 = 128;

/// How many list elements of one line become values of their own; longer lists stay as written.
pub(crate) const MAX_ELEMENTS: u32 = 65_536;
