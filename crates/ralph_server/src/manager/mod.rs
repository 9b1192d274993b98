//! Steering runs that are processes of their own.

mod command;

pub use command::{CommandError, command};
