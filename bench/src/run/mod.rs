//! `ralph run` as a whole: what it costs over running the agent directly, and what it keeps when it is killed.

mod idle;
mod kill;
mod latency;
mod memory;
mod stage;
mod start;
mod throughput;

pub use idle::run as idle;
pub use kill::run as kill;
pub use latency::{run as latency, ticks};
pub use memory::run as memory;
pub use stage::Stage;
pub use start::run as start;
pub use throughput::run as throughput;
