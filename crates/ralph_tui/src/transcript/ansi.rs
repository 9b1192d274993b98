//! `colored_lines()`: the output of a program with its colors made safe. Colors become those of the theme; every other
//! sequence goes through the sanitiser.

use ratatui::style::Modifier;
use run_view::Sanitiser;

use super::line::{Line, Look, Overflow};
use crate::theme::Role;

/// A longer line is continued in another one, so that no change to it costs more than this.
const MAX_LINE_BYTES: usize = 16 << 10;

/// The lines of an output, in its colors.
pub(super) fn colored_lines(text: &str) -> Vec<Line> {
    let mut lines = Lines::default();
    let mut sanitiser = Sanitiser::default();
    let mut look = Look::PLAIN;
    let mut rest = text;
    let mut clean = String::new();
    loop {
        let (plain, sequence, after) = split_at_sgr(rest);
        clean.clear();
        sanitiser.push(plain, &mut clean);
        lines.push(&clean, look);
        let Some(sequence) = sequence else {
            break;
        };
        // The sanitiser sees it too: it may end a string for the terminal.
        clean.clear();
        sanitiser.push(sequence, &mut clean);
        lines.push(&clean, look);
        look = apply_sgr(look, sequence);
        rest = after;
    }
    lines.done
}

#[derive(Default)]
struct Lines {
    done: Vec<Line>,
    is_open: bool,
}

impl Lines {
    fn push(&mut self, text: &str, look: Look) {
        for part in text.split_inclusive('\n') {
            let line = part.strip_suffix('\n').unwrap_or(part);
            let mut line = line;
            // Colors may have cut the line into many parts.
            while line.len() > self.room() {
                let (head, tail) = line.split_at(line.floor_char_boundary(self.room()));
                self.append(head, look);
                self.is_open = false;
                line = tail;
            }
            self.append(line, look);
            self.is_open = !part.ends_with('\n');
        }
    }

    /// How many bytes the open line, or else a new one, can still have.
    fn room(&self) -> usize {
        let open = self.done.last().filter(|_| self.is_open);
        MAX_LINE_BYTES.saturating_sub(open.map_or(0, |line| line.text.len()))
    }

    fn append(&mut self, text: &str, look: Look) {
        if !self.is_open {
            self.done.push(Line::default().overflowing(Overflow::Anywhere));
            self.is_open = true;
        }
        if let Some(line) = self.done.last_mut() {
            line.push(text, look);
        }
    }
}

/// The text before the next color sequence, the sequence, and the text after it.
fn split_at_sgr(text: &str) -> (&str, Option<&str>, &str) {
    let mut from = 0;
    while let Some(found) = text[from..].find(['\u{1b}', '\u{9b}']) {
        let start = from + found;
        let sequence = &text[start..];
        let intro = match sequence.strip_prefix('\u{9b}') {
            Some(_) => '\u{9b}'.len_utf8(),
            None if sequence.starts_with("\u{1b}[") => 2,
            None => {
                from = start + 1;
                continue;
            }
        };
        let parameters = &sequence[intro..];
        let end = parameters.find(|character: char| !matches!(character, '0'..='9' | ';' | ':'));
        match end {
            Some(end) if parameters[end..].starts_with('m') => {
                let after = start + intro + end + 1;
                return (&text[..start], Some(&text[start..after]), &text[after..]);
            }
            Some(_) => from = start + intro,
            None => break,
        }
    }
    (text, None, "")
}

