//! `LineEditor`: a text that is being typed, with its cursor. `Keyboard` has one for messages and one for answers.

use unicode_width::UnicodeWidthChar as _;

use super::key::Key;

/// A longer text is not edited character by character, but as a paste.
const MAX_EDITABLE_CHARACTERS: usize = 20_000;
/// A longer paste is shown as one word, such as `[pasted 12 lines]`.
const MAX_INLINE_LINES: usize = 4;
const MAX_INLINE_CHARACTERS: usize = 400;

/// More than a person types. A terminal that does not mark pastes could send any amount.
const MAX_PIECES: usize = 200_000;

/// A text of one or more lines that is being edited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineEditor {
    pieces: Vec<Piece>,
    /// The piece after the cursor.
    cursor: usize,
}

/// What the cursor moves over in one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Character(char),
    /// Shown as its label.
    Paste {
        text: String,
        label: String,
    },
}

/// What a key did to the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    Done,
    /// Enter: the text is complete.
    Complete,
    /// The key means nothing to a text.
    Ignored,
}

impl LineEditor {
    /// A text to be edited, with the cursor at its end. Unlike a paste it has no labels.
    pub fn from_text(text: &str) -> Self {
        let mut editor = Self::default();
        if text.chars().nth(MAX_EDITABLE_CHARACTERS).is_some() {
            editor.paste(text);
        } else {
            editor.pieces = text.chars().map(Piece::Character).collect();
            editor.cursor = editor.pieces.len();
        }
        editor
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The text, with its pastes in full.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Character(character) => text.push(*character),
                Piece::Paste { text: pasted, .. } => text.push_str(pasted),
            }
        }
        text
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub fn cursor(&self) -> usize {
        self.cursor
    }

    pub fn apply(&mut self, key: &Key) -> Edit {
        match key {
            // Tab completes nothing here.
            Key::Character('\t') => return Edit::Ignored,
            Key::Character(character) => self.insert(Piece::Character(*character)),
            Key::Paste(text) => self.paste(text),
            Key::LineBreak => self.insert(Piece::Character('\n')),
            Key::Enter => {
                // A backslash at the end continues the message on another line.
                let last = self.cursor.checked_sub(1).and_then(|last| self.pieces.get(last));
                if self.cursor != self.pieces.len() || last != Some(&Piece::Character('\\')) {
                    return Edit::Complete;
                }
                self.remove(self.cursor - 1..self.cursor);
                self.insert(Piece::Character('\n'));
            }
            Key::Backspace => self.remove(self.step_left()..self.cursor),
            Key::Delete => self.remove(self.cursor..self.step_right()),
            Key::DeleteWord => self.remove(self.word_left()..self.cursor),
            Key::DeleteToStart => self.remove(self.line_start()..self.cursor),
            Key::DeleteToEnd => self.remove(self.cursor..self.line_end()),
            Key::Left => self.cursor = self.step_left(),
            Key::Right => self.cursor = self.step_right(),
            Key::WordLeft => self.cursor = self.word_left(),
            Key::WordRight => self.cursor = self.word_right(),
            Key::Home => self.cursor = self.line_start(),
            Key::End => self.cursor = self.line_end(),
            Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown
            | Key::BackTab
            | Key::Escape
            | Key::EndOfInput
            | Key::OversizedPaste
            | Key::Control(_)
            | Key::Alt(_)
            | Key::Mouse(_)
            | Key::Focused
            | Key::Background(_)
            | Key::Unfocused => return Edit::Ignored,
        }
        Edit::Done
    }

    fn insert(&mut self, piece: Piece) {
        if self.pieces.len() < MAX_PIECES {
            self.pieces.insert(self.cursor, piece);
            self.cursor += 1;
        }
    }

    fn paste(&mut self, text: &str) {
        let lines = text.lines().count();
        if lines > MAX_INLINE_LINES || text.chars().nth(MAX_INLINE_CHARACTERS).is_some() {
            let label = match lines {
                0 | 1 => format!("[pasted {} characters]", text.chars().count()),
                _ => format!("[pasted {lines} lines]"),
            };
            self.insert(Piece::Paste {
                text: text.to_owned(),
                label,
            });
        } else {
            for character in text.chars() {
                self.insert(Piece::Character(character));
            }
        }
    }

    fn remove(&mut self, range: std::ops::Range<usize>) {
        self.cursor = range.start;
        self.pieces.drain(range);
    }

    /// Marks without a width belong to the character before them.
    fn is_mark(&self, place: usize) -> bool {
        match self.pieces.get(place) {
            Some(Piece::Character(character)) => *character != '\n' && character.width() == Some(0),
            Some(Piece::Paste { .. }) | None => false,
        }
    }

    fn step_left(&self) -> usize {
        let mut place = self.cursor.saturating_sub(1);
        while place > 0 && self.is_mark(place) {
            place -= 1;
        }
        place
    }

    fn step_right(&self) -> usize {
        let mut place = (self.cursor + 1).min(self.pieces.len());
        while self.is_mark(place) {
            place += 1;
        }
        place
    }

    fn is_space(&self, place: usize) -> bool {
        matches!(self.pieces.get(place), Some(Piece::Character(character)) if character.is_whitespace())
    }

    fn word_left(&self) -> usize {
        let mut place = self.cursor;
        while place > 0 && self.is_space(place - 1) {
            place -= 1;
        }
        while place > 0 && !self.is_space(place - 1) {
            place -= 1;
        }
        place
    }

    fn word_right(&self) -> usize {
        let mut place = self.cursor;
        while place < self.pieces.len() && self.is_space(place) {
            place += 1;
        }
        while place < self.pieces.len() && !self.is_space(place) {
            place += 1;
        }
        place
    }

    fn line_start(&self) -> usize {
        let before = self.pieces.get(..self.cursor).unwrap_or_default();
        let end = before.iter().rposition(Piece::is_line_end);
        end.map_or(0, |end| end + 1)
    }

    fn line_end(&self) -> usize {
        let after = self.pieces.get(self.cursor..).unwrap_or_default();
        let end = after.iter().position(Piece::is_line_end);
        end.map_or(self.pieces.len(), |end| self.cursor + end)
    }
}

