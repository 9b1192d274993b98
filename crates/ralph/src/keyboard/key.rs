//! `Key`: what a person can press or paste. `KeyDecoder` produces keys, `Keyboard` and `LineEditor` act on them.

/// A key press, or a paste.
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
    /// Ctrl-D.
    EndOfInput,
}
