//! `ralph serve` as a whole: many agents, many clients, bad clients, and a server that is killed.

mod agent;
mod all;
mod answer;
mod away;
mod client;
mod deltas;
mod ended_runs;
mod half_open;
mod idle;
mod journal;
mod kill;
mod load;
mod open;
mod reconnect;
mod server;
mod stage;
mod stall;
mod table;

pub use agent::run as agent;
pub use all::run as all;
pub use answer::run as answer;
pub use away::run as away;
pub use deltas::run as deltas;
pub use half_open::run as half_open;
pub use idle::run as idle;
pub use kill::run as kill;
pub use load::run as load;
pub use open::run as open;
pub use reconnect::run as reconnect;
pub use stall::run as stall;
