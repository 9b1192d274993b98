//! `Markdown`: styles the streamed text of an agent for a terminal, line by line. `Paragraph` feeds it.
//!
//! A streamed line is shown before its block is complete, so this is a subset that needs only the line itself: headings,
//! lists, code blocks, tables, bold and italic text and code. Markers are recognised by stricter rules than CommonMark's,
//! because these would take `src/**/a.rs and tests/**/b.rs` for bold text, and paths must keep their characters.

use super::page::Page;
use super::style::Style;

/// What may become a span or a special line is held back until that is known, up to this length.
const MAX_HELD_BYTES: usize = 200;

/// The state of a text between two of its pieces.
#[derive(Debug)]
pub(super) struct Markdown {
    /// Without styles, the text is shown as it was written.
    has_styles: bool,
    line: Line,
    /// The beginning of a line whose kind is not known yet, or a span that has not ended.
    held: String,
    /// The fence of the open code block.
    fence: Option<String>,
    /// The last character that was shown on this line.
    last: char,
    /// What the lines before this one were.
    above: Above,
}

/// Decides whether an indented line is code: not within a list, and not in the middle of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    /// Nothing, or an empty line.
    Blank,
    Paragraph,
    /// A list, also after an empty line.
    List,
    IndentedCode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Too little of it is known.
    Start,
    Text,
    Heading,
    /// In a code block, or a row of a table.
    Verbatim,
    /// The first or last line of a code block.
    Fence,
}

/// How much of a line is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Part,
    Whole,
}

impl Markdown {
    pub(super) fn new(has_styles: bool) -> Self {
        Self {
            has_styles,
            line: Line::Start,
            held: String::new(),
            fence: None,
            last: ' ',
            above: Above::Blank,
        }
    }

    /// Shows the next piece of sanitised text.
    pub(super) fn push(&mut self, text: &str, page: &mut Page) {
        for (number, part) in text.split('\n').enumerate() {
            if number > 0 {
                self.end_line(page);
                page.push_newline();
            }
            self.push_part(part, page);
        }
    }

    /// Shows what is held back: no more text follows on this line.
    pub(super) fn end_line(&mut self, page: &mut Page) {
        if self.line == Line::Start {
            let head = std::mem::take(&mut self.held);
            self.begin_line(&head, Known::Whole, page);
        }
        self.push_spans("", Known::Whole, page);
        (self.line, self.last) = (Line::Start, ' ');
    }

    fn push_part(&mut self, part: &str, page: &mut Page) {
        if self.line == Line::Start && !part.is_empty() {
            let mut head = std::mem::take(&mut self.held);
            head.push_str(part);
            self.begin_line(&head, Known::Part, page);
        } else {
            self.push_in_line(part, page);
        }
    }

    /// Decides what kind of line this is, and shows what is known of it.
    fn begin_line(&mut self, head: &str, known: Known, page: &mut Page) {
        let text = head.trim_start_matches([' ', '\t']);
        let indent = &head[..head.len() - text.len()];
        let line = match self.classify(text, known) {
            Some(Line::Text) if self.is_indented_code(indent, text) => Line::Verbatim,
            Some(line) => line,
            None => {
                self.held = head.to_owned();
                return;
            }
        };
        self.above = match (line, self.above) {
            _ if list_marker(text).is_some() => Above::List,
            (Line::Text, Above::List) if text.is_empty() || !indent.is_empty() => Above::List,
            (Line::Text, _) if text.is_empty() => Above::Blank,
            (Line::Verbatim, _) if self.fence.is_none() && !text.starts_with('|') => Above::IndentedCode,
            _ => Above::Paragraph,
        };
        self.line = line;
        let hanging = indent.len() + list_marker(text).unwrap_or(0);
        if line == Line::Text && hanging > 0 {
            page.set_indent(hanging);
            page.push_verbatim(&head[..hanging], None);
            self.push_in_line(&head[hanging..], page);
        } else {
            self.push_in_line(head, page);
        }
    }

    fn is_indented_code(&self, indent: &str, text: &str) -> bool {
        let is_deep = indent.len() >= 4 || indent.contains('\t');
        let may_begin = matches!(self.above, Above::Blank | Above::IndentedCode);
        is_deep && may_begin && !text.is_empty() && list_marker(text).is_none()
    }

