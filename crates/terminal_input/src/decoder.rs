//! `KeyDecoder`: turns the bytes of a terminal into keys. The reader thread feeds it; it does no I/O.

use super::key::{Key, Mouse, MouseAction};
use crate::background_query::Background;

/// Longer pastes are dropped. A message can have 1 MiB, so that they could not be sent.
pub const MAX_PASTE_BYTES: usize = 4 << 20;
/// What to say to the user about [`Key::OversizedPaste`].
pub const OVERSIZED_PASTE: &str = "the paste was dropped: it is larger than 4 MiB";

/// Longer sequences are not from a keyboard.
const MAX_SEQUENCE_BYTES: usize = 64;
const PASTE_END: &[u8] = b"\x1b[201~";

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;

/// Decodes bytes that arrive in pieces of any size. Sequences it does not know are dropped.
#[derive(Debug, Default)]
pub struct KeyDecoder {
    state: State,
    keys: Vec<Key>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    /// The first bytes of a character, and how many are missing.
    Utf8(Vec<u8>, usize),
    /// After ESC.
    Escape,
    /// After `ESC O`.
    SingleShift,
    /// After `ESC [`, with what followed.
    Control(Vec<u8>),
    /// In a sequence that means nothing, with this many bytes to come.
    Ignored(u8),
    /// In a string, which is the terminal's answer to a question of another program. `true` after ESC.
    String(bool),
    Paste(Vec<u8>),
    /// In a paste that is too long, with its last bytes.
    OversizedPaste(Vec<u8>),
}

/// How long the decoder waits for more bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// Nothing is incomplete.
    Nothing,
    /// A sequence, or the Escape key.
    Sequence,
    /// A paste.
    Paste,
}

