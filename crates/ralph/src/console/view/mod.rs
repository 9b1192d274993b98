//! What a person is shown of a run: records and events in, text out. Writes nothing.

mod agent;
mod calls;
mod run;
mod shown_errors;
mod state;

pub(super) use state::View;
