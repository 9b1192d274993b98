//! The command line of ralph.
#![warn(missing_docs)]

pub mod console;
