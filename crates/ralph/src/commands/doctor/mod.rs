//! `ralph doctor`: whether a run can start here, and what to do if not.

mod agents;
mod check;
mod execute;
mod login;
mod machine;
mod render;

pub use execute::execute;