    /// The kind of a line that begins with `text`; `None` if that depends on what follows.
    fn classify(&mut self, text: &str, known: Known) -> Option<Line> {
        let is_open = known == Known::Part && text.len() <= MAX_HELD_BYTES;
        let length = marker_length(text);
        let is_fence = length >= 3 && text.starts_with(['`', '~']);
        if let Some(fence) = &self.fence {
            let is_same = text.chars().next().is_none_or(|first| fence.starts_with(first));
            let can_end = text.trim_end().len() == length && is_same;
            if can_end && is_open {
                return None;
            }
            if can_end && length >= fence.len() {
                self.fence = None;
                return Some(Line::Fence);
            }
            return Some(Line::Verbatim);
        }
        if is_open && (is_fence || may_be_marker(text)) {
            return None;
        }
        // Code in three backticks on one line does not begin a block.
        if is_fence && text.len() <= MAX_HELD_BYTES && !text[length..].contains(&text[..1]) {
            self.fence = Some(text[..length].to_owned());
            return Some(Line::Fence);
        }
        Some(match text.chars().next() {
            Some('|') => Line::Verbatim,
            Some('#') if length <= 6 && text[length..].starts_with(' ') => Line::Heading,
            _ => Line::Text,
        })
    }

    fn push_in_line(&mut self, text: &str, page: &mut Page) {
        match self.line {
            Line::Verbatim => page.push_verbatim(text, None),
            Line::Fence => page.push_verbatim(text, self.has_styles.then_some(Style::Faint)),
            Line::Start | Line::Text | Line::Heading if self.has_styles => {
                self.push_spans(text, Known::Part, page);
            }
            Line::Start | Line::Text | Line::Heading => page.push_words(text, None),
        }
    }

    /// Looks for spans such as `**bold**`. What may be one is held back until it ends.
    fn push_spans(&mut self, text: &str, known: Known, page: &mut Page) {
        let mut rest = std::mem::take(&mut self.held);
        rest.push_str(text);
        while let Some(place) = rest.find(['*', '`']) {
            let other = rest.split_off(place);
            self.show(&rest, None, page);
            match read_span(&other, self.last, known) {
                Span::Complete { length, text, style } => {
                    self.show_span(&text, style, page);
                    rest = other[length..].to_owned();
                }
                Span::Open if known == Known::Part && other.len() <= MAX_HELD_BYTES => {
                    self.held = other;
                    return;
                }
                Span::Open | Span::None => {
                    let length = marker_length(&other);
                    self.show(&other[..length], None, page);
                    rest = other[length..].to_owned();
                }
            }
        }
        self.show(&rest, None, page);
    }

    /// Code within bold text is code.
    fn show_span(&mut self, text: &str, style: Style, page: &mut Page) {
        if style != Style::Code && !text.contains("``") && text.matches('`').count().is_multiple_of(2) {
            for (number, part) in text.split('`').enumerate() {
                let style = if number % 2 == 1 { Style::Code } else { style };
                self.show(part, Some(style), page);
            }
        } else {
            self.show(text, Some(style), page);
        }
    }

    fn show(&mut self, text: &str, style: Option<Style>, page: &mut Page) {
        if let Some(last) = text.chars().next_back() {
            self.last = last;
            let heading = (self.has_styles && self.line == Line::Heading).then_some(Style::Strong);
            page.push_words(text, style.or(heading));
        }
    }
}

enum Span {
    Complete {
        /// With its markers.
        length: usize,
        text: String,
        style: Style,
    },
    /// Its end may follow.
    Open,
    None,
}

/// The span that `text` begins with, which begins with a marker. `before` is the character before it.
fn read_span(text: &str, before: char, known: Known) -> Span {
    let length = marker_length(text);
    let (marker, inner) = text.split_at(length);
    let is_code = marker.starts_with('`');
    if !is_code && (length > 3 || !can_precede(before)) {
        return Span::None;
    }
    let Some(first) = inner.chars().next() else {
        return Span::Open;
    };
    if !is_code && !can_begin(first, length) {
        return Span::None;
    }
    let mut from = 0;
    while let Some(place) = inner[from..].find(marker).map(|place| from + place) {
        let run = marker_length(&inner[place..]);
        let (content, end) = (&inner[..place], place + run);
        if end == inner.len() && known == Known::Part {
            // The run may continue: three stars do not end what two began.
            return Span::Open;
        }
        let can_end = match is_code {
            true => !content.trim().is_empty(),
            false => can_end(content, inner[end..].chars().next(), length),
        };
        if run == length && can_end && length + end <= MAX_HELD_BYTES {
            let (text, style) = match length {
                _ if is_code => (content.trim(), Style::Code),
                1 => (content, Style::Emphasis),
                2 => (content, Style::Strong),
                _ => (content, Style::StrongEmphasis),
            };
            return Span::Complete {
                length: length + end,
                text: text.to_owned(),
                style,
            };
        }
        from = end;
    }
    Span::Open
}

