//! The vendor's texts as ours.

use claude_code::Text;

/// A copy. `to_string` would take it through a formatter.
pub(super) fn copied(text: &Text) -> String {
    str::to_owned(text)
}
