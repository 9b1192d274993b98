//! The loop's rules, without processes, files or time.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue has failed")]

mod asks;
mod findings;
mod invariants;
mod limits;
mod loops;
mod play;
mod roles;
mod sessions;
mod stopping;
mod waits;
