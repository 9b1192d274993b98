//! `Key`: what a person can press or paste. `KeyDecoder` produces keys, `LineEditor` and the views act on
//! them.

use crate::background_query::Background;

/// A key press, a paste, or a report of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Character(char),
    /// Text that the terminal marked as pasted. Never acts as a key.
    Paste(String),
    /// A paste of more than [`MAX_PASTE_BYTES`](super::MAX_PASTE_BYTES), of which nothing was kept.
    OversizedPaste,
    Enter,
    /// Alt-Enter, Ctrl-Enter, Shift-Enter or Ctrl-J: a line break within a message.
    LineBreak,
    Escape,
    Backspace,
    Delete,
    DeleteWord,
    DeleteToStart,
    DeleteToEnd,
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    Up,
    Down,
    PageUp,
    PageDown,
    /// Shift-Tab. Tab is a character.
    BackTab,
    /// Ctrl-D.
    EndOfInput,
    /// Ctrl with a letter that has no meaning of its own above, in lower case.
    Control(char),
    Alt(char),
    /// Only in a terminal that reports the mouse.
    Mouse(Mouse),
    /// The terminal has another background now. Only in one that reports it.
    Background(Background),
    /// Only in a terminal that reports its focus.
    Focused,
    Unfocused,
}

/// What the mouse did, and where: from 0, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    pub action: MouseAction,
    pub column: u16,
    pub row: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseAction {
    /// The left button.
    Press,
    Release,
    Drag,
    WheelUp,
    WheelDown,
}
