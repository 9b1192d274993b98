//! Reconciles deltas with complete blocks, so that every text is there exactly once.
//!
//! With partial messages the same text arrives twice, first in pieces and then as a block of an `assistant` event;
//! a message that broke and was retried arrives twice in another way. [`Reconciler`] turns events into [`Change`]s
//! that a view can simply apply. [`TextCollector`] applies them to get the whole text.

mod block_table;
mod change;
mod collector;
mod reconciler;
mod speaker;

pub use change::{BlockKey, Change, Part};
pub use collector::TextCollector;
pub use reconciler::Reconciler;
