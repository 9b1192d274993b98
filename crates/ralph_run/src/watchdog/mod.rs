//! The watchdog: a fold of records that finds what goes wrong while it happens.
//!
//! [`Watchdog::observe`] sees the records that the journal has, and nothing else, so it can be run over any old journal.
//! [`Watchdog::tick`] adds the passing of time, which no record shows. The driver turns each [`Finding`] into an input of
//! the machine.

mod answers;
mod burn_rate;
mod calls;
mod file_states;
mod finding;
mod rules;
mod scope;
mod silence;
mod state;
mod workspace;

pub use finding::Finding;
pub use rules::{
    BurnRule, ContextRule, PlainRule, RepeatRule, ScopeRule, SilenceRule, WatchAction, WatchRules,
};
pub use scope::{Scope, ScopeError};
pub use state::Watchdog;
