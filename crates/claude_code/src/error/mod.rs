//! What can go wrong. No error quotes a line of the CLI's output: lines may hold anything.

mod client;
mod request;

pub use client::{Error, NoResult};
pub use request::RequestError;