/// Whether stars after this character can begin a span. Those within words and paths are meant as stars.
fn can_precede(before: char) -> bool {
    !before.is_alphanumeric() && !"/\\_.*$@=~".contains(before)
}

/// Whether this many stars before this character can begin a span. One star alone is often a pattern or a pointer.
fn can_begin(first: char, stars: usize) -> bool {
    let is_plain = first.is_alphanumeric() || "\"'“‘([`".contains(first);
    !first.is_whitespace() && first != '/' && (stars > 1 || is_plain)
}

/// Whether stars between this content and this character can end a span.
fn can_end(content: &str, after: Option<char>, stars: usize) -> bool {
    let can_follow = |after: char| !after.is_ascii_alphanumeric() && !"/\\_".contains(after);
    content.chars().next_back().is_some_and(|last| {
        let is_plain = last.is_alphanumeric() || "\"'”’)]`.,:;!?…".contains(last);
        !last.is_whitespace() && (stars > 1 || is_plain)
    }) && after.is_none_or(can_follow)
}

/// How many times its first character a text begins with, in bytes.
fn marker_length(text: &str) -> usize {
    let Some(first) = text.chars().next() else {
        return 0;
    };
    text.len() - text.trim_start_matches(first).len()
}

/// The length of `- `, `1. ` or `> `.
fn list_marker(text: &str) -> Option<usize> {
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let digits = text.len() - rest.len();
    let is_marker = match digits {
        0 => ["- ", "* ", "+ ", "> "]
            .iter()
            .any(|marker| rest.starts_with(marker)),
        1..=3 => rest.starts_with(". ") || rest.starts_with(") "),
        _ => false,
    };
    is_marker.then_some(digits + 2)
}

