//! The run screen: one run in full, and everything that can be done to it.

mod screen;

pub(crate) use screen::RunScreen;
