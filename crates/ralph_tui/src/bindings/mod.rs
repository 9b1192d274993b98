//! The one table of keys. Dispatch, footers, help and documentation are made from it.

mod binding;
mod dialog_table;
#[cfg(test)]
mod docs;
mod key_name;
mod keymap;
mod table;

pub(crate) use binding::{Action, Context};
pub(crate) use keymap::{BoundRow, footer_hints};
pub use keymap::{KeyChanges, Keymap};
