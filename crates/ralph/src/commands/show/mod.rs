//! `ralph show`: what is known about a run.

mod execute;
mod render;
mod story;

pub use execute::execute;
