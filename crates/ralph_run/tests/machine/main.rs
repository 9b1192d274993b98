//! The loop's rules, without processes, files or time.
#![expect(clippy::panic, reason = "a test that cannot go on has failed")]

mod asks;
mod loops;
mod play;
mod stopping;