impl KeyDecoder {
    /// The keys that these bytes complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            rest = match &mut self.state {
                State::Paste(_) | State::OversizedPaste(_) => self.paste(rest),
                _ => {
                    if self.step(byte) {
                        after
                    } else {
                        rest
                    }
                }
            };
        }
        std::mem::take(&mut self.keys)
    }

    /// No more bytes came in time: completes what is incomplete. A lone ESC byte is the Escape key.
    pub fn flush(&mut self) -> Vec<Key> {
        match std::mem::take(&mut self.state) {
            State::Ground | State::String(_) | State::Control(_) | State::Ignored(_) | State::SingleShift => {
            }
            State::Utf8(..) => self.keys.push(Key::Character(char::REPLACEMENT_CHARACTER)),
            State::Escape => self.keys.push(Key::Escape),
            State::Paste(bytes) => self.keys.push(Key::Paste(pasted_text(&bytes))),
            State::OversizedPaste(_) => self.keys.push(Key::OversizedPaste),
        }
        std::mem::take(&mut self.keys)
    }

    pub fn pending(&self) -> Pending {
        match self.state {
            State::Ground => Pending::Nothing,
            State::Paste(_) | State::OversizedPaste(_) => Pending::Paste,
            State::Utf8(..)
            | State::Escape
            | State::SingleShift
            | State::Control(_)
            | State::Ignored(_)
            | State::String(_) => Pending::Sequence,
        }
    }

    /// Takes one byte outside of a paste. `false` if the byte is still to be taken, in another state.
    fn step(&mut self, byte: u8) -> bool {
        match std::mem::take(&mut self.state) {
            State::Ground => self.ground(byte),
            State::Utf8(mut bytes, missing) => {
                if byte & 0xc0 != 0x80 {
                    self.keys.push(Key::Character(char::REPLACEMENT_CHARACTER));
                    return false;
                }
                bytes.push(byte);
                if missing > 1 {
                    self.state = State::Utf8(bytes, missing - 1);
                } else {
                    let text = String::from_utf8_lossy(&bytes);
                    self.keys.extend(text.chars().next().map(Key::Character));
                }
            }
            State::Escape => return self.after_escape(byte),
            State::SingleShift => self.keys.extend(final_key(byte, 1)),
            State::Ignored(_) if byte == ESCAPE => return false,
            State::Ignored(missing) if missing > 1 => self.state = State::Ignored(missing - 1),
            State::Ignored(_) => {}
            State::Control(mut bytes) => match byte {
                // `ESC [ [ A`: F1 to F5 on the console of Linux.
                b'[' if bytes.is_empty() => self.state = State::Ignored(1),
                // `ESC [ M` and three bytes: the mouse, in the oldest form of its reports, which is never enabled.
                b'M' if bytes.is_empty() => self.state = State::Ignored(3),
                0x40..=0x7e => self.control(&bytes, byte),
                0x20..=0x3f if bytes.len() < MAX_SEQUENCE_BYTES => {
                    bytes.push(byte);
                    self.state = State::Control(bytes);
                }
                ESCAPE => return false,
                // Not a sequence: it ends here.
                _ => {}
            },
            State::String(is_after_escape) => match (is_after_escape, byte) {
                (_, BELL) | (true, b'\\') => {}
                (_, ESCAPE) => self.state = State::String(true),
                _ => self.state = State::String(false),
            },
            // `push` takes care of these.
            State::Paste(_) | State::OversizedPaste(_) => {}
        }
        true
    }

    fn ground(&mut self, byte: u8) {
        let key = match byte {
            ESCAPE => {
                self.state = State::Escape;
                return;
            }
            0xc2..=0xdf => return self.begin_character(byte, 1),
            0xe0..=0xef => return self.begin_character(byte, 2),
            0xf0..=0xf4 => return self.begin_character(byte, 3),
            0x80.. => Key::Character(char::REPLACEMENT_CHARACTER),
            b' '..=b'~' => Key::Character(char::from(byte)),
            b'\t' => Key::Character('\t'),
            b'\r' => Key::Enter,
            // Ctrl-J.
            b'\n' => Key::LineBreak,
            0x08 | 0x7f => Key::Backspace,
            // Ctrl-A and so on, as in a shell.
            0x01 => Key::Home,
            0x02 => Key::Left,
            0x04 => Key::EndOfInput,
            0x05 => Key::End,
            0x06 => Key::Right,
            0x0b => Key::DeleteToEnd,
            0x0e => Key::Down,
            0x10 => Key::Up,
            0x15 => Key::DeleteToStart,
            0x17 => Key::DeleteWord,
            0x03 | 0x07 | 0x0c | 0x0f | 0x11..=0x14 | 0x16 | 0x18..=0x1a => {
                Key::Control(char::from(byte | 0x60))
            }
            0x00 | 0x1c..=0x1f => return,
        };
        self.keys.push(key);
    }

    fn begin_character(&mut self, byte: u8, missing: usize) {
        self.state = State::Utf8(vec![byte], missing);
    }

    /// The byte after ESC: a sequence, or a key that was pressed with Alt.
    fn after_escape(&mut self, byte: u8) -> bool {
        let key = match byte {
            b'[' => {
                self.state = State::Control(Vec::new());
                return true;
            }
            b'O' => {
                self.state = State::SingleShift;
                return true;
            }
            b']' | b'P' | b'_' | b'^' | b'X' => {
                self.state = State::String(false);
                return true;
            }
            // Two presses of Escape, or Escape and a sequence.
            ESCAPE => {
                self.keys.push(Key::Escape);
                return false;
            }
            b'\r' | b'\n' => Key::LineBreak,
            0x08 | 0x7f => Key::DeleteWord,
            b'b' | b'B' => Key::WordLeft,
            b'f' | b'F' => Key::WordRight,
            b' '..=b'~' => Key::Alt(char::from(byte)),
            _ => return true,
        };
        self.keys.push(key);
        true
    }

    /// `ESC [ parameters final`.
    fn control(&mut self, parameters: &[u8], last: u8) {
        // `ESC [ ? 997 ; 1 n`: the colors of the terminal are dark now (2: light).
        if let (Some(scheme), b'n') = (parameters.strip_prefix(b"?997;"), last) {
            self.keys.extend(match scheme {
                b"1" => Some(Key::Background(Background::Dark)),
                b"2" => Some(Key::Background(Background::Light)),
                _ => None,
            });
            return;
        }
        if let Some(report) = parameters.strip_prefix(b"<") {
            self.keys.extend(mouse_key(report, last));
            return;
        }
        let text = std::str::from_utf8(parameters).unwrap_or_default();
        let mut numbers = text.split(';').map(|part| {
            // `13:10` gives a variant of the key after the colon.
            let part = part.split(':').next().unwrap_or_default();
            part.parse::<u32>().unwrap_or(1)
        });
        let first = numbers.next().unwrap_or(1);
        let modifier = numbers.next().unwrap_or(1);
        let key = match (last, first) {
            (b'~', 200) => {
                self.state = State::Paste(Vec::new());
                None
            }
            (b'~', 1 | 7) => Some(Key::Home),
            (b'~', 4 | 8) => Some(Key::End),
            (b'~', 3) => Some(Key::Delete),
            (b'~', 5) => Some(Key::PageUp),
            (b'~', 6) => Some(Key::PageDown),
            (b'I', _) if parameters.is_empty() => Some(Key::Focused),
            (b'O', _) if parameters.is_empty() => Some(Key::Unfocused),
            // `27;modifier;code~`, as xterm writes keys that have no other form.
            (b'~', 27) => modified_key(numbers.next().unwrap_or(0), modifier),
            // `code;modifier u`, as other terminals write them.
            (b'u', code) => modified_key(code, modifier),
            _ => final_key(last, modifier),
        };
        self.keys.extend(key);
    }

    /// Takes what belongs to the paste, and gives the rest.
    fn paste<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let (held, is_oversized) = match std::mem::take(&mut self.state) {
            State::Paste(held) => (held, false),
            State::OversizedPaste(held) => (held, true),
            _ => return bytes,
        };
        let mut held = held;
        // The mark may have begun before this piece.
        let from = held.len().saturating_sub(PASTE_END.len() - 1);
        let before = held.len();
        held.extend_from_slice(bytes);
        let end = memchr::memmem::find(&held[from..], PASTE_END).map(|place| from + place);
        let Some(end) = end else {
            let is_oversized = is_oversized || held.len() > MAX_PASTE_BYTES + PASTE_END.len();
            self.state = if is_oversized {
                let tail = held.len().saturating_sub(PASTE_END.len() - 1);
                State::OversizedPaste(held.split_off(tail))
            } else {
                State::Paste(held)
            };
            return &[];
        };
        self.keys.push(if is_oversized || end > MAX_PASTE_BYTES {
            Key::OversizedPaste
        } else {
            Key::Paste(pasted_text(&held[..end]))
        });
        bytes.get(end + PASTE_END.len() - before..).unwrap_or_default()
    }
}

