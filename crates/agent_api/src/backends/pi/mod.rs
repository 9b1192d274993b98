//! pi: `pi --mode json`. It asks for no permission and exits with 0 also after an error.

mod backend;
mod mapper;
mod messages;
mod tools;

pub use backend::{Pi, profile};
pub use mapper::PiMapper;
