//! The home screen: all runs of this user.

mod answer_dialog;
mod columns;
mod draw;
mod draw_new_run;
mod keys;
mod mouse;
mod new_run_form;
mod preview;
mod row;
mod run_filter;
mod run_table;
mod screen;
#[cfg(test)]
mod tests;

pub(crate) use screen::HomeScreen;
