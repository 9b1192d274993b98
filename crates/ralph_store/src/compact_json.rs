//! Whether text is compact JSON, about as fast as it can be read.
//!
//! In two steps, as simdjson does it: first the quotes that are not escaped are found, 64 bytes at a time and without a
//! branch for each of them; then the brackets are followed, and a string is skipped at once. Strings of code have an
//! escape every few words, and going from one to the next was most of the time that reading a journal took.

use std::iter;

const BLOCK: usize = 64;

/// The quotes of a text that begin or end a string, a bit for each byte.
#[derive(Debug, Default)]
pub(crate) struct Quotes {
    blocks: Vec<u64>,
}

impl Quotes {
    /// Looks at a text. Says whether all that is escaped in it may be, and nothing is a control character.
    pub(crate) fn find(&mut self, text: &[u8]) -> bool {
        self.blocks.clear();
        let (blocks, rest) = text.as_chunks::<BLOCK>();
        let mut last = [b' '; BLOCK];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        let mut is_escaped = false;
        for (index, block) in blocks.iter().chain(iter::once(&last)).enumerate() {
            let found = Found::of(block);
            let escaped = escaped(found.backslashes, &mut is_escaped);
            // Nearly all escapes are of these three.
            let mut others = escaped & !(found.quotes | found.backslashes | found.ns);
            while others != 0 {
                let place = index * BLOCK + others.trailing_zeros() as usize;
                if !is_escape(text.get(place..).unwrap_or_default()) {
                    return false;
                }
                others &= others - 1;
            }
            if found.has_control {
                return false;
            }
            self.blocks.push(found.quotes & !escaped);
        }
        true
    }

    /// The place behind the next quote from some place on.
    fn after(&self, place: usize) -> Option<usize> {
        let mut index = place / BLOCK;
        let mut block = self.blocks.get(index)? & u64::MAX << (place % BLOCK);
        while block == 0 {
            index += 1;
            block = *self.blocks.get(index)?;
        }
        Some(index * BLOCK + block.trailing_zeros() as usize + 1)
    }
}

/// Which bytes follow a backslash that is not itself escaped. `is_escaped` says it of the first byte, and then of the
/// first one of the next block.
fn escaped(backslashes: u64, is_escaped: &mut bool) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let carried = u64::from(*is_escaped);
    let backslashes = backslashes & !carried;
    let follows = backslashes << 1 | carried;
    // A row of backslashes that begins at an odd place is added to, so that its carry ends up behind it.
    let odd_starts = backslashes & !EVEN & !follows;
    let (sum, overflows) = odd_starts.overflowing_add(backslashes);
    *is_escaped = overflows;
    (EVEN ^ sum << 1) & follows
}

/// Whether this begins with what may follow a backslash.
fn is_escape(bytes: &[u8]) -> bool {
    match bytes {
        [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => true,
        [b'u', digits @ ..] => digits
            .first_chunk::<4>()
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        _ => false,
    }
}

/// What 64 bytes have, a bit for each byte.
#[derive(Debug)]
struct Found {
    quotes: u64,
    backslashes: u64,
    ns: u64,
    has_control: bool,
}

impl Found {
    fn of(block: &[u8; BLOCK]) -> Self {
        Self {
            quotes: places(block, b'"'),
            backslashes: places(block, b'\\'),
            ns: places(block, b'n'),
            has_control: block.iter().copied().fold(u8::MAX, u8::min) < b' ',
        }
    }
}

/// Where a byte is. The compiler compares many bytes in one step; eight answers at a time become eight bits in another.
fn places(block: &[u8; BLOCK], byte: u8) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let is_there = block.map(|other| u8::from(other == byte));
    let (words, _) = is_there.as_chunks::<8>();
    words.iter().rev().fold(0, |places, word| {
        places << 8 | u64::from_le_bytes(*word).wrapping_mul(GATHER) >> 56
    })
}

/// Deeper ones are left to the general reader.
const MOST_DEPTH: u32 = 60;

/// Reads over a value of a text whose quotes are found.
pub(crate) struct Walk<'a> {
    bytes: &'a [u8],
    quotes: &'a Quotes,
    position: usize,
    /// A bit for each open bracket: whether it is an object's.
    objects: u64,
    depth: u32,
}

