//! The one table of keys. Dispatch, the footer, the help overlay and the docs are made from it.

mod binding;
#[cfg(test)]
mod docs;
mod table;

pub(crate) use binding::{Action, Binding, Context, Pressed, action_for, footer_hints};
pub(crate) use table::BINDINGS;
