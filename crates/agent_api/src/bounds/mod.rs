//! The bounds of events, and how longer ones are cut.
//!
//! They apply to the events of every backend. The raw log, to which [`Event::raw`](crate::Event::raw) points, has the
//! uncut output.

mod apply;
mod cut;

pub(crate) use apply::bounded;
pub(crate) use cut::{cut, keep_end};
pub use cut::{cut_message, cut_output, cut_text, split_text};

/// Text and thinking: longer blocks are split at character boundaries into several events.
pub const TEXT_BYTES: usize = 65_536;
/// Messages, titles, subjects: longer ones are cut and end with `…(truncated)`.
pub const MESSAGE_BYTES: usize = 4_096;
/// JSON payloads: a longer one is replaced by `{"dropped":{"reason":"oversize"}}`.
pub const JSON_BYTES: usize = 65_536;
/// Session ids: a longer one is omitted, never cut.
pub const SESSION_ID_BYTES: usize = 1_024;
/// Lists: more entries are left out, and so are those that would make the list longer than [`JSON_BYTES`].
pub const LIST_ENTRIES: usize = 512;
/// How many events can wait for a consumer. When there are more, nothing is read from the agent.
pub const CHANNEL_EVENTS: usize = 128;
/// How many requests of an agent can wait for an answer. More are denied.
pub(crate) const OPEN_REQUESTS: usize = 1_024;
/// The final text of a completion. A longer one is cut at its start, which is replaced by `(truncated)…`.
pub const FINAL_TEXT_BYTES: usize = 1_048_576;
