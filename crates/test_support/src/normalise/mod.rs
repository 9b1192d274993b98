//! Captured output, made fit to be kept: the same on every machine, and without the vendor's prose.
//!
//! Everything else stays as it came, byte for byte: order of keys, spelling of numbers, escapes in strings.

mod identity;
mod normaliser;
mod place;
mod prose;
mod raw;

pub use normaliser::Normaliser;
pub use place::Place;
