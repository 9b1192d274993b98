//! How to run an agent: [`RunOptions`] and the types of its fields. Plain data, the same for every agent.

mod choices;
mod environment;
mod run_options;

pub use choices::{
    Expansion, JsonSource, PartialMessages, PermissionHost, PermissionMode, Persistence, SessionChoice,
    SystemPrompt, VendorEvents,
};
pub use environment::{BaseEnvironment, Environment};
pub use run_options::RunOptions;
