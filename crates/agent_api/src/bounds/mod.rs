//! How large an event can get, and how it is cut.
//!
//! All events pass through here, whatever backend they come from, so a consumer can rely on it. What was cut is whole
//! in the raw log, where [`Event::raw`](crate::Event::raw) points.

mod apply;
mod cut;

pub(crate) use apply::bounded;
pub(crate) use cut::keep_end;
pub use cut::{cut_message, cut_output, cut_text, split_text};

/// Text and thinking: longer blocks are split at character boundaries into several events.
pub const TEXT_BYTES: usize = 65_536;
/// Messages, titles, subjects: longer ones are cut and end with `…(truncated)`.
pub const MESSAGE_BYTES: usize = 4_096;
/// JSON payloads: a longer one is replaced by `{"dropped":{"reason":"oversize"}}`.
pub const JSON_BYTES: usize = 65_536;
/// Session ids: a longer one is omitted, never cut.
pub const SESSION_ID_BYTES: usize = 1_024;
/// Lists: further entries are left out, and so are those that would make the list longer than [`JSON_BYTES`].
pub const LIST_ENTRIES: usize = 512;
/// How many events wait for a consumer; then no more is read from the agent.
pub const CHANNEL_EVENTS: usize = 128;
/// The final text that a completion carries: of a longer one the end, after `(truncated)…`.
pub const FINAL_TEXT_BYTES: usize = 1_048_576;
