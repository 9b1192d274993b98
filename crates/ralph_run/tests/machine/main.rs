//! The loop's rules, without processes, files or time.

mod asks;
mod loops;
mod play;
mod sessions;
mod stopping;
