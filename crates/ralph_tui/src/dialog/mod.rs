//! Dialogs: what covers the screen until it is answered or closed. Escape and Ctrl-C close each of them.

mod frame;
mod help;
mod model_field;
mod page;
mod permission_mode;
mod queue;
mod run_dialog;
mod scroll_box;
mod stop;
mod top_up;

pub(crate) use frame::{Anchor, BoxFrame, render_rows};
pub(crate) use help::HelpDialog;
pub(crate) use model_field::ModelDialog;
pub(crate) use page::PageDialog;
pub(crate) use permission_mode::PermissionModeDialog;
pub(crate) use queue::QueueDialog;
pub(crate) use run_dialog::{Dialog, DialogStep};
pub(crate) use stop::{StopDialog, StopKind};
pub(crate) use top_up::TopUpDialog;