/// A key that is known by the last byte of its sequence.
fn final_key(last: u8, modifier: u32) -> Option<Key> {
    let is_modified = modifier > 1;
    Some(match (last, is_modified) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', false) => Key::Right,
        (b'C', true) => Key::WordRight,
        (b'D', false) => Key::Left,
        (b'D', true) => Key::WordLeft,
        (b'H', _) => Key::Home,
        (b'F', _) => Key::End,
        (b'M', false) => Key::Enter,
        (b'Z', _) => Key::BackTab,
        _ => return None,
    })
}

/// A key that is known by its code. The modifier is 1 for none, plus 1 for Shift, 2 for Alt and 4 for Ctrl.
fn modified_key(code: u32, modifier: u32) -> Option<Key> {
    match (code, modifier) {
        (13, 1) => Some(Key::Enter),
        (13, _) => Some(Key::LineBreak),
        (27, _) => Some(Key::Escape),
        (9, 1) => Some(Key::Character('\t')),
        (9, 2) => Some(Key::BackTab),
        (8 | 127, 1 | 2) => Some(Key::Backspace),
        (8 | 127, _) => Some(Key::DeleteWord),
        // Ctrl with a letter.
        (97..=122, 5) => KeyDecoder::default()
            .push(&[u8::try_from(code).ok()? & 0x1f])
            .into_iter()
            .next(),
        (_, 1 | 2) => char::from_u32(code)
            .filter(|character| !character.is_control())
            .map(Key::Character),
        // Alt with a character.
        (32..=126, 3 | 4) => KeyDecoder::default()
            .push(&[ESCAPE, u8::try_from(code).ok()?])
            .into_iter()
            .next(),
        _ => None,
    }
}

/// `button;column;row`, and `M` for a press or `m` for a release: the extended reports of xterm (mode 1006). Buttons
/// without a meaning here give nothing.
fn mouse_key(report: &[u8], last: u8) -> Option<Key> {
    const MODIFIERS: u16 = 0b1_1100;
    let mut numbers = str::from_utf8(report).ok()?.split(';').map(str::parse::<u16>);
    let mut next = || numbers.next()?.ok();
    let (button, column, row) = (next()? & !MODIFIERS, next()?, next()?);
    let action = match (button, last) {
        (0, b'M') => MouseAction::Press,
        (0, b'm') => MouseAction::Release,
        (32, b'M') => MouseAction::Drag,
        (64, b'M') => MouseAction::WheelUp,
        (65, b'M') => MouseAction::WheelDown,
        _ => return None,
    };
    // Terminals count from 1.
    let (column, row) = (column.checked_sub(1)?, row.checked_sub(1)?);
    Some(Key::Mouse(Mouse { action, column, row }))
}