impl Piece {
    pub fn is_line_end(&self) -> bool {
        *self == Self::Character('\n')
    }
}

/// Earlier messages of this run. Up and Down move through them.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<LineEditor>,
    /// The entry that is shown; none while the user's own draft is.
    place: Option<usize>,
    draft: LineEditor,
}

/// Older messages are forgotten.
const MAX_ENTRIES: usize = 200;

impl History {
    pub fn add(&mut self, sent: LineEditor) {
        self.place = None;
        if self.entries.last().map(LineEditor::text) == Some(sent.text()) {
            return;
        }
        if self.entries.len() == MAX_ENTRIES {
            self.entries.remove(0);
        }
        self.entries.push(sent);
    }

    /// Returns to the user's own draft.
    pub fn leave(&mut self) {
        self.place = None;
    }

    pub fn older(&mut self, editor: &mut LineEditor) {
        let place = match self.place {
            Some(place) => place.checked_sub(1),
            None => self.entries.len().checked_sub(1),
        };
        if let Some(entry) = place.and_then(|place| self.entries.get(place)) {
            if self.place.is_none() {
                self.draft = std::mem::take(editor);
            }
            *editor = at_end(entry.clone());
            self.place = place;
        }
    }

    pub fn newer(&mut self, editor: &mut LineEditor) {
        let Some(place) = self.place else { return };
        match self.entries.get(place + 1) {
            Some(entry) => {
                *editor = at_end(entry.clone());
                self.place = Some(place + 1);
            }
            None => {
                *editor = std::mem::take(&mut self.draft);
                self.place = None;
            }
        }
    }
}

fn at_end(mut editor: LineEditor) -> LineEditor {
    editor.cursor = editor.pieces.len();
    editor
}

#[cfg(test)]
mod tests {
    use super::{Edit, History, Key, LineEditor};

    fn typed(text: &str) -> LineEditor {
        let mut editor = LineEditor::default();
        for character in text.chars() {
            editor.apply(&Key::Character(character));
        }
        editor
    }

