//! The terminal: what a run looks like there, and every other text for it.
//!
//! Records and events go into a view, which turns them into text and writes nothing; the [`Console`] writes that text,
//! with the status line below it, in one place. Untrusted text passes [`run_view::sanitise()`] on its way, and nothing else does it.

mod background_writer;
mod call_rows;
mod console_thread;
mod digest;
mod flow;
mod footer;
mod json;
mod line_wrapper;
mod markdown;
mod options;
mod page;
mod paragraph;
mod plain;
mod row_guard;
mod rows;
mod run_rows;
mod status;
mod stdio;
mod style;
mod task_tree;
mod terminal;
mod view;

pub use background_writer::BackgroundWriter;
pub use console_thread::{ConsoleEnd, ConsoleHandle, ConsoleThread};
pub use digest::describe_file;
pub use footer::InputArea;
pub use json::{render_json, render_json_pretty};
pub use options::{Mode, Options, Stdout};
pub use plain::{render_error, terminal_width, write_stderr, write_stdout, write_text};
pub(crate) use rows::measure_request;
pub use stdio::is_stderr_shared;
pub use task_tree::{TaskTree, render_ready_tasks, render_task_tree};
pub use terminal::Console;