/// Terminals send line ends of a paste as CR. Other control characters would be invisible in a message.
fn pasted_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes)
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    if text.contains(is_invisible) {
        text.replace(is_invisible, "")
    } else {
        text
    }
}

fn is_invisible(character: char) -> bool {
    character.is_control() && character != '\n' && character != '\t'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};

    use super::{Background, Key, KeyDecoder, MAX_PASTE_BYTES, Mouse, MouseAction, Pending};

    fn decode(bytes: &[u8]) -> Vec<Key> {
        let mut decoder = KeyDecoder::default();
        let mut keys = decoder.push(bytes);
        keys.extend(decoder.flush());
        keys
    }

    /// Every key that this text was meant to be.
    fn typed(text: &str) -> Vec<Key> {
        text.chars().map(Key::Character).collect()
    }

    const EVERYTHING: &[u8] =
        "aé漢🦀\r\x1b\r\x1b[A\x1bOB\x1b[1;5C\x1b[D\x1b[3~\x1b[1~\x1b[F\x1b[13;5u\x1b[27;2;13~\
        \x1b[200~one\rtwo\x1b[31m\x1b[201~\x1b]11;rgb:0/0/0\x1b\\\x1b[?1;2c\x17\x15\x04\x7f\x1bb\x1b\x1b[Hz"
            .as_bytes();

    fn everything() -> Vec<Key> {
        let mut keys = typed("aé漢🦀");
        keys.extend([
            Key::Enter,
            Key::LineBreak,
            Key::Up,
            Key::Down,
            Key::WordRight,
            Key::Left,
            Key::Delete,
            Key::Home,
            Key::End,
            Key::LineBreak,
            Key::LineBreak,
            Key::Paste("one\ntwo[31m".to_owned()),
            Key::DeleteWord,
            Key::DeleteToStart,
            Key::EndOfInput,
            Key::Backspace,
            Key::WordLeft,
            Key::Escape,
            Key::Home,
            Key::Character('z'),
        ]);
        keys
    }

    #[test]
    fn keys_of_terminals_are_known() {
        assert_eq!(decode(EVERYTHING), everything());
    }

    #[test]
    fn keys_of_a_full_screen_are_known() {
        for (bytes, key) in [
            (&b"\x1b[5~"[..], Key::PageUp),
            (b"\x1b[6~", Key::PageDown),
            (b"\x1b[Z", Key::BackTab),
            (b"\x1b[9;2u", Key::BackTab),
            (b"\x03", Key::Control('c')),
            (b"\x1a", Key::Control('z')),
            (b"\x0c", Key::Control('l')),
            (b"\x1b[108;5u", Key::Control('l')),
            (b"\x1bm", Key::Alt('m')),
            (b"\x1b[109;3u", Key::Alt('m')),
            (b"\x1b[I", Key::Focused),
            (b"\x1b[O", Key::Unfocused),
            (b"\x1b[?997;1n", Key::Background(Background::Dark)),
            (b"\x1b[?997;2n", Key::Background(Background::Light)),
        ] {
            assert_eq!(decode(bytes), [key], "{bytes:?}");
        }
    }

    #[test]
    fn the_mouse_is_reported_in_cells_from_0_and_other_buttons_are_not() {
        let mouse = |action, column, row| [Key::Mouse(Mouse { action, column, row })];
        assert_eq!(decode(b"\x1b[<0;1;1M"), mouse(MouseAction::Press, 0, 0));
        assert_eq!(decode(b"\x1b[<0;300;40m"), mouse(MouseAction::Release, 299, 39));
        assert_eq!(decode(b"\x1b[<32;3;4M"), mouse(MouseAction::Drag, 2, 3));
        assert_eq!(decode(b"\x1b[<64;3;4M"), mouse(MouseAction::WheelUp, 2, 3));
        // With Ctrl.
        assert_eq!(decode(b"\x1b[<81;3;4M"), mouse(MouseAction::WheelDown, 2, 3));
        for other in [
            &b"\x1b[<2;1;1M"[..],
            b"\x1b[<35;1;1M",
            b"\x1b[<0;0;1M",
            b"\x1b[<0;1M",
            b"\x1b[<;;M",
            b"\x1b[<0;99999;1M",
        ] {
            assert_eq!(decode(other), [], "{other:?}");
        }
    }

    #[test]
    fn old_reports_of_the_mouse_and_function_keys_of_consoles_type_nothing() {
        assert_eq!(decode(b"\x1b[M !!y"), typed("y"));
        assert_eq!(decode(b"\x1b[M\x23\xff\x41y"), typed("y"));
        assert_eq!(decode(b"\x1b[[Ay"), typed("y"));
        assert_eq!(decode(b"\x1b[[E\x1b[M a\x1b[A"), [Key::Up]);
        // Enter of the keypad.
        assert_eq!(decode(b"\x1bOM"), [Key::Enter]);
    }

    #[test]
    fn a_sequence_can_be_cut_anywhere() {
        for cut in 0..=EVERYTHING.len() {
            let mut decoder = KeyDecoder::default();
            let mut keys = decoder.push(&EVERYTHING[..cut]);
            keys.extend(decoder.push(&EVERYTHING[cut..]));
            assert_eq!(keys, everything(), "cut at {cut}");
        }
        let mut decoder = KeyDecoder::default();
        let keys: Vec<Key> = EVERYTHING.chunks(1).flat_map(|byte| decoder.push(byte)).collect();
        assert_eq!(keys, everything());
        assert_eq!(decoder.pending(), Pending::Nothing);
    }

    #[test]
    fn a_lone_escape_byte_is_the_escape_key_once_nothing_follows() {
        let mut decoder = KeyDecoder::default();
        assert_eq!(decoder.push(b"\x1b"), []);
        assert_eq!(decoder.pending(), Pending::Sequence);
        assert_eq!(decoder.flush(), [Key::Escape]);
        assert_eq!(decoder.push(b"[A"), typed("[A"));
        assert_eq!(decode(b"\x1b\x1b"), [Key::Escape, Key::Escape]);
    }

    #[test]
    fn invalid_utf8_becomes_a_replacement_character_and_costs_nothing_else() {
        assert_eq!(decode(b"a\xffb"), typed("a\u{fffd}b"));
        assert_eq!(decode(b"\xe6\xbcx"), typed("\u{fffd}x"));
        assert_eq!(decode(b"\xe6\xbc\x1b[A"), [Key::Character('\u{fffd}'), Key::Up]);
        assert_eq!(decode(b"\xc3"), typed("\u{fffd}"));
        // A surrogate half.
        assert_eq!(decode(b"\xed\xa0\x80x"), typed("\u{fffd}x"));
        assert_eq!(
            decode(b"\x1b[200~\xff\x1b[201~"),
            [Key::Paste("\u{fffd}".to_owned())]
        );
    }

    #[test]
    fn a_paste_of_a_megabyte_is_one_key_and_one_without_end_is_dropped() {
        let text = "x".repeat(1_000_000);
        let mut decoder = KeyDecoder::default();
        let mut keys = decoder.push(b"\x1b[200~");
        for piece in text.as_bytes().chunks(4_096) {
            keys.extend(decoder.push(piece));
        }
        keys.extend(decoder.push(b"\x1b[20"));
        keys.extend(decoder.push(b"1~y"));
        assert_eq!(keys, [Key::Paste(text), Key::Character('y')]);

        let mut keys = decoder.push(b"\x1b[200~");
        for _ in 0..=MAX_PASTE_BYTES / 4_096 + 1 {
            keys.extend(decoder.push(&[b'x'; 4_096]));
        }
        keys.extend(decoder.push(b"\x1b[201"));
        assert_eq!(keys, []);
        assert_eq!(decoder.push(b"~y"), [Key::OversizedPaste, Key::Character('y')]);
    }

    #[test]
    fn a_paste_whose_end_was_lost_ends_when_nothing_follows() {
        let mut decoder = KeyDecoder::default();
        assert_eq!(decoder.push(b"\x1b[200~half"), []);
        assert_eq!(decoder.pending(), Pending::Paste);
        assert_eq!(decoder.flush(), [Key::Paste("half".to_owned())]);
        assert_eq!(decoder.push(b"y"), typed("y"));
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same_keys(bytes in any::<Vec<u8>>(), size in 1_usize..8) {
            let mut decoder = KeyDecoder::default();
            let mut keys: Vec<Key> = bytes.chunks(size).flat_map(|piece| decoder.push(piece)).collect();
            keys.extend(decoder.flush());
            proptest::prop_assert_eq!(keys, decode(&bytes));
        }
    }
}
