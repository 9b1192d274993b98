//! What happens now, over the network: a WebSocket for pages, server-sent events for scripts.

mod client;
mod cursor;
mod protocol;
mod server_events;
mod websocket;

pub use protocol::{FROM_CLIENT, PROTOCOL_VERSION, TO_CLIENT};
pub use server_events::events;
pub use websocket::{StreamContext, serve};
