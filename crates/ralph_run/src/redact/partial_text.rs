//! `PartialText`: how much of a text that is still being written can be shown. Used by `DeltaRedactor`.

use std::ops::Range;

use aho_corasick::Input;

use super::redactor::{Candidate, Content, Redactor, SEARCHED_BYTES, replaced_within};
use super::shape::{MAX_KEY_BYTES, begins_word};

/// What may be a secret waits for its end until it is so long. A private key is not longer.
const MAX_OPEN_BYTES: usize = 2 * MAX_KEY_BYTES;
/// A pattern sees whole lines. The rest of a line that is longer than this is not shown live; the block has it.
const MAX_LINE_BYTES: usize = 8 * 1024;
const LONG_LINE: &str = "[redacted:long-line]";
/// How many bytes before a token decide whether it begins there: those of an escape.
const SEEN_BYTES: usize = 8;

/// A text that comes in pieces. What cannot be part of a secret any more is given out at once, the rest waits.
#[derive(Debug, Default)]
pub(super) struct PartialText {
    /// The last bytes that were given out, and what waits.
    text: String,
    /// How many of it were given out.
    given: usize,
    /// The rest of this line is not shown.
    is_withheld: bool,
}

impl PartialText {
    /// Adds a piece. Gives what can be shown: no secret reaches beyond it, whatever comes next.
    pub(super) fn push(&mut self, piece: &str, redactor: &Redactor) -> String {
        self.text.push_str(piece);
        if redactor.patterns.is_empty() {
            let settled = redactor.safe_prefix_len(&self.text, self.given);
            return self.give(settled, redactor);
        }
        if self.is_withheld && !self.skip_line() {
            return String::new();
        }
        let settled = redactor.safe_prefix_len(&self.text, self.given);
        let mut shown = self.give(settled, redactor);
        if self.text.len() > MAX_LINE_BYTES {
            self.clear();
            self.is_withheld = true;
            shown.push_str(LONG_LINE);
        }
        shown
    }

    /// Forgets what came of a line that is not shown. Says whether the line has ended.
    fn skip_line(&mut self) -> bool {
        let end = self.text.find('\n');
        self.text.drain(..end.unwrap_or(self.text.len()));
        self.is_withheld = end.is_none();
        end.is_some()
    }

    /// Nothing more comes, or it has waited long enough: gives the rest.
    pub(super) fn finish(&mut self, redactor: &Redactor) -> String {
        self.give(self.text.len(), redactor)
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.given = 0;
        self.is_withheld = false;
    }

    pub(super) fn rest(&self) -> &str {
        &self.text[self.given..]
    }

    fn give(&mut self, end: usize, redactor: &Redactor) -> String {
        let news = redactor.redact_part(&self.text, self.given..end);
        let seen = self.text.floor_char_boundary(end.saturating_sub(SEEN_BYTES));
        // Patterns see whole lines only.
        let seen = if redactor.patterns.is_empty() { seen } else { end };
        self.text.drain(..seen);
        self.given = end - seen;
        news
    }
}

impl Redactor {
    /// How many bytes of a text that is still being written can be shown; `given` of them are shown already.
    fn safe_prefix_len(&self, text: &str, given: usize) -> usize {
        let (whole, open) = self.scan(text.as_bytes(), given);
        if self.patterns.is_empty() {
            // A character may begin like a secret of bytes; it is not cut.
            let settled = text.floor_char_boundary(open.unwrap_or(text.len()));
            let is_endless = text.len() - settled > MAX_OPEN_BYTES;
            return if is_endless { text.len() } else { settled };
        }
        let line_at = |end: usize| text[..end].rfind('\n').map_or(0, |at| at + 1);
        let mut settled = line_at(open.unwrap_or(text.len()));
        for range in whole.iter().rev() {
            if range.contains(&settled) {
                settled = line_at(range.start);
            }
        }
        settled
    }

    /// A part of a text without secrets. What is before it was looked at already, what is behind it is looked at later.
    fn redact_part(&self, text: &str, part: Range<usize>) -> String {
        if !self.patterns.is_empty() {
            return self.redact(&text[part]).into_owned();
        }
        let hits = self.hits(text.as_bytes(), part.start, Content::Text);
        replaced_within(text, part, &hits)
    }

    /// Where whole secrets are, what tells them included, and where the first begins that may not be whole. All of them
    /// begin at `start` or later.
    fn scan(&self, text: &[u8], start: usize) -> (Vec<Range<usize>>, Option<usize>) {
        let mut whole: Vec<Range<usize>> = Vec::new();
        let mut at = start;
        while let Some(found) = self.search.find(Input::new(text).span(at..text.len())) {
            let start = found.start();
            let candidates = &self.candidates[found.pattern().as_usize()];
            if candidates.iter().any(|candidate| candidate.is_open(text, start)) {
                return (whole, Some(start));
            }
            let hit = candidates
                .iter()
                .find_map(|candidate| candidate.find(text, start, Content::Text));
            at = hit.as_ref().map_or(start + 1, |hit| hit.range.end);
            whole.extend(hit.map(|hit| start..hit.range.end));
        }
        // What is shorter than what is searched for.
        let closed = whole.last().map_or(start, |range| range.end);
        let first = closed.max(text.len().saturating_sub(SEARCHED_BYTES - 1));
        let is_beginning = |start: &usize| {
            let mut all = self.candidates.iter().flatten();
            all.any(|candidate| candidate.is_open(text, *start))
        };
        (whole, (first..text.len()).find(is_beginning))
    }
}

