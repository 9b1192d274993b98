//! How each kind of cell is shown, one file for each.

pub(super) mod iteration;
mod labeled;
pub(super) mod message;
pub(super) mod notice;
pub(super) mod output;
pub(super) mod request;
pub(super) mod run_end;
pub(super) mod text;
pub(super) mod thinking;
pub(super) mod todo;
pub(super) mod tool;
pub(super) mod verify;
pub(super) mod wait;
pub(super) mod warning;
