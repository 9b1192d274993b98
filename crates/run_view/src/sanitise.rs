//! `Sanitiser` and `sanitise()`: the only way of untrusted text to a terminal.

use std::borrow::Cow;

use crate::characters::{Fate, fate};

/// Text without anything that a terminal would obey or hide: escape sequences, control characters, characters that
/// change the direction or have no shape. Newlines and tabs stay.
pub fn sanitise(text: &str) -> Cow<'_, str> {
    if plain_length(text) == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    Sanitiser::default().push(text, &mut out);
    Cow::Owned(out)
}

/// [`sanitise`] for text that comes in pieces: a sequence that is cut between two of them is still one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sanitiser {
    state: State,
    is_after_return: bool,
    joint: Joint,
}

/// Where a zero-width joiner is kept: only between two pictures, which it makes one of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Joint {
    #[default]
    None,
    /// After a picture.
    Possible,
    /// After a picture and a joiner, which is shown if another picture follows.
    Held,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate character.
    EscapeIntermediate,
    /// In a control sequence.
    Control,
    /// In a string for the terminal: a title, a link, a picture.
    String,
}

impl Sanitiser {
    /// Appends the next piece, sanitised.
    pub fn push(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.state == State::Ground {
                if std::mem::take(&mut self.is_after_return) {
                    rest = rest.strip_prefix('\n').unwrap_or(rest);
                }
                let (plain, other) = rest.split_at(plain_length(rest));
                self.join(plain, out);
                out.push_str(plain);
                rest = other;
            }
            let Some(character) = rest.chars().next() else {
                return;
            };
            if self.step(character, out) {
                rest = &rest[character.len_utf8()..];
            }
        }
    }

    /// The next piece, copied to `scratch` only if something has to go.
    pub fn pass<'a>(&mut self, text: &'a str, scratch: &'a mut String) -> &'a str {
        let is_resting = self.state == State::Ground && !self.is_after_return && self.joint != Joint::Held;
        if is_resting && plain_length(text) == text.len() {
            self.join(text, scratch);
            return text;
        }
        scratch.clear();
        self.push(text, scratch);
        scratch
    }

    /// Adds a joiner that was held if `text` continues the picture.
    fn join(&mut self, text: &str, out: &mut String) {
        let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
            return;
        };
        if self.joint == Joint::Held && is_picture(first) {
            out.push(JOINER);
        }
        self.joint = if is_picture(last) || last == EMOJI_STYLE {
            Joint::Possible
        } else {
            Joint::None
        };
    }

    /// Takes one character; or only leaves a sequence that this character cannot be part of.
    fn step(&mut self, character: char, out: &mut String) -> bool {
        self.state = match (self.state, character) {
            (State::Ground, _) => {
                self.ground(character, out);
                return true;
            }
            // A string ends with its terminator. One that lacks it hides at most the rest of its line.
            (State::String, '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}') => State::Ground,
            (State::String, '\n') => {
                self.state = State::Ground;
                return false;
            }
            (_, '\u{1b}') => State::Escape,
            (State::String, _) => State::String,
            (State::Escape, '[') => State::Control,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::String,
            (State::Escape | State::EscapeIntermediate, ' '..='/') => State::EscapeIntermediate,
            (State::Escape | State::EscapeIntermediate, '0'..='~') => State::Ground,
            (State::Control, ' '..='?') => State::Control,
            (State::Control, '@'..='~') => State::Ground,
            (State::Escape | State::EscapeIntermediate | State::Control, _) => {
                self.state = State::Ground;
                return false;
            }
        };
        true
    }

    fn ground(&mut self, character: char, out: &mut String) {
        self.joint = match (character, self.joint) {
            (JOINER, Joint::Possible) => Joint::Held,
            _ => Joint::None,
        };
        match character {
            '\u{1b}' => self.state = State::Escape,
            '\u{9b}' => self.state = State::Control,
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.state = State::String,
            _ => match fate(character) {
                Fate::Shown => out.push(character),
                Fate::Newline => {
                    self.is_after_return = character == '\r';
                    out.push('\n');
                }
                Fate::Removed => {}
                Fate::Replaced => out.push(char::REPLACEMENT_CHARACTER),
            },
        }
    }
}

const JOINER: char = '\u{200d}';
const EMOJI_STYLE: char = '\u{fe0f}';

/// Characters that emoji sequences are made of.
fn is_picture(character: char) -> bool {
    matches!(
        character,
        '\u{2190}'..='\u{21ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'
    )
}

/// How much of the text can be shown as it is.
fn plain_length(text: &str) -> usize {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    let bytes = text.as_bytes();
    let Some(ascii) = bytes.iter().position(|byte| !is_plain(byte)) else {
        return bytes.len();
    };
    let rest = &text[ascii..];
    let other = rest
        .char_indices()
        .find(|(_, character)| fate(*character) != Fate::Shown);
    ascii + other.map_or(rest.len(), |(place, _)| place)
}
