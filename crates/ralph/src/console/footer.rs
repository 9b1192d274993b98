//! `Footer`: the rows below the text on a terminal, which are the status line and the lines that a person types.
//! `Console` owns it; nothing else moves the cursor.

/// What is typed, as it is drawn below the status line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputArea {
    /// Safe for a terminal, without line ends, and narrower than the terminal.
    pub lines: Vec<String>,
    /// Where the terminal's cursor stands: the index of a line, and a column. `None` leaves it at the end of the text.
    pub cursor: Option<(usize, usize)>,
}

/// Erases from the cursor to the end of the screen: the footer, however a resized terminal has wrapped it.
const ERASE: &str = "\u{1b}[J";
const SAVE_CURSOR: &str = "\u{1b}7";
const RESTORE_CURSOR: &str = "\u{1b}8";
const INSERT_ROW: &str = "\u{1b}[L";
/// Moves down and scrolls like a line feed, but keeps the column.
const DOWN: &str = "\u{b}";

/// Text with more line ends than this is cheaper to write with a new footer below it.
const MAX_INSERTED_ROWS: usize = 8;

/// The footer that is on the screen. Between two updates the cursor is at the end of the text, or in the input area.
///
/// Below an unfinished line the footer begins on the next row, otherwise on the row of the cursor. The text must not reach
/// the last column, because terminals disagree about the place of the cursor there.
#[derive(Debug, Default)]
pub(super) struct Footer {
    /// The status line first. Empty if no footer is shown.
    rows: Vec<String>,
    cursor: Option<(usize, usize)>,
    /// Whether it begins below the row of the cursor.
    is_below_open_line: bool,
}

impl Footer {
    pub(super) fn is_shown(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether the screen shows exactly this.
    pub(super) fn shows(&self, status: &str, input: &InputArea) -> bool {
        self.rows
            .split_first()
            .is_some_and(|(first, others)| first == status && others == input.lines)
            && self.cursor == input.cursor
    }

    /// Whether an empty row is between the text and the footer, where a line ended.
    pub(super) fn leaves_gap(&self, is_line_open: bool) -> bool {
        self.is_shown() && self.is_below_open_line && !is_line_open
    }

    /// Draws the footer below the text. `is_line_open` is whether the last line of the text continues.
    pub(super) fn draw(&mut self, status: &str, input: &InputArea, is_line_open: bool, out: &mut String) {
        self.erase(out);
        self.rows.push(status.to_owned());
        self.rows.extend_from_slice(&input.lines);
        self.cursor = input.cursor.filter(|(line, _)| *line < input.lines.len());
        self.is_below_open_line = is_line_open;
        let needed = self.rows.len() - usize::from(!is_line_open);
        for _ in 0..needed {
            out.push_str(DOWN);
        }
        push_up(needed, out);
        out.push_str(SAVE_CURSOR);
        if is_line_open {
            out.push_str(DOWN);
        }
        for (number, row) in self.rows.iter().enumerate() {
            out.push_str(if number == 0 { "\r" } else { "\n\r" });
            out.push_str(row);
        }
        match self.cursor {
            Some((line, column)) => {
                push_up(input.lines.len() - 1 - line, out);
                push_column(column, out);
            }
            None => out.push_str(RESTORE_CURSOR),
        }
    }

    /// Takes the footer away. The cursor is at the end of the text then.
    pub(super) fn erase(&mut self, out: &mut String) {
        if self.is_shown() {
            self.leave_input(out);
            out.push_str(ERASE);
            self.rows.clear();
        }
    }

    /// Writes text above the footer. Keeps the footer where that is cheap, and takes it away otherwise.
    pub(super) fn push_text(&mut self, text: &str, out: &mut String) {
        let ends = text.matches('\n').count();
        let is_cheap = self.is_below_open_line && ends <= MAX_INSERTED_ROWS;
        if !is_cheap {
            self.erase(out);
        }
        if !self.is_shown() {
            out.push_str(text);
            return;
        }
        self.leave_input(out);
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.insert_row(out);
            }
            out.push_str(line);
        }
        if let Some((line, column)) = self.cursor {
            out.push_str(SAVE_CURSOR);
            for _ in 0..line + 2 {
                out.push_str(DOWN);
            }
            push_column(column, out);
        }
    }

    /// Makes room for another row of text between the current one and the footer.
    fn insert_row(&self, out: &mut String) {
        for _ in 0..=self.rows.len() {
            out.push('\n');
        }
        push_up(self.rows.len(), out);
        out.push_str(INSERT_ROW);
    }

    fn leave_input(&self, out: &mut String) {
        if self.cursor.is_some() {
            out.push_str(RESTORE_CURSOR);
        }
    }
}

