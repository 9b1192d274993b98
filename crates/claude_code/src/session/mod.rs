//! A conversation with a running CLI.

mod connection;
mod receipt;
mod sender;
mod start;
mod tasks;

pub use receipt::{Receipt, ReceiptState};
pub use sender::SessionSender;
pub use start::Session;
