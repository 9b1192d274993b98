//! A request of the agent and its answer: `RequestPanel`, for the run screen and the home screen.

mod draw;
mod panel;

pub(crate) use draw::{panel_rows, render_request, request_title};
pub(crate) use panel::RequestPanel;