impl Candidate {
    /// Whether this may begin at `start` and continue after the end of the text.
    fn is_open(&self, text: &[u8], start: usize) -> bool {
        let rest = &text[start..];
        match self {
            Self::Secret { value, .. } => rest.len() < value.len() && value.starts_with(rest),
            Self::Kind { kind, prefix } => {
                let prefix = prefix.as_bytes();
                if !begins_word(text, start) {
                    return false;
                }
                if rest.len() <= prefix.len() {
                    return prefix.starts_with(rest);
                }
                let range: Range<usize> = start..start + prefix.len();
                rest.starts_with(prefix) && kind.shape.is_open(text, range)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PartialText;
    use crate::redact::{Redactor, Secret};

    const VALUE: &str = "zq9 secret value 77";
    /// Put in later, so that this source has nothing that looks like a token.
    const TAIL: &str = "abcdef0123456789abcdef0123";

    fn redactor() -> Redactor {
        let secrets = [
            Secret::new("A_KEY", VALUE),
            Secret::new("B_KEY", "zq9 secret value 77 and more"),
            Secret::new("C_KEY", "correct-horse"),
        ];
        Redactor::new(secrets.into_iter().flatten(), [""; 0]).unwrap()
    }

    /// What is shown of a text that comes in pieces.
    fn shown(redactor: &Redactor, pieces: &[&str]) -> String {
        let mut text = PartialText::default();
        let mut shown = String::new();
        for piece in pieces {
            shown.push_str(&text.push(piece, redactor));
        }
        shown + &text.finish(redactor)
    }

    fn sample() -> String {
        let key_line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let jwt = format!("eyJ{TAIL}.{TAIL}.{TAIL}");
        format!(
            "Keys: {VALUE}, {VALUE} and less; xcorrect-horsex. Then sk-ant-api03-{TAIL} or \
             task-force é, Bearer {TAIL}, `aws_secret_access_key = \
             wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEK3Y`, {jwt}; https://me:{TAIL}@example.org/ and\n\
             -----BEGIN PRIVATE KEY-----\n{key_line}\n{key_line}\n-----END PRIVATE KEY-----\n (done) {VALUE} and more"
        )
    }

    #[test]
    fn a_text_in_two_pieces_is_shown_as_if_it_came_whole() {
        let (redactor, text) = (redactor(), sample());
        let whole = redactor.redact(&text);
        assert_eq!(whole.matches("[redacted:").count(), 10, "{whole}");
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let (one, two) = text.split_at(cut);
            assert_eq!(shown(&redactor, &[one, two]), whole, "{cut}");
        }
    }

    #[test]
    fn a_text_in_many_small_pieces_is_shown_as_if_it_came_whole() {
        let (redactor, text) = (redactor(), sample());
        let characters: Vec<char> = text.chars().collect();
        for size in 1..9 {
            let pieces: Vec<String> = characters.chunks(size).map(|it| it.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            assert_eq!(shown(&redactor, &pieces), redactor.redact(&text), "{size}");
        }
    }

    #[test]
    fn only_what_may_become_a_secret_waits() {
        let redactor = redactor();
        let token = format!("Bearer {TAIL}");
        for (text, shown) in [
            ("", ""),
            ("one two", "one two"),
            ("one two ", "one two "),
            ("tas", "tas"),
            ("a task", "a task"),
            ("a zq9 sec", "a "),
            ("the bearer of", "the "),
            ("the bearer of it", "the bearer of it"),
            ("is correct-horse", "is [redacted:C_KEY]"),
            ("is correct-hors", "is "),
            ("so:", "so"),
            (&format!("the {token}, or"), "the Bearer [redacted:bearer], or"),
            (&format!("the {token}"), "the "),
            (
                "-----BEGIN CERTIFICATE----- MII",
                "-----BEGIN CERTIFICATE----- MII",
            ),
        ] {
            let mut unfinished = PartialText::default();
            assert_eq!(unfinished.push(text, &redactor), shown, "{text}");
        }
        let endless = format!("sk-ant-{}", TAIL.repeat(4_000));
        assert_eq!(
            PartialText::default().push(&endless, &redactor),
            "[redacted:anthropic]"
        );
    }

    #[test]
    fn a_word_that_was_shown_by_halves_is_still_one_word() {
        let redactor = redactor();
        for text in [
            format!("tassk-ant-{TAIL}"),
            format!("%3Dsk-ant-{TAIL}"),
            format!("\\u003dsk-ant-{TAIL}"),
        ] {
            let whole = redactor.redact(&text);
            for cut in 0..=text.len() {
                let (one, two) = text.split_at(cut);
                assert_eq!(shown(&redactor, &[one, two]), whole, "{cut}");
            }
        }
    }

    #[test]
    fn with_patterns_the_rest_of_a_long_line_is_not_shown() {
        let redactor = Redactor::new([], ["code: .* [0-9]+"]).unwrap();
        let mut text = PartialText::default();
        assert_eq!(text.push("one\n", &redactor), "one\n");
        let long = "code: ".repeat(2_000);
        assert_eq!(text.push(&long, &redactor), "[redacted:long-line]");
        assert_eq!(text.push(" 1234", &redactor), "");
        assert_eq!(text.push(" 5\ntwo\nthree", &redactor), "\ntwo\n");
        assert_eq!(text.finish(&redactor), "three");
    }

    #[test]
    fn with_patterns_whole_lines_wait() {
        let redactor = Redactor::new([], ["code: .* [0-9]+"]).unwrap();
        let mut text = PartialText::default();
        assert_eq!(text.push("one two\nthe code: of", &redactor), "one two\n");
        assert_eq!(
            shown(&redactor, &["the code: of", " the d", "oor 12", "34\nok"]),
            "the [redacted:pattern]\nok"
        );
    }
}
