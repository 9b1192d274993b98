//! `LineFramer`: cuts a byte stream into lines at `\n`. Does no I/O and decodes nothing.
//!
//! Chunks go in as they were read and may end anywhere, even inside a multi-byte character. A line that lies within
//! one chunk is a slice of it and costs no copy; only a line that spans chunks is assembled.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// The longest line that is delivered by default.
pub const DEFAULT_MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line of a stream, without its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The line's bytes: no `\n`, no `\r` before it, no byte order mark on the first line.
    pub bytes: Bytes,
    /// Counts from 1; blank and over-long lines count too.
    pub number: u64,
    /// Where [`Line::bytes`] start in the stream. On a first line with a byte order mark this is 3.
    pub offset: u64,
    /// How the line ended.
    pub ending: LineEnding,
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnding {
    /// With a newline.
    Newline,
    /// With the end of the stream: the writer may have died in the middle of the line.
    EndOfStream,
}

/// A line, or the position of one that is too long to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Framed {
    /// A line within the limit.
    Line(Line),
    /// A line above the limit. Its bytes are dropped; the next line is not affected.
    Overlong {
        /// Counts from 1, in the same sequence as [`Line::number`].
        number: u64,
        /// Where the line starts in the stream.
        offset: u64,
        /// How many bytes it had, without the newline.
        length_bytes: u64,
    },
}

/// Cuts a byte stream into lines at `\n`.
#[derive(Debug)]
pub struct LineFramer {
    max_line_bytes: usize,
    chunks: VecDeque<Bytes>,
    /// The start of a line whose end has not been seen.
    carry: BytesMut,
    /// Bytes of an over-long line that were dropped so far; `None` while the current line is within the limit.
    skipped: Option<u64>,
    next_number: u64,
    next_offset: u64,
}

impl Default for LineFramer {
    fn default() -> Self {
        Self::new(DEFAULT_MAX_LINE_BYTES)
    }
}

impl LineFramer {
    /// A framer that delivers lines of at most `max_line_bytes` bytes.
    #[must_use]
    pub fn new(max_line_bytes: usize) -> Self {
        Self {
            max_line_bytes,
            chunks: VecDeque::new(),
            carry: BytesMut::new(),
            skipped: None,
            next_number: 1,
            next_offset: 0,
        }
    }

