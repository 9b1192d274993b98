//! `reconcile`: finds runs whose runner died and ends them.

mod account;
mod lost;

pub use lost::{LostRun, ReconcileError, Reconciliation, reconcile};
