//! `Shape`: what follows the prefix of a token, and how `Redactor` finds its end.

use std::ops::Range;

/// What a token looks like after its prefix.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Token(Run),
    /// A run of characters after `=`, `:`, quotes or spaces. What is before it stays.
    Assigned(Run),
    /// Three or more parts between dots.
    WebToken,
    PrivateKey,
    /// `user:password@` in an address. Only the password goes.
    UrlPassword,
    /// A password after `=` or `:`. What is before it stays.
    Password,
    /// `12345678:AA…`: only what is behind the colon goes.
    BotToken,
}

/// A run of characters of one alphabet, as long as it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) alphabet: fn(u8) -> bool,
    pub(super) min: usize,
    pub(super) max: usize,
    pub(super) needs: Needs,
}

/// What tells a token from a word or a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Variety,
    /// Also a digit.
    Digit,
}

/// Less than that is a placeholder, such as `xxxxxxxx`.
const MIN_DIFFERENT: u32 = 6;

/// A private key is shorter than that.
pub(super) const MAX_KEY_BYTES: usize = 16 * 1024;

/// Its lines have 64 or 70 characters, the last one less.
const MIN_KEY_LINE: usize = 40;

impl Shape {
    /// Where the secret is, if there is one behind the prefix at `prefix`.
    pub(super) fn find(&self, text: &[u8], prefix: Range<usize>) -> Option<Range<usize>> {
        match self {
            Self::Token(run) => Some(prefix.start..run.end(text, prefix.end)?),
            Self::Assigned(run) => {
                let start = skip(text, prefix.end, is_separator);
                let is_near = start - prefix.end <= 12;
                is_near.then_some(start..run.end(text, start)?)
            }
            Self::WebToken => Some(prefix.start..web_token_end(text, prefix.start)?),
            Self::PrivateKey => Some(prefix.start..private_key_end(text, prefix.end)?),
            Self::UrlPassword => url_password(text, prefix.end),
            Self::Password => assigned_password(text, prefix.end),
            Self::BotToken => bot_token(text, prefix.start),
        }
    }

    /// Whether what is behind the prefix reaches the end of the text, so that more of it may come.
    pub(super) fn is_open(&self, text: &[u8], prefix: Range<usize>) -> bool {
        let end = match self {
            Self::Token(run) => skip(text, prefix.end, run.alphabet),
            Self::Assigned(run) => skip(text, skip(text, prefix.end, is_separator), run.alphabet),
            Self::WebToken => skip(text, prefix.end, |byte| is_base64_url(byte) || byte == b'.'),
            Self::PrivateKey => return is_key_open(&text[prefix.end..]),
            Self::UrlPassword => skip(text, prefix.end, |byte| is_url_part(byte) || byte == b':'),
            Self::Password => skip(text, skip(text, prefix.end, is_separator), password),
            Self::BotToken => skip(text, prefix.end, is_base64_url),
        };
        end == text.len()
    }
}

impl Run {
    fn end(&self, text: &[u8], start: usize) -> Option<usize> {
        let end = skip(text, start, self.alphabet);
        let run = &text[start..end];
        let is_token = (self.min..=self.max).contains(&run.len())
            && has_variety(run)
            && (self.needs == Needs::Variety || run.iter().any(u8::is_ascii_digit));
        is_token.then_some(end)
    }
}

fn skip(text: &[u8], start: usize, alphabet: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let length = rest.iter().position(|&byte| !alphabet(byte));
    start + length.unwrap_or(rest.len())
}

fn has_variety(run: &[u8]) -> bool {
    let seen = run.iter().fold(0_u128, |seen, byte| seen | 1 << (byte & 0x7f));
    seen.count_ones() >= MIN_DIFFERENT
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b':' | b'=' | b'"' | b'\'' | b'\\' | b'>')
}

