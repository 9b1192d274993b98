//! What happens now, over the network: a WebSocket for pages, server-sent events for scripts.

mod protocol;
mod run_reader;
mod server_events;
mod subscriptions;
mod websocket;
#[cfg(feature = "ts")]
mod wire;
#[cfg(feature = "ts")]
mod wire_layout;

pub use protocol::{FROM_CLIENT, PROTOCOL_VERSION, TO_CLIENT};
pub use server_events::{EventId, events};
pub(crate) use websocket::MAX_STALL;
pub use websocket::{StreamContext, serve};
#[cfg(feature = "ts")]
pub use wire::typescript;
