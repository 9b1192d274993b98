//! What a person sees of a run.
#![expect(clippy::unwrap_used, reason = "the stage of these tests has nobody to tell")]

mod fixtures;
mod gate;
mod pipe;
mod runs;
mod screen;
mod stage;
mod states;
mod story;
