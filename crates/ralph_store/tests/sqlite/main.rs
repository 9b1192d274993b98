//! The index in a file, and how it follows the journals.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod catch_up;
mod damage;
mod index;
mod journal_stage;
