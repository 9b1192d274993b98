//! Lines for the CLI's stdin, without touching a process.
//!
//! Every function gives one line with its newline. There is never another newline in it: the CLI ends itself with an
//! error when a line is not JSON.

mod answer;
mod host_request;
mod line;
mod message;

pub use answer::{Answer, PermissionAnswer, UnsuitableInput, answer, with_answers};
pub use host_request::{HostRequest, host_request};
pub use message::{MessageBlock, MessageContent, MessageId, UserMessage, composed_message, user_message};
