//! A lenient, forward-only JSON reader over the bytes of one line, and the macros that declare typed objects.
//!
//! The reader validates the structure of everything it passes and is lenient about content: lone surrogates, control
//! characters and invalid UTF-8 inside strings, numbers of any size and duplicate keys are accepted, because programs
//! write them and a lost line is worse than an odd character. Nesting uses no stack.
//!
//! ```
//! use json_lines::{Bytes, Text, open_enum, wire_struct};
//! use json_lines::reader::{Cursor, Object, SkipUnknown};
//!
//! open_enum! {
//!     /// How a step ended.
//!     pub enum Status {
//!         /// It worked.
//!         Ok = "ok",
//!     }
//! }
//!
//! wire_struct! {
//!     /// One step.
//!     pub struct Step {
//!         /// Its name.
//!         name: Option<Text> = b"name",
//!         /// Its result.
//!         status: Option<Status> = b"status",
//!         /// Its duration.
//!         duration_ms: Option<u64> = b"duration_ms" | b"durationMs",
//!     }
//! }
//!
//! let line = Bytes::from_static(br#"{"name":"build","status":"skipped","durationMs":"a while","x":1}"#);
//! let mut step = Step::default();
//! step.read_members(&mut Cursor::new(&line), &mut SkipUnknown).unwrap();
//! assert_eq!(step.name.as_deref(), Some("build"));
//! assert_eq!(step.status, Some(Status::Other("skipped".into())));
//! assert_eq!(step.duration_ms, None, "a value of another type is absent");
//! ```

mod cursor;
mod fault;
mod field;
mod number;
mod open_enum;
mod repair;
mod scan;
mod string;

pub use cursor::{Cursor, Entry, StringSpan};
pub use fault::{Failed, Fault, FaultKind};
pub use field::{Field, Object, SkipUnknown, UnknownMembers, Value};
pub(crate) use repair::repaired;

/// Values nested deeper than this are refused.
pub const MAX_DEPTH: u32 = 128;

/// How many list elements of one line become values of their own; longer lists stay as written.
pub const MAX_ELEMENTS: u32 = 65_536;
