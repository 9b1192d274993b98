//! What can go wrong. No error quotes a line of the CLI's output: lines may hold anything.

mod captured;
mod client;
mod request;
mod wrong_shape;

pub use captured::Captured;
pub use client::{Error, NoResult};
pub use request::RequestError;
pub use wrong_shape::WrongShape;
