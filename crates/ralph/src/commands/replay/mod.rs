//! `ralph replay`: a run once more, or any recorded output of an agent, through the same pipeline.

mod execute;
mod pace;
mod raw;
mod source;

pub use execute::execute;
