//! `ask_background()`: asks the terminal once for the color of its background.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::ready_write::write_if_ready;

/// Terminals answer in order, and all of them answer the second question: where only that answer comes, nothing more
/// needs to be waited for.
const QUESTION: &str = "\u{1b}]11;?\u{1b}\\\u{1b}[c";
const ANSWER_TIMEOUT: Duration = Duration::from_millis(100);
/// Keys typed meanwhile are kept, up to this many bytes.
const MAX_BYTES: usize = 64 << 10;

/// The background of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    Dark,
    Light,
}

/// Asks, and waits for the answer, but not long. Gives also what else was read: keys that were typed meanwhile.
pub(crate) fn ask_background() -> (Option<Background>, Vec<u8>) {
    write_if_ready(QUESTION);
    let stdin = rustix::stdio::stdin();
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let mut answer = Answer::default();
    let mut buffer = [0; 1024];
    while !answer.is_complete() && answer.bytes.len() < MAX_BYTES {
        let rest = deadline.saturating_duration_since(Instant::now());
        let mut descriptors = [PollFd::new(&stdin, PollFlags::IN)];
        let timeout = Timespec::try_from(rest).ok();
        match poll(&mut descriptors, timeout.as_ref()) {
            Err(Errno::INTR) => continue,
            Ok(1..) if descriptors[0].revents() == PollFlags::IN => {}
            Ok(_) | Err(_) => break,
        }
        match rustix::io::read(stdin, &mut buffer) {
            Ok(length @ 1..) => answer
                .bytes
                .extend_from_slice(buffer.get(..length).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => break,
        }
    }
    answer.split()
}

/// What the terminal and its user sent.
#[derive(Debug, Default)]
struct Answer {
    bytes: Vec<u8>,
}

impl Answer {
    /// Whether the second question is answered.
    fn is_complete(&self) -> bool {
        self.attributes().is_some()
    }

    /// `ESC [ ? numbers c`.
    fn attributes(&self) -> Option<std::ops::Range<usize>> {
        memchr::memmem::find_iter(&self.bytes, b"\x1b[?").find_map(|start| {
            let rest = self.bytes.get(start + 3..)?;
            let length = rest
                .iter()
                .take_while(|byte| matches!(byte, b'0'..=b'9' | b';'))
                .count();
            (rest.get(length) == Some(&b'c')).then_some(start..start + 3 + length + 1)
        })
    }

    /// `ESC ] 11 ; rgb:… ` up to BEL or `ESC \`.
    fn color(&self) -> Option<(std::ops::Range<usize>, Option<Background>)> {
        const START: &[u8] = b"\x1b]11;";
        let start = memchr::memmem::find(&self.bytes, START)?;
        let rest = self.bytes.get(start + START.len()..)?;
        let length = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
        let end_length = if rest.get(length) == Some(&0x07) { 1 } else { 2 };
        let end = (start + START.len() + length + end_length).min(self.bytes.len());
        let background = str::from_utf8(rest.get(..length)?).ok().and_then(parse_color);
        Some((start..end, background))
    }

    /// The background, and everything that is not an answer.
    fn split(mut self) -> (Option<Background>, Vec<u8>) {
        if let Some(attributes) = self.attributes() {
            self.bytes.drain(attributes);
        }
        let mut background = None;
        if let Some((place, found)) = self.color() {
            background = found;
            self.bytes.drain(place);
        }
        (background, self.bytes)
    }
}

/// `rgb:RRRR/GGGG/BBBB`, with one to four digits each.
fn parse_color(text: &str) -> Option<Background> {
    let colors = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = colors.split('/').map(|part| {
        let highest = 16_u32
            .checked_pow(u32::try_from(part.len()).ok()?)?
            .checked_sub(1)?;
        let value = u32::from_str_radix(part, 16).ok()?;
        (highest > 0).then(|| f64::from(value) / f64::from(highest))
    });
    let mut next = || parts.next()?;
    let (red, green, blue) = (next()?, next()?, next()?);
    let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if brightness > 0.5 {
        Background::Light
    } else {
        Background::Dark
    })
}

#[cfg(test)]
mod tests {
    use super::{Answer, Background};

    fn split(text: &[u8]) -> (Option<Background>, String) {
        let (background, rest) = Answer { bytes: text.to_vec() }.split();
        (background, String::from_utf8(rest).unwrap())
    }

    #[test]
    fn the_background_is_light_or_dark_and_typed_keys_stay() {
        let light = b"ab\x1b]11;rgb:ffff/ffff/dddd\x1b\\c\x1b[?62;22cd";
        assert_eq!(split(light), (Some(Background::Light), "abcd".to_owned()));
        let dark = b"\x1b]11;rgb:1e/1e/2e\x07\x1b[?1;2c";
        assert_eq!(split(dark), (Some(Background::Dark), String::new()));
    }

    #[test]
    fn a_terminal_that_does_not_say_its_color_is_not_waited_for() {
        let answer = Answer {
            bytes: b"q\x1b[?6c".to_vec(),
        };
        assert!(answer.is_complete());
        assert_eq!(split(&answer.bytes), (None, "q".to_owned()));
        for incomplete in [&b"\x1b[?6"[..], b"\x1b[A", b"c", b""] {
            assert!(
                !Answer {
                    bytes: incomplete.to_vec()
                }
                .is_complete(),
                "{incomplete:?}"
            );
        }
        assert_eq!(split(b"\x1b]11;rgb:zz/1/1\x07x"), (None, "x".to_owned()));
    }
}