/// `header.payload.signature`, or five parts if it is encrypted.
fn web_token_end(text: &[u8], start: usize) -> Option<usize> {
    let mut end = skip(text, start, is_base64_url);
    let mut parts = usize::from(end - start >= 12);
    while parts < 5 && text.get(end) == Some(&b'.') {
        let next = skip(text, end + 1, is_base64_url);
        if next - end < 8 {
            break;
        }
        parts += 1;
        end = next;
    }
    (parts >= 3).then_some(end)
}

/// From `-----BEGIN ` on: the rest of the mark, the body, and the mark at its end if it is there.
fn private_key_end(text: &[u8], start: usize) -> Option<usize> {
    let label = skip(text, start, |byte| {
        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
    });
    let is_private = text[start..label].windows(11).any(|it| it == b"PRIVATE KEY");
    let body = label + 5;
    if !is_private || text.get(label..body) != Some(b"-----") {
        return None;
    }
    let limit = text.len().min(body + MAX_KEY_BYTES);
    let text = &text[..limit];
    let mut end = skip(text, body, is_key_body);
    // A mark without a body is a word about keys, not a key.
    let is_key = text[body..end]
        .split(|byte| !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'/'))
        .any(|line| line.len() >= MIN_KEY_LINE);
    if let Some(mark) = find(&text[body..end], b"-----END ") {
        let label = skip(text, body + mark + 9, |byte| {
            byte.is_ascii_uppercase() || byte == b' '
        });
        end = skip(text, label, |byte| byte == b'-');
    } else {
        // What ends a line or begins an escape belongs to what comes next.
        while end > body && matches!(text[end - 1], b'\\' | b'\n' | b'\r' | b' ') {
            end -= 1;
        }
    }
    is_key.then_some(end)
}

/// From behind `-----BEGIN ` on.
fn is_key_open(text: &[u8]) -> bool {
    let Some(body) = find(text, b"-----") else {
        return text.iter().all(|byte| is_key_body(*byte));
    };
    let is_private = find(&text[..body], b"PRIVATE KEY").is_some();
    let body = &text[body + 5..];
    let is_ended = find(body, b"-----END ").is_some_and(|mark| {
        let mark = &body[mark + 9..];
        let dashes = find(mark, b"-----").map(|at| skip(mark, at, |byte| byte == b'-'));
        dashes.is_some_and(|end| end < mark.len())
    });
    is_private && !is_ended && body.iter().all(|byte| is_key_body(*byte))
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

/// Base64 and its lines, as they are or escaped, and the headers of an encrypted key.
fn is_key_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'+' | b'/' | b'=' | b'-' | b'\n' | b'\r' | b' ' | b'\t' | b'\\' | b':' | b',' | b'.'
        )
}

/// From `://` on.
fn url_password(text: &[u8], start: usize) -> Option<Range<usize>> {
    let limit = text.len().min(start + 256);
    let text = &text[..limit];
    let user = skip(text, start, is_url_part);
    if text.get(user) != Some(&b':') {
        return None;
    }
    let password = user + 1;
    let end = skip(text, password, |byte| is_url_part(byte) || byte == b':');
    let is_password =
        text.get(end) == Some(&b'@') && end - password >= 3 && !is_placeholder(&text[password..end]);
    is_password.then_some(password..end)
}

/// What can be in a password on a command line or in a configuration, without quotes.
pub(super) fn password(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b'\\'
                | b'('
                | b')'
                | b'['
                | b']'
                | b'{'
                | b'}'
                | b'<'
                | b'>'
                | b','
                | b';'
                | b'&'
                | b'|'
        )
}

