//! How much of a text that is still being written can be shown.

use std::ops::Range;

use aho_corasick::Input;

use super::redactor::{Candidate, Content, Redactor, SEARCHED_BYTES};
use super::shape::{MAX_KEY_BYTES, begins_word};

/// What may be a secret waits for its end until it is so long. A private key is not longer.
const MOST_OPEN_BYTES: usize = 2 * MAX_KEY_BYTES;
/// A word that begins like no secret does not wait any longer than that.
const MOST_WORD_BYTES: usize = 1024;

impl Redactor {
    /// How many bytes of a text that is still being written can be redacted and shown: no secret reaches beyond them,
    /// whatever comes next. Ends between two words, or between two lines if there are patterns of the user's.
    #[must_use]
    pub fn settled_bytes(&self, text: &str) -> usize {
        let (whole, open) = self.places(text.as_bytes());
        let is_break = |it: char| match self.patterns.is_empty() {
            true => it.is_whitespace(),
            false => it == '\n',
        };
        // A later look begins here and has to see a word from its beginning.
        let word_at = |end: usize| {
            let last_break = text[..end].char_indices().rfind(|(_, it)| is_break(*it));
            last_break.map_or(0, |(at, it)| at + it.len_utf8())
        };
        let mut settled = word_at(open.unwrap_or(text.len()));
        for range in whole.iter().rev() {
            if range.contains(&settled) {
                settled = word_at(range.start);
            }
        }
        let most = match open {
            Some(_) => MOST_OPEN_BYTES,
            None => MOST_WORD_BYTES,
        };
        if text.len() - settled > most {
            return text.len();
        }
        settled
    }

    /// Whether the text ends with what may be the beginning of a secret.
    #[must_use]
    pub fn is_unfinished(&self, text: &str) -> bool {
        self.places(text.as_bytes()).1.is_some()
    }

    /// Where whole secrets are, what tells them included, and where the first begins that may not be whole.
    fn places(&self, text: &[u8]) -> (Vec<Range<usize>>, Option<usize>) {
        let mut whole = Vec::new();
        let mut at = 0;
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
        let closed = whole.last().map_or(0, |range| range.end);
        let first = closed.max(text.len().saturating_sub(SEARCHED_BYTES - 1));
        let is_beginning = |start: &usize| {
            let mut all = self.candidates.iter().flatten();
            all.any(|candidate| candidate.is_open(text, *start))
        };
        (whole, (first..text.len()).find(is_beginning))
    }
}

impl Candidate {
    /// Whether this may begin at `start` and go on after the end of the text.
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
        let mut shown = String::new();
        let mut held = String::new();
        for piece in pieces {
            held.push_str(piece);
            let rest = held.split_off(redactor.settled_bytes(&held));
            shown.push_str(&redactor.redact(&held));
            held = rest;
        }
        shown + &redactor.redact(&held)
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
    fn ordinary_words_do_not_wait() {
        let redactor = redactor();
        let token = format!("Bearer {TAIL}");
        for (text, settled) in [
            ("", ""),
            ("one two", "one "),
            ("one two ", "one two "),
            ("one\u{2003}two", "one\u{2003}"),
            ("a zq9 sec", "a "),
            ("the bearer of", "the "),
            ("the bearer of it", "the bearer of "),
            ("is correct-horse", "is "),
            (&format!("the {token}, or"), &format!("the {token}, ")),
            (&format!("the {token},"), "the "),
            ("-----BEGIN CERTIFICATE----- MII", "-----BEGIN CERTIFICATE----- "),
        ] {
            assert_eq!(&text[..redactor.settled_bytes(text)], settled, "{text}");
        }
        let long = "x".repeat(2_000);
        assert_eq!(redactor.settled_bytes(&long), long.len());
        let endless = format!("sk-ant-{}", "xyz0".repeat(20_000));
        assert_eq!(redactor.settled_bytes(&endless), endless.len());
        assert!(redactor.is_unfinished("my sk-an") && !redactor.is_unfinished("my ring"));
    }

    #[test]
    fn with_patterns_whole_lines_wait() {
        let redactor = Redactor::new([], ["code: .* [0-9]+"]).unwrap();
        assert_eq!(redactor.settled_bytes("one two\nthe code: of"), "one two\n".len());
        assert_eq!(
            shown(&redactor, &["the code: of", " the d", "oor 12", "34\nok"]),
            "the [redacted:pattern]\nok"
        );
    }
}
