//! The home screen: all runs of this user.

mod screen;

pub(crate) use screen::HomeScreen;
