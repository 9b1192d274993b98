//! Limits on starts: which runs a token, and a server, may start. `admit` checks all of them before a start.

mod admission;
mod ledger;
mod rules;
mod usage;

pub(crate) use admission::admit;
pub(crate) use ledger::StartLedger;
