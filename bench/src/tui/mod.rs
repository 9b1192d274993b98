//! The terminal UI as a person has it: the real program in a terminal, over journals that a measurement writes.

mod all;
mod bytes;
mod flood;
mod home;
mod idle;
mod journal;
mod open;
mod terminal;
mod verdict;

pub use all::run as all;
pub use bytes::run as bytes;
pub use flood::run as flood;
pub use home::run as home;
pub use idle::run as idle;
pub use open::run as open;
