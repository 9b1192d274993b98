//! The keyboard of a run in a terminal: messages to the agent, and answers to its requests.
//!
//! [`TerminalInput`] reads bytes and [`KeyDecoder`] makes them keys. [`Keyboard`] decides what a key does, without I/O.
//! Its commands go to the run's control socket, as those of any other terminal do.

mod choice;
mod decoder;
mod input_lines;
mod key;
mod line_editor;
mod request_prompt;
mod session;
mod state;
mod terminal_input;
mod terminal_mode;
mod top_up_line;

pub use choice::{denial, option_labels};
pub use decoder::{KeyDecoder, MAX_PASTE_BYTES, Pending};
pub use key::Key;
pub use line_editor::LineEditor;
pub use session::KeyboardSetup;
pub(crate) use session::{ACTOR, KeyboardSession, SessionEvent};
pub use state::{KeyAction, Keyboard, Messages};
pub use terminal_input::{TerminalControl, TerminalInput};
pub use top_up_line::ProposedTopUp;
