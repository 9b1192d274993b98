//! One prompt, one answer: `Client::run` and its `Response`.

mod collect;
mod execute;
mod response;

pub use response::{Response, RunWarning};
