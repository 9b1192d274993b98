//! The backlog as its callers use it: files, claims, the board and what starts next.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod board;
mod claims;
mod files;
mod folder;
mod proposal;
mod simulation;
mod stage;
