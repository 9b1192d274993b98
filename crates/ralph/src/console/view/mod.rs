//! `View`: records in, text out. Writes nothing.

mod agent;
mod calls;
mod open_requests;
mod run;
mod state;

pub(super) use state::View;
