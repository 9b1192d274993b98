//! Everything a user can decide: flag, then `RALPH_` variable, then `ralph.yml`, then default.
//!
//! [`resolve`] is pure: it gets all four and gives [`Settings`], in which nothing is left to decide. One table
//! ([`SETTINGS`]) names every setting once; `docs/config.md` is written from it.

mod agent;
mod choices;
mod document;
mod error;
mod file;
mod file_check;
mod layers;
mod load;
mod mode;
mod near;
mod prompt;
mod reference;
mod report;
mod resolve;
mod resolved;
mod table;
pub mod values;
mod view;
mod workspace;

pub use choices::{
    AgentOutput, Auth, Backend, ColorChoice, Denials, Output, PermissionMode, PromptMode, SessionPolicy,
    Transport,
};
pub use document::Position;
pub use error::{SettingsError, Warning};
pub use file::{CONFIG_FILE, ConfigFile};
pub use layers::Origin;
pub use load::{load_settings, load_view};
pub use mode::Mode;
pub use prompt::{PromptSource, load_prompt};
pub use reference::render_reference;
pub use report::render_settings;
pub use resolve::{Context, resolve};
pub use resolved::{AgentSettings, LimitSettings, SessionStart, Settings};
pub use table::{Kind, SETTINGS, Setting};
pub use view::{Verbosity, View, resolve_view};
pub use workspace::find_workspace;