impl<'a> Walk<'a> {
    /// Where the value that begins at some place of a text ends; none if there is none.
    pub(crate) fn over(bytes: &'a [u8], quotes: &'a Quotes, position: usize) -> Option<usize> {
        let mut walk = Self {
            bytes,
            quotes,
            position,
            objects: 0,
            depth: 0,
        };
        walk.value()?;
        Some(walk.position)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.position).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.position += 1;
        Some(byte)
    }

    fn expect(&mut self, expected: u8) -> Option<()> {
        (self.next()? == expected).then_some(())
    }

    fn value(&mut self) -> Option<()> {
        loop {
            let is_open = match self.next()? {
                b'{' => {
                    self.open(true)?;
                    if self.peek()? == b'}' {
                        false
                    } else {
                        self.key().map(|()| true)?
                    }
                }
                b'[' => {
                    self.open(false)?;
                    self.peek()? != b']'
                }
                b'"' => self.string().map(|()| false)?,
                b't' => self.literal(b"rue").map(|()| false)?,
                b'f' => self.literal(b"alse").map(|()| false)?,
                b'n' => self.literal(b"ull").map(|()| false)?,
                b'-' => {
                    let first = self.next()?;
                    self.number(first).map(|()| false)?
                }
                first => self.number(first).map(|()| false)?,
            };
            if !is_open && !self.after_value()? {
                return Some(());
            }
        }
    }

    /// Closes what ends here. Says whether another value follows.
    fn after_value(&mut self) -> Option<bool> {
        while self.depth > 0 {
            let is_object = self.objects & 1 == 1;
            match self.next()? {
                b',' if is_object => return self.key().map(|()| true),
                b',' => return Some(true),
                b'}' if is_object => {}
                b']' if !is_object => {}
                _ => return None,
            }
            self.objects >>= 1;
            self.depth -= 1;
        }
        Some(false)
    }

    fn open(&mut self, is_object: bool) -> Option<()> {
        self.depth += 1;
        self.objects = self.objects << 1 | u64::from(is_object);
        (self.depth <= MOST_DEPTH).then_some(())
    }

    fn key(&mut self) -> Option<()> {
        self.expect(b'"')?;
        self.string()?;
        self.expect(b':')
    }

    /// What follows an opening quote.
    fn string(&mut self) -> Option<()> {
        self.position = self.quotes.after(self.position)?;
        Some(())
    }

    fn literal(&mut self, rest: &[u8]) -> Option<()> {
        let found = self.bytes.get(self.position..self.position + rest.len())?;
        self.position += rest.len();
        (found == rest).then_some(())
    }

    fn number(&mut self, first: u8) -> Option<()> {
        match first {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.position += 1;
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.some_digits()?;
        }
        Some(())
    }

    fn some_digits(&mut self) -> Option<()> {
        let before = self.position;
        self.digits();
        (self.position > before).then_some(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    use super::{Found, Quotes, Walk};

    fn is_value(text: &str) -> bool {
        let mut quotes = Quotes::default();
        quotes.find(text.as_bytes()) && Walk::over(text.as_bytes(), &quotes, 0) == Some(text.len())
    }

    #[test]
    fn escapes_are_told_from_quotes_wherever_a_block_ends() {
        for before in 0..130 {
            for backslashes in 0..70 {
                let text = format!("\"{}{}\"", "x".repeat(before), "\\".repeat(backslashes));
                assert_eq!(is_value(&text), backslashes % 2 == 0, "{before}, {backslashes}");
                assert_eq!(is_value(&format!("{text}\"")), backslashes % 2 == 1);
            }
            for (escape, is_valid) in [
                (r"\u00e9", true),
                (r"\u00eg", false),
                (r"\u00", false),
                (r"\t", true),
                (r"\x", false),
                ("\u{1}", false),
                ("\u{7f}é", true),
            ] {
                let text = format!("\"{}{escape}\"", "x".repeat(before));
                assert_eq!(is_value(&text), is_valid, "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_taken_for_json_is_json(text in r#"[\[\]{}",:\\ue0-9.+\-tfnrasl ]{0,24}"#) {
            if is_value(&text) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
            }
        }

        #[test]
        fn a_string_is_one_for_both_readers(text in r#"[ -~]{0,50}[\\"nux/ é]{0,90}"#) {
            let text = format!("\"{text}\"");
            let is_json = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(is_value(&text), is_json, "{}", text);
        }

        #[test]
        fn compact_json_is_taken_for_json(texts in prop::collection::vec(".{0,90}", 0..6), number in any::<f64>()) {
            let value = serde_json::json!({"texts": texts, "number": number, "deep": [[{"x": texts}]]});
            prop_assert_eq!(is_value(&value.to_string()), true);
        }

        #[test]
        fn sixty_four_bytes_are_seen_as_one_by_one(bytes in prop::collection::vec(any::<u8>(), 64)) {
            let found = Found::of(bytes.first_chunk().unwrap());
            for (index, byte) in bytes.iter().enumerate() {
                let has = |places: u64| places >> index & 1 == 1;
                prop_assert_eq!(has(found.quotes), *byte == b'"');
                prop_assert_eq!(has(found.backslashes), *byte == b'\\');
                prop_assert_eq!(has(found.ns), *byte == b'n');
            }
            prop_assert_eq!(found.has_control, bytes.iter().any(|byte| *byte < b' '));
        }
    }
}