fn push_up(rows: usize, out: &mut String) {
    match rows {
        0 => {}
        1 => out.push_str("\u{1b}[A"),
        _ => out.push_str(&format!("\u{1b}[{rows}A")),
    }
}

fn push_column(column: usize, out: &mut String) {
    out.push('\r');
    if column > 0 {
        out.push_str(&format!("\u{1b}[{column}C"));
    }
}

#[cfg(test)]
mod tests {
    use super::{Footer, InputArea};

    struct Screen {
        parser: vt100::Parser,
        footer: Footer,
    }

    impl Screen {
        fn new(rows: u16) -> Self {
            Self {
                parser: vt100::Parser::new(rows, 20, 100),
                footer: Footer::default(),
            }
        }

        fn update(&mut self, update: impl FnOnce(&mut Footer, &mut String)) -> usize {
            let mut out = String::new();
            update(&mut self.footer, &mut out);
            self.parser.process(out.replace('\n', "\r\n").as_bytes());
            out.len()
        }

        fn shown(&self) -> String {
            self.parser.screen().contents()
        }
    }

    fn input(lines: &[&str], cursor: Option<(usize, usize)>) -> InputArea {
        InputArea {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            cursor,
        }
    }

    #[test]
    fn text_continues_above_the_footer_on_any_row_of_the_screen() {
        for rows in [5, 6, 12] {
            let mut screen = Screen::new(rows);
            let area = input(&["> one", "two"], None);
            screen.update(|_, out| out.push_str("first\nsec"));
            screen.update(|footer, out| footer.draw("status", &area, true, out));
            let cost = screen.update(|footer, out| footer.push_text("ond\nthird", out));
            assert!(cost < 24, "{cost}");
            assert!(
                screen.shown().ends_with("second\nthird\nstatus\n> one\ntwo"),
                "{}",
                screen.shown()
            );
            screen.update(|footer, out| footer.push_text("!", out));
            assert!(
                screen.shown().ends_with("third!\nstatus\n> one\ntwo"),
                "{}",
                screen.shown()
            );
            screen.update(|footer, out| footer.push_text("\n", out));
            screen.update(|footer, out| footer.draw("status", &area, false, out));
            assert!(
                screen.shown().ends_with("third!\nstatus\n> one\ntwo"),
                "{}",
                screen.shown()
            );
            screen.update(|footer, out| footer.erase(out));
            assert!(screen.shown().ends_with("third!"), "{}", screen.shown());
        }
    }

    #[test]
    fn the_cursor_stays_in_the_input_while_text_is_written() {
        for rows in [5, 12] {
            let mut screen = Screen::new(rows);
            screen.update(|_, out| out.push_str("first\nsec"));
            let area = input(&["> abc", "de"], Some((0, 4)));
            screen.update(|footer, out| footer.draw("status", &area, true, out));
            for text in ["o", "nd", "\nthi", "rd"] {
                screen.update(|footer, out| footer.push_text(text, out));
                let (row, column) = screen.parser.screen().cursor_position();
                let line = screen.parser.screen().rows(0, 20).nth(usize::from(row));
                assert_eq!(
                    (line.as_deref(), column),
                    (Some("> abc"), 4),
                    "{}",
                    screen.shown()
                );
            }
            assert!(
                screen.shown().ends_with("second\nthird\nstatus\n> abc\nde"),
                "{}",
                screen.shown()
            );
        }
    }

    #[test]
    fn a_footer_that_is_shown_already_is_recognised() {
        let mut footer = Footer::default();
        let area = input(&["> "], Some((0, 2)));
        assert!(!footer.shows("status", &area));
        footer.draw("status", &area, true, &mut String::new());
        assert!(footer.shows("status", &area));
        assert!(!footer.shows("status", &input(&["> "], Some((0, 1)))));
        assert!(!footer.shows("status", &input(&["> ", "x"], Some((0, 2)))));
    }
}
