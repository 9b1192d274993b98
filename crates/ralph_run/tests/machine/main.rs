//! The loop's rules, without processes, files or time.

mod asks;
mod invariants;
mod loops;
mod play;
mod sessions;
mod stopping;