    fn after(text: &str, keys: &[Key]) -> String {
        let mut editor = typed(text);
        for key in keys {
            editor.apply(key);
        }
        editor.apply(&Key::Character('|'));
        editor.text()
    }

    #[test]
    fn keys_move_and_delete_as_in_a_shell() {
        let text = "cargo test  --all";
        for (keys, expected) in [
            (&[Key::Left, Key::Left][..], "cargo test  --a|ll"),
            (&[Key::Home, Key::Right], "c|argo test  --all"),
            (&[Key::WordLeft, Key::WordLeft], "cargo |test  --all"),
            (&[Key::Home, Key::WordRight, Key::WordRight], "cargo test|  --all"),
            (&[Key::DeleteWord], "cargo test  |"),
            (&[Key::DeleteWord, Key::DeleteWord], "cargo |"),
            (&[Key::DeleteToStart], "|"),
            (&[Key::WordLeft, Key::DeleteToEnd], "cargo test  |"),
            (&[Key::Home, Key::Delete, Key::Backspace], "|argo test  --all"),
            (
                &[Key::Home, Key::Home, Key::Left, Key::Backspace],
                "|cargo test  --all",
            ),
            (
                &[Key::Up, Key::Down, Key::Character('\t'), Key::End, Key::Right],
                "cargo test  --all|",
            ),
        ] {
            assert_eq!(after(text, keys), expected, "{keys:?}");
        }
    }

    #[test]
    fn an_accent_is_deleted_with_its_letter() {
        assert_eq!(after("xe\u{301}", &[Key::Backspace]), "x|");
        assert_eq!(after("xe\u{301}y", &[Key::Left, Key::Left, Key::Delete]), "x|y");
    }

    #[test]
    fn home_and_end_stay_in_their_line() {
        let keys = [
            Key::LineBreak,
            Key::Character('b'),
            Key::Home,
            Key::Character('>'),
        ];
        assert_eq!(after("a", &keys), "a\n>|b");
    }

    #[test]
    fn enter_completes_the_text_unless_a_backslash_ends_it() {
        let mut editor = typed("one\\");
        assert_eq!(editor.apply(&Key::Enter), Edit::Done);
        editor.apply(&Key::Character('2'));
        assert_eq!(editor.text(), "one\n2");
        assert_eq!(editor.apply(&Key::Enter), Edit::Complete);
        let mut editor = typed("one\\");
        editor.apply(&Key::Home);
        assert_eq!(editor.apply(&Key::Enter), Edit::Complete);
        assert_eq!(editor.text(), "one\\");
    }

    #[test]
    fn a_long_paste_is_one_step_of_the_cursor_and_sent_whole() {
        let text = "line\n".repeat(200_000);
        let mut editor = typed("see: ");
        editor.apply(&Key::Paste(text.clone()));
        assert_eq!(editor.text(), format!("see: {text}"));
        editor.apply(&Key::Backspace);
        assert_eq!(editor.text(), "see: ");
        editor.apply(&Key::Paste("a\nb".to_owned()));
        editor.apply(&Key::Backspace);
        assert_eq!(editor.text(), "see: a\n");
    }

    #[test]
    fn a_text_that_is_put_into_the_editor_can_be_edited_however_many_lines_it_has() {
        let text = "one line\n".repeat(12);
        let mut editor = LineEditor::from_text(&text);
        editor.apply(&Key::Backspace);
        editor.apply(&Key::DeleteWord);
        assert_eq!(editor.text(), format!("{}one ", "one line\n".repeat(11)));
        let long = "one line\n".repeat(100_000);
        let mut editor = LineEditor::from_text(&long);
        assert_eq!(editor.text(), long);
        editor.apply(&Key::Backspace);
        assert!(editor.is_empty());
    }

    #[test]
    fn history_keeps_the_draft() {
        let mut history = History::default();
        for text in ["first", "second", "second"] {
            history.add(typed(text));
        }
        let mut editor = typed("draft");
        let mut seen = Vec::new();
        for is_up in [true, true, true, false, false, false] {
            if is_up {
                history.older(&mut editor);
            } else {
                history.newer(&mut editor);
            }
            seen.push(editor.text());
        }
        assert_eq!(seen, ["second", "first", "first", "second", "draft", "draft"]);
    }
}
