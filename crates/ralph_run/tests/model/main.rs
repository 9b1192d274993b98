//! `RunModel`, fed with the records of journals.
#![expect(clippy::unwrap_used, reason = "a failed test may panic")]

mod journal;
mod lists;
mod properties;
mod states;
