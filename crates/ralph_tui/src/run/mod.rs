//! The run screen: one run in full, and everything that can be done to it.

mod actions;
mod composer;
mod draw;
mod footer;
mod header;
mod keys;
mod replies;
mod screen;
mod side_list;
#[cfg(test)]
mod tests;

pub(crate) use screen::RunScreen;