/// Whether a line that begins with `text` may still become a special one.
fn may_be_marker(text: &str) -> bool {
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    match text.len() - rest.len() {
        0 => {
            matches!(rest, "" | "-" | "*" | "+" | ">" | "`" | "``" | "~" | "~~")
                || (rest.len() <= 6 && rest.chars().all(|character| character == '#'))
        }
        1..=3 => matches!(rest, "" | "." | ")"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Markdown;
    use crate::console::page::Page;

    /// What is written for a text that arrives in these pieces, before a terminal shows it.
    fn rendered<'a>(width: usize, pieces: impl IntoIterator<Item = &'a str>) -> String {
        let (mut markdown, mut page) = (Markdown::new(true), Page::new(width));
        let mut out = String::new();
        for piece in pieces {
            markdown.push(piece, &mut page);
            out.push_str(&std::mem::take(&mut page.out));
        }
        markdown.end_line(&mut page);
        out + &page.out
    }

    /// The rows of a terminal.
    fn rows(width: usize, text: &str) -> Vec<String> {
        let columns = u16::try_from(width).unwrap();
        let mut screen = vt100::Parser::new(600, columns, 0);
        screen.process(text.replace('\n', "\r\n").as_bytes());
        let rows = screen
            .screen()
            .rows(0, columns)
            .map(|row| row.trim_end().to_owned());
        let mut rows: Vec<String> = rows.collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    #[test]
    fn lines_are_styled_and_broken_between_words() {
        let source = "# The plan\n\nThis is **very bold** text with `some code` in it.\n\n\
                      - one item that needs two rows\n  1. nested\n\n```rust\nfn main() { a_long_line(); }\n```\n\
                      | a | b |\n2**3 and **kwargs stay, ** too\n";
        let text = rendered(24, [source]);
        assert!(text.contains("\u{1b}[1mvery\u{1b}[0m"), "{text:?}");
        assert!(text.contains("\u{1b}[36msome\u{1b}[0m"), "{text:?}");
        assert_eq!(
            rows(24, &text),
            [
                "# The plan",
                "",
                "This is very bold text",
                "with some code in it.",
                "",
                "- one item that needs",
                "  two rows",
                "  1. nested",
                "",
                "```rust",
                "fn main() { a_long_line",
                "(); }",
                "```",
                "| a | b |",
                "2**3 and **kwargs stay,",
                "** too",
            ]
        );
    }

    #[test]
    fn stars_of_paths_and_products_stay() {
        for source in [
            "src/**/a.rs and tests/**/b.rs",
            "2**3 and 4**5",
            "**/*.rs,**/*.ts",
            "(**/a and **/b)",
            "*.rs and *.ts, *.a,*.b",
            "f(*args, **kwargs) and g(*a, **b)",
            "2 * 3 * 4, a*b*c, char *a, *b;",
            "x = **p + **q",
            "/* comment */ and /* more */",
            "text\n\n    let a = **x** + `y`;\n\n    *b*\n        deep **c**\n",
        ] {
            let text = rendered(200, [source]);
            assert_eq!(text.trim_end(), source.trim_end(), "{text:?}");
        }
    }

    #[test]
    fn stars_around_words_are_styled() {
        for (source, expected) in [
            ("an *italic* word", "an \u{1b}[3mitalic\u{1b}[0m word"),
            (
                "***both***, **bold**.",
                "\u{1b}[1;3mboth\u{1b}[0m, \u{1b}[1mbold\u{1b}[0m.",
            ),
            ("``b`` and `c`", "\u{1b}[36mb\u{1b}[0m and \u{1b}[36mc\u{1b}[0m"),
            ("``a`b``", "\u{1b}[36ma`b\u{1b}[0m"),
            (
                "(**--flag**): (*see*)",
                "(\u{1b}[1m--flag\u{1b}[0m): (\u{1b}[3msee\u{1b}[0m)",
            ),
            ("**重要**です", "\u{1b}[1m重\u{1b}[0m\u{1b}[1m要\u{1b}[0mです"),
            ("**`x`:** y", "\u{1b}[36mx\u{1b}[0m\u{1b}[1m:\u{1b}[0m y"),
            // Not code, because it belongs to a list or a paragraph.
            ("- a\n\n    **b**", "- a\n\n    \u{1b}[1mb\u{1b}[0m"),
            ("    - **b**", "    - \u{1b}[1mb\u{1b}[0m"),
            ("a\n    **b**", "a\n    \u{1b}[1mb\u{1b}[0m"),
        ] {
            assert_eq!(rendered(200, [source]), expected, "{source}");
        }
    }

    #[test]
    fn a_mark_that_comes_late_stays_with_its_character() {
        for before in ["", "  - ", "| "] {
            let text = format!("{before}{}❤", "a".repeat(18 - before.len()));
            let rows = rows(20, &rendered(20, [text.as_str(), "\u{fe0f}"]));
            assert_eq!(rows.concat().trim_end(), format!("{text}\u{fe0f}"));
        }
    }

    fn source() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            8 => "[a-z]{1,9}",
            8 => Just(" ".to_owned()),
            2 => "\n{1,2}",
            2 => "[*`#|>~_-]{1,4}",
            1 => "(- |1\\. |## |```|\t)",
            1 => "(漢字|é|👩\u{200d}💻|❤\u{fe0f})",
            1 => "[a-z]{30,60}",
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_is_lost_or_doubled_however_it_is_cut(
            source in source(), cuts in prop::collection::vec(1_usize..12, 1..8), width in 8_usize..50
        ) {
            let mut pieces = Vec::new();
            let mut rest = source.as_str();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let length = rest.char_indices().nth(*cut).map_or(rest.len(), |(place, _)| place);
                let (piece, other) = rest.split_at(length);
                pieces.push(piece);
                rest = other;
            }
            let in_pieces = rows(width, &rendered(width, pieces));
            let at_once = rows(width, &rendered(width, [source.as_str()]));
            let words = |rows: &[String]| rows.concat().split_whitespace().collect::<String>();
            prop_assert_eq!(words(&in_pieces), words(&at_once));
            // Only markers and white space may be missing.
            let kept = |text: &str| text.chars().filter(|it| !it.is_whitespace() && !"*`".contains(*it)).collect::<String>();
            prop_assert_eq!(kept(&in_pieces.concat()), kept(&source));
        }
    }
}
