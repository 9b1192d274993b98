//! Claude's recorded streams in the common vocabulary: nothing without a home, no text twice, figures that add up.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod callbacks;
mod census;
mod figures;
mod hazards;
mod replay;
mod runs;
mod stories;
mod text;
mod turns;