fn apply_sgr(mut look: Look, sequence: &str) -> Look {
    let parameters = sequence
        .trim_start_matches(['\u{1b}', '[', '\u{9b}'])
        .trim_end_matches('m');
    let mut codes = parameters
        .split([';', ':'])
        .map(|code| code.parse::<u16>().unwrap_or(0));
    while let Some(code) = codes.next() {
        match code {
            0 => look = Look::PLAIN,
            1 => look.modifier |= Modifier::BOLD,
            2 => look.role = Some(Role::Faint),
            3 => look.modifier |= Modifier::ITALIC,
            4 => look.modifier |= Modifier::UNDERLINED,
            22 => {
                look.modifier -= Modifier::BOLD;
                look.role = None;
            }
            23 => look.modifier -= Modifier::ITALIC,
            24 => look.modifier -= Modifier::UNDERLINED,
            30..=37 => look.ansi = u8::try_from(code - 30).ok(),
            90 => look.role = Some(Role::Faint),
            91..=97 => look.ansi = u8::try_from(code - 90).ok(),
            39 => look.ansi = None,
            38 => look.ansi = extended(&mut codes),
            // A background may hide the text on it.
            48 => {
                extended(&mut codes);
            }
            _ => {}
        }
    }
    look
}

/// One of 256 colors, or any color, as the one of the sixteen that is nearest.
fn extended(codes: &mut impl Iterator<Item = u16>) -> Option<u8> {
    match codes.next()? {
        5 => match codes.next()? {
            index @ 0..16 => u8::try_from(index).ok(),
            index @ 16..232 => {
                let index = index - 16;
                Some(nearest(index / 36 * 51, index / 6 % 6 * 51, index % 6 * 51))
            }
            _ => None,
        },
        2 => {
            let (red, green, blue) = (codes.next()?, codes.next()?, codes.next()?);
            Some(nearest(red, green, blue))
        }
        _ => None,
    }
}

/// Each part of the color counts if it is at least two thirds of the strongest one.
fn nearest(red: u16, green: u16, blue: u16) -> u8 {
    let strongest = red.max(green).max(blue).max(1);
    let bit = |part: u16, value: u8| {
        if u32::from(part) * 3 >= u32::from(strongest) * 2 {
            value
        } else {
            0
        }
    };
    bit(red, 1) | bit(green, 2) | bit(blue, 4)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};
    use run_view::sanitise;

    use super::colored_lines;

    fn shown(text: &str) -> Vec<(String, Option<u8>)> {
        colored_lines(text)
            .into_iter()
            .map(|line| (line.text.clone(), line.look_at(0).ansi))
            .collect()
    }

    #[test]
    fn colors_of_programs_become_those_of_the_terminal() {
        assert_eq!(shown("\u{1b}[31mred\u{1b}[0m"), [("red".to_owned(), Some(1))]);
        assert_eq!(shown("\u{1b}[1;92mgreen"), [("green".to_owned(), Some(2))]);
        assert_eq!(shown("\u{1b}[38;2;250;10;10mred"), [("red".to_owned(), Some(1))]);
        assert_eq!(shown("\u{1b}[38;5;33mblue"), [("blue".to_owned(), Some(4))]);
        assert_eq!(shown("\u{1b}[48;5;1mback"), [("back".to_owned(), None)]);
        let lines = shown("\u{1b}[31ma\nb\u{1b}[39m\nc");
        assert_eq!(
            lines.iter().map(|line| line.1).collect::<Vec<_>>(),
            [Some(1), Some(1), None]
        );
    }

    #[test]
    fn a_long_line_is_continued_in_another_one_however_it_is_colored() {
        for text in ["\u{1b}[31mab\u{1b}[0mc".repeat(100_000), "abc".repeat(100_000)] {
            let lines = colored_lines(&text);
            assert!(lines.iter().all(|line| line.text.len() <= super::MAX_LINE_BYTES));
            let shown: String = lines.iter().map(|line| line.text.as_str()).collect();
            assert!(shown == "abc".repeat(100_000));
        }
    }

    proptest! {
        #[test]
        fn the_text_is_what_the_sanitiser_leaves(text in "(a|b|\n|\u{1b}|\u{1b}\\[|\u{9b}|3|1|;|m|\u{1b}\\]|\u{7}|é){0,40}") {
            let lines: Vec<String> = colored_lines(&text).into_iter().map(|line| line.text).collect();
            let clean = sanitise(&text);
            prop_assert_eq!(lines.join("\n"), clean.strip_suffix('\n').unwrap_or(&clean));
        }
    }
}