/// From behind the word `password` on. Names, calls and placeholders are not passwords: it needs a letter, a digit, and
/// an end such as a space or a quote.
fn assigned_password(text: &[u8], start: usize) -> Option<Range<usize>> {
    let value = skip(text, start, is_separator);
    let mark = &text[start..value];
    let is_assigned = mark.len() <= 8 && mark.iter().any(|byte| matches!(byte, b'=' | b':'));
    let end = skip(text, value, password);
    let run = &text[value..end];
    let has = |kind: fn(&u8) -> bool| run.iter().any(kind);
    let is_password = (8..=128).contains(&run.len())
        && has_variety(run)
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && !matches!(
            run.first(),
            Some(b'$' | b'%' | b'*' | b'#' | b'/' | b'.' | b'=' | b':')
        )
        && !matches!(text.get(end), Some(b'(' | b'[' | b'{' | b'<'));
    // A path, a field or a name in code, such as `user.password2_hash` or `sha256::new`.
    let is_code = run.iter().all(|byte| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'.' | b':' | b'/')
    }) && run.iter().any(|byte| matches!(byte, b'_' | b'.' | b':' | b'/'));
    (is_assigned && is_password && !is_code).then_some(value..end)
}

/// From the colon on.
fn bot_token(text: &[u8], colon: usize) -> Option<Range<usize>> {
    let digits = text[..colon]
        .iter()
        .rev()
        .take(11)
        .take_while(|byte| byte.is_ascii_digit());
    let is_id = (8..=10).contains(&digits.count());
    let end = skip(text, colon + 1, is_base64_url);
    (is_id && end - colon - 1 == 35).then_some(colon + 1..end)
}

fn is_url_part(byte: u8) -> bool {
    byte.is_ascii_graphic()
        && !matches!(
            byte,
            b'/' | b':'
                | b'@'
                | b'"'
                | b'\''
                | b'`'
                | b'<'
                | b'>'
                | b'\\'
                | b'{'
                | b'}'
                | b'('
                | b')'
                | b'['
                | b']'
                | b','
        )
}

fn is_placeholder(password: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] = [b"password", b"passwd", b"pass", b"pwd", b"secret", b"port"];
    let is_word = WORDS.iter().any(|word| password.eq_ignore_ascii_case(word));
    let is_variable = matches!(password.first(), Some(b'$' | b'%' | b'*' | b'#'));
    is_word || is_variable || password.iter().all(|byte| *byte == password[0])
}

/// Whether a token can begin here: not in the middle of a word. An escape such as `\n` or `%3D` is not a word.
pub(super) fn begins_word(text: &[u8], start: usize) -> bool {
    if !text[start].is_ascii_alphanumeric() {
        return true;
    }
    match &text[..start] {
        [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f'] => true,
        [.., b'\\', b'u', a, b, c, d] if [a, b, c, d].iter().all(|it| it.is_ascii_hexdigit()) => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., before] => !before.is_ascii_alphanumeric(),
        [] => true,
    }
}

pub(super) fn is_base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::{begins_word, url_password};

    #[test]
    fn a_token_begins_after_an_escape_and_not_within_a_word() {
        for (before, expected) in [
            ("", true),
            (" ", true),
            ("\"", true),
            ("=", true),
            ("_", true),
            ("\\n", true),
            ("\\\\t", true),
            ("\\u003d", true),
            ("%3D", true),
            ("n", false),
            ("tas", false),
            ("9", false),
        ] {
            let text = format!("{before}sk-");
            assert_eq!(begins_word(text.as_bytes(), before.len()), expected, "{before}");
        }
    }

    #[test]
    fn placeholders_are_no_passwords() {
        for (text, password) in [
            ("me:correct-horse@host", Some("correct-horse")),
            (":correct-horse@host", Some("correct-horse")),
            ("me:a:b:c@host", Some("a:b:c")),
            ("me:$PASSWORD@host", None),
            ("me:{}@host", None),
            ("me:password@host", None),
            ("me:***@host", None),
            ("host:8080/path@2", None),
            ("host/a:bcd@e", None),
            ("me@host:22", None),
            ("", None),
        ] {
            let found = url_password(text.as_bytes(), 0).map(|range| &text[range]);
            assert_eq!(found, password, "{text}");
        }
    }
}
