//! `title_of`: the title of a run in lists.

/// In characters.
const MAX_TITLE_CHARS: usize = 200;

/// The first paragraph of a prompt, on one line.
pub(super) fn title_of(prompt: &str) -> String {
    let paragraph = prompt
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty());
    let mut title = String::new();
    let mut count = 0;
    for word in paragraph.flat_map(str::split_whitespace) {
        if count >= MAX_TITLE_CHARS {
            break;
        }
        if !title.is_empty() {
            title.push(' ');
            count += 1;
        }
        for character in word.chars().filter(|character| !character.is_control()) {
            if count == MAX_TITLE_CHARS {
                break;
            }
            title.push(character);
            count += 1;
        }
    }
    title.truncate(title.trim_end().len());
    title
}

#[cfg(test)]
mod tests {
    use super::title_of;

    #[test]
    fn a_title_is_the_first_paragraph_on_one_line() {
        assert_eq!(
            title_of("\n  Fix the\n\tparser.  \n\n## Loop\nmore"),
            "Fix the parser."
        );
        assert_eq!(title_of("\u{1b}[2Jx\u{7}"), "[2Jx");
        assert_eq!(title_of(" \n\n"), "");
    }

    #[test]
    fn a_long_title_is_cut_between_characters() {
        assert_eq!(title_of(&"é".repeat(300)), "é".repeat(200));
        assert_eq!(title_of(&"ab ".repeat(300)).chars().count(), 200);
    }
}
