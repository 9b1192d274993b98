//! Everything a user can decide: flag, then `RALPH_` variable, then mode, then `ralph.yml`, then default.
//!
//! `table.rs` defines every setting once. Each layer is a [`SettingsLayer`] (flags are one by clap); [`resolve`] is pure
//! and turns the layers into [`Settings`], in which nothing is left to decide. The report of `--dry-run`, the suggestions
//! for unknown keys and `docs/config.md` come from the same table.

mod agent;
mod agents_page;
mod backend;
mod choices;
mod error;
mod file;
mod kind;
mod layer;
mod load;
mod mode;
mod notify;
mod permission;
mod prompt;
mod reference;
mod report;
mod resolve;
mod resolved;
mod suggest;
mod table;
pub mod values;
mod view;
mod watch;
mod workspace;

pub use agents_page::render_agents;
pub use backend::{BackendName, backend_parser};
pub use choices::{
    AgentOutput, Auth, ColorChoice, Denials, Output, PromptMode, SessionPolicy, ThemeChoice, Transport,
};
pub use error::{SettingsError, Warning};
pub use file::{CONFIG_FILE, ConfigFile, FileEntry};
pub use kind::{Program, Promise, Variables, show_duration};
pub use layer::{Origin, Setting};
pub use load::{OpenedFile, load_settings, load_view, open_file};
pub use mode::{ModeTools, Modes};
pub use notify::{NotifyCommand, NotifyEvents, NotifyOn, NotifySettings, WebhookUrl};
pub use permission::{permission_name, permission_parser};
pub use prompt::{PromptSource, check_inside_workspace, check_workspace_prompt, load_prompt, reload_prompt};
pub use reference::{render_reference, render_settings_help};
pub use report::{ReportedSetting, render_settings, report_settings};
pub use resolve::{Context, resolve};
pub use resolved::{
    AcpSettings, AgentSettings, LimitSettings, OwnWorktree, RoleSettings, SessionStart, Settings,
    WorktreeSettings,
};
pub use suggest::unknown_variables;
pub use table::{ModeLayer, SETTINGS, SettingsLayer, ViewArgs, mode_keys};
pub use view::{Verbosity, View, resolve_view};
pub use watch::{WatchRule, WatchSettings};
pub use workspace::find_workspace;
pub use yaml_tree::Position;
