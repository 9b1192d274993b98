//! The terminal: what a run looks like there, and every other text for it.
//!
//! Records and events go into a view, which turns them into text and writes nothing; the [`Console`] writes that text,
//! with the status line below it, in one place. Untrusted text passes [`sanitise()`] on its way, and nothing else does it.

mod background_writer;
mod call_rows;
mod characters;
mod console_thread;
mod digest;
mod figures;
mod flow;
mod fold_blanks;
mod footer;
mod json;
mod line_wrapper;
mod markdown;
mod one_line;
mod options;
mod page;
mod paragraph;
mod plain;
mod request_rows;
mod row_guard;
mod rows;
mod run_rows;
mod sanitise;
mod status;
mod stdio;
mod style;
mod terminal;
mod tool_line;
mod view;
mod visible;

pub use background_writer::BackgroundWriter;
pub use characters::is_forbidden;
pub use console_thread::{ConsoleEnd, ConsoleHandle, ConsoleThread};
pub use digest::{describe_file, describe_verify};
pub use figures::{format_cost, format_duration, format_tokens};
pub use footer::InputArea;
pub use json::{render_json, render_json_pretty};
pub use one_line::{one_line, wrap};
pub use options::{Mode, Options, Stdout};
pub use plain::{render_error, terminal_width, write_stderr, write_stdout, write_text};
pub(crate) use request_rows::measure_request;
pub(crate) use rows::describe_permission;
pub use sanitise::{Sanitiser, sanitise};
pub use stdio::{is_stderr_shared, write_if_ready};
pub use terminal::Console;
pub use visible::visible;
