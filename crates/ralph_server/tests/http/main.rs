//! The HTTP side of a server, asked over real sockets: what it answers, and whom it does not let in.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set its stage has to fail"
)]

mod agent;
mod attacks;
mod behind;
mod changes;
mod changing;
mod client;
mod commands;
mod confined;
mod contract;
mod deleted;
mod documented;
mod doors;
mod limits;
mod login;
mod page;
mod reading;
mod socket;
mod spellings;
mod stage;
mod start_limits;
mod starting;
mod tls;
mod watching;
mod written;
