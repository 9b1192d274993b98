//! One prompt, one answer.

mod collect;
mod execute;
mod response;
mod turns;

pub use response::{Remark, Response};
