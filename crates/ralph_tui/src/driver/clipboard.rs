//! `copy()`: a text into the clipboard, through tmux or the terminal.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Terminals drop longer texts.
const MAX_TERMINAL_BYTES: usize = 100_000;

/// How a text gets into the clipboard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    Tmux,
    /// A sequence for the terminal.
    Terminal(String),
    TooLong,
}

pub(super) fn way(text: &str, is_in_tmux: bool) -> Way {
    if is_in_tmux {
        return Way::Tmux;
    }
    if text.len() > MAX_TERMINAL_BYTES {
        return Way::TooLong;
    }
    Way::Terminal(format!("\u{1b}]52;c;{}\u{7}", base64(text.as_bytes())))
}

/// Gives a text to tmux, which passes it on to the terminal where that is allowed.
pub(super) fn copy_to_tmux(text: &str) -> Result<(), String> {
    let child = Command::new("tmux")
        .args(["load-buffer", "-w", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|error| format!("cannot start tmux: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin
            .write_all(text.as_bytes())
            .map_err(|error| format!("cannot copy to tmux: {error}"))?;
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("tmux did not take the text: {status}")),
        Err(error) => Err(format!("cannot copy to tmux: {error}")),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for index in 0..4_usize {
            let digit = (bits >> (18 - 6 * index)) & 0x3f;
            let digit = DIGITS
                .get(usize::try_from(digit).unwrap_or(0))
                .copied()
                .unwrap_or(b'=');
            text.push(if index <= group.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{MAX_TERMINAL_BYTES, Way, base64, way};

    #[test]
    fn text_is_encoded_as_terminals_decode_it() {
        // From RFC 4648.
        for (text, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), encoded);
        }
    }

    #[test]
    fn tmux_is_preferred_and_a_terminal_gets_no_giant() {
        assert_eq!(way("x", true), Way::Tmux);
        assert_eq!(
            way("foo", false),
            Way::Terminal("\u{1b}]52;c;Zm9v\u{7}".to_owned())
        );
        assert_eq!(way(&"x".repeat(MAX_TERMINAL_BYTES + 1), false), Way::TooLong);
    }
}