    /// Adds the next bytes of the stream.
    pub fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.chunks.push_back(chunk);
        }
    }

    /// The next complete line among the bytes pushed so far; `None` asks for more bytes.
    pub fn next_line(&mut self) -> Option<Framed> {
        while let Some(chunk) = self.chunks.front_mut() {
            match memchr::memchr(b'\n', chunk) {
                Some(end) => {
                    let head = chunk.split_to(end + 1).slice(..end);
                    if chunk.is_empty() {
                        self.chunks.pop_front();
                    }
                    return Some(self.complete(head, LineEnding::Newline));
                }
                None => {
                    if let Some(rest) = self.chunks.pop_front() {
                        self.hold(&rest);
                    }
                }
            }
        }
        None
    }

    /// Ends the stream: the unterminated last line, if there is one. Call it after [`Self::next_line`] returned `None`.
    pub fn finish(&mut self) -> Option<Framed> {
        if self.carry.is_empty() && self.skipped.is_none() {
            return None;
        }
        Some(self.complete(Bytes::new(), LineEnding::EndOfStream))
    }

    /// How many bytes are held back until a line end arrives.
    #[must_use]
    pub fn pending_bytes(&self) -> usize {
        self.carry.len() + self.chunks.iter().map(Bytes::len).sum::<usize>()
    }

    /// Keeps the start of a line until its end arrives, or only its length once it is over the limit.
    fn hold(&mut self, part: &[u8]) {
        match &mut self.skipped {
            Some(skipped) => *skipped += part.len() as u64,
            None if self.carry.len() + part.len() > self.max_line_bytes => {
                self.skipped = Some((self.carry.len() + part.len()) as u64);
                self.carry = BytesMut::new();
            }
            None => self.carry.extend_from_slice(part),
        }
    }

    fn complete(&mut self, head: Bytes, ending: LineEnding) -> Framed {
        let number = self.next_number;
        let mut offset = self.next_offset;
        let held = self.skipped.take().unwrap_or(self.carry.len() as u64);
        let length_bytes = held + head.len() as u64;
        self.next_number += 1;
        self.next_offset += length_bytes + u64::from(ending == LineEnding::Newline);
        if length_bytes > self.max_line_bytes as u64 {
            self.carry = BytesMut::new();
            return Framed::Overlong {
                number,
                offset,
                length_bytes,
            };
        }
        let mut bytes = if self.carry.is_empty() {
            head
        } else {
            self.carry.extend_from_slice(&head);
            // Taken whole, so that the spare room of a huge line is not kept for the next small one.
            std::mem::take(&mut self.carry).freeze()
        };
        if bytes.last() == Some(&b'\r') {
            bytes.truncate(bytes.len() - 1);
        }
        if number == 1 && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes = bytes.slice(BYTE_ORDER_MARK.len()..);
            offset += BYTE_ORDER_MARK.len() as u64;
        }
        Framed::Line(Line {
            bytes,
            number,
            offset,
            ending,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Framed, Line, LineEnding, LineFramer};
    use bytes::Bytes;

    fn frame(chunks: &[&[u8]], limit: usize) -> Vec<Framed> {
        let mut framer = LineFramer::new(limit);
        let mut framed = Vec::new();
        for chunk in chunks {
            framer.push(Bytes::copy_from_slice(chunk));
            while let Some(next) = framer.next_line() {
                framed.push(next);
            }
        }
        framed.extend(framer.finish());
        assert_eq!(framer.pending_bytes(), 0, "nothing may stay behind");
        framed
    }

    fn line(bytes: &str, number: u64, offset: u64, ending: LineEnding) -> Framed {
        Framed::Line(Line {
            bytes: Bytes::copy_from_slice(bytes.as_bytes()),
            number,
            offset,
            ending,
        })
    }

    #[test]
    fn every_cut_of_a_multibyte_text_gives_the_same_lines() {
        let text = "\u{feff}{\"a\":\"é漢🎉\u{2028}\"}\r\n\n{\"b\":\"\\u00e9\"}\ntail 🎉".as_bytes();
        let whole = frame(&[text], 1 << 20);
        for cut in 0..=text.len() {
            assert_eq!(
                frame(&[&text[..cut], &text[cut..]], 1 << 20),
                whole,
                "cut at byte {cut}"
            );
        }
        let bytewise: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(frame(&bytewise, 1 << 20), whole);
        assert_eq!(whole.len(), 4);
    }

    #[test]
    fn carriage_return_and_byte_order_mark_are_not_part_of_a_line() {
        assert_eq!(
            frame(&[b"\xef\xbb\xbfone\r\ntwo\r\r\n\r\n"], 100),
            vec![
                line("one", 1, 3, LineEnding::Newline),
                line("two\r", 2, 8, LineEnding::Newline),
                line("", 3, 14, LineEnding::Newline),
            ]
        );
    }

    #[test]
    fn partial_line_at_eof_is_delivered() {
        assert_eq!(
            frame(&[b"one\ntw", b"o"], 100),
            vec![
                line("one", 1, 0, LineEnding::Newline),
                line("two", 2, 4, LineEnding::EndOfStream)
            ]
        );
    }

    #[test]
    fn unicode_line_separators_do_not_split() {
        assert_eq!(frame(&["a\u{2028}b\u{2029}c\u{85}d\n".as_bytes()], 100).len(), 1);
    }

    #[test]
    fn overlong_line_is_counted_and_the_next_one_survives() {
        let expected = vec![
            line("12345", 1, 0, LineEnding::Newline),
            Framed::Overlong {
                number: 2,
                offset: 6,
                length_bytes: 11,
            },
            line("next", 3, 18, LineEnding::Newline),
        ];
        let text = b"12345\n12345678901\nnext\n";
        assert_eq!(frame(&[text], 5), expected);
        for cut in 0..=text.len() {
            assert_eq!(
                frame(&[&text[..cut], &text[cut..]], 5),
                expected,
                "cut at byte {cut}"
            );
        }
    }

    #[test]
    fn overlong_line_at_eof_is_counted() {
        assert_eq!(
            frame(&[b"123", b"456", b"789"], 5),
            vec![Framed::Overlong {
                number: 1,
                offset: 0,
                length_bytes: 9
            }]
        );
    }
}
