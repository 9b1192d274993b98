//! The keyboard of a terminal. [`TerminalInput`] owns the terminal's mode and reads bytes, [`KeyDecoder`] turns them into
//! keys, and [`LineEditor`] is a text that is being typed. The console and the terminal UI of ralph use them.

mod background_query;
mod decoder;
mod foreground;
mod key;
mod line_editor;
mod paste_burst;
mod ready_write;
mod terminal_input;
mod terminal_mode;
mod terminal_output;

pub use background_query::Background;
pub use decoder::{KeyDecoder, MAX_PASTE_BYTES, OVERSIZED_PASTE, Pending};
pub use foreground::is_in_foreground;
pub use key::{Key, Mouse, MouseAction};
pub use line_editor::{Edit, History, LineEditor, Piece};
pub use ready_write::write_if_ready;
pub use terminal_input::{Screen, TerminalControl, TerminalInput};
pub use terminal_mode::{MouseReports, ScreenOptions};
pub use terminal_output::{TerminalOutput, terminal_size};
