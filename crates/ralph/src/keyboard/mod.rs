//! The keyboard of a run in a terminal: messages to the agent, and answers to its requests.
//!
//! [`TerminalInput`](terminal_input::TerminalInput) reads keys. [`Keyboard`] decides what a key does, without I/O.
//! Its commands go to the run's control socket, as those of any other terminal do.

mod input_lines;
mod prompt_lines;
mod session;
mod state;
mod top_up_line;

pub use run_view::{denial, option_labels};
pub use session::KeyboardSetup;
pub(crate) use session::{KeyboardSession, SessionEvent};
pub use state::{KeyAction, Keyboard, Messages};
pub use top_up_line::ProposedTopUp;
