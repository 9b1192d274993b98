//! Finding runs whose runner died, and ending them on paper and in fact.

mod account;
mod lost;

pub use lost::{LostRun, ReconcileError, Reconciliation, reconcile};
