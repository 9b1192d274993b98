//! Deltas and final blocks, brought together: every piece of text exactly once.
//!
//! With partial messages the same text arrives twice, first in pieces and then as a block of an `assistant` event;
//! a message that broke and was retried arrives twice in another way. [`Reconciler`] turns events into [`Change`]s
//! that a view can apply blindly, and keeps only where the blocks of the last few messages stand. [`TextCollector`]
//! applies them to get the whole text.

mod change;
mod collector;
mod lane;
mod reconciler;
mod slots;

pub use change::{BlockKey, Change, Part};
pub use collector::TextCollector;
pub use reconciler::Reconciler;
