//! `Line`: a line of a cell before it is wrapped. All text of a cell enters through [`Line::push`], which sanitises it.

use ratatui::style::{Modifier, Style};
use run_view::sanitise;

use crate::theme::{Role, Theme};

const TAB_COLUMNS: usize = 4;
/// What is longer is cut: no line on a screen is read that far.
const MAX_BYTES: usize = 64 << 10;

/// How a piece of text looks, in terms of the theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Look {
    pub(super) role: Option<Role>,
    /// One of the sixteen colors that a program asked for.
    pub(super) ansi: Option<u8>,
    pub(super) modifier: Modifier,
}

impl Look {
    pub(super) const PLAIN: Self = Self {
        role: None,
        ansi: None,
        modifier: Modifier::empty(),
    };

    pub(super) const fn of(role: Role) -> Self {
        Self {
            role: Some(role),
            ansi: None,
            modifier: Modifier::empty(),
        }
    }

    pub(super) fn with(self, modifier: Modifier) -> Self {
        Self {
            modifier: self.modifier | modifier,
            ..self
        }
    }

    pub(super) fn style(self, theme: Theme) -> Style {
        let style = self.role.map_or_else(Style::new, |role| theme.style(role));
        let style = match self.ansi.and_then(|index| theme.ansi(index)) {
            Some(color) => style.fg(color),
            None => style,
        };
        style.add_modifier(self.modifier)
    }
}

/// How a line that is too long is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Overflow {
    /// Broken between words.
    #[default]
    Words,
    /// Broken anywhere, or cut if the reader turned wrapping off.
    Anywhere,
    /// Cut with `…`.
    Cut,
}

/// The text up to `end`, from the end of the span before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) end: usize,
    pub(super) look: Look,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    /// Sanitised, without line ends and tabs.
    pub(super) text: String,
    pub(super) spans: Vec<Span>,
    /// What stands before the first row and before the others, such as a bullet and its indentation.
    pub(super) first_lead: String,
    pub(super) rest_lead: String,
    pub(super) lead_look: Look,
    pub(super) overflow: Overflow,
    /// Whether the rest of the row is filled with a rule.
    pub(super) has_rule: bool,
    /// How many columns the text takes: tabs end at columns, and measuring it for each of them takes too long.
    pub(super) column: usize,
}

impl Line {
    pub(super) fn of(text: &str, look: Look) -> Self {
        let mut line = Self::default();
        line.push(text, look);
        line
    }

    /// With the same lead before each row.
    pub(super) fn led_by(mut self, lead: &str, look: Look) -> Self {
        lead.clone_into(&mut self.first_lead);
        lead.clone_into(&mut self.rest_lead);
        self.lead_look = look;
        self
    }

    pub(super) fn overflowing(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// Adds untrusted text. Line ends in it become spaces.
    pub(super) fn push(&mut self, text: &str, look: Look) {
        if self.text.len() >= MAX_BYTES {
            return;
        }
        let clean = sanitise(text);
        for (number, part) in clean.split('\t').enumerate() {
            if number > 0 {
                self.push_spaces(TAB_COLUMNS - self.column % TAB_COLUMNS);
            }
            let room = MAX_BYTES.saturating_sub(self.text.len());
            let fitting = &part[..part.floor_char_boundary(room)];
            self.column += run_view::width(fitting);
            self.text
                .extend(fitting.split('\n').enumerate().flat_map(|(number, line)| {
                    let space = if number > 0 { " " } else { "" };
                    [space, line]
                }));
            self.column += fitting.matches('\n').count();
            if fitting.len() < part.len() || self.text.len() >= MAX_BYTES {
                // So that nothing fits any more.
                self.push_spaces(MAX_BYTES.saturating_sub(self.text.len()));
                self.text.push('…');
                break;
            }
        }
        self.end_span(look);
    }

    fn push_spaces(&mut self, count: usize) {
        self.text.extend(std::iter::repeat_n(' ', count));
        self.column += count;
    }

    fn end_span(&mut self, look: Look) {
        let end = self.text.len();
        match self.spans.last_mut() {
            Some(last) if last.look == look => last.end = end,
            Some(last) if last.end == end => {}
            None if end == 0 => {}
            _ => self.spans.push(Span { end, look }),
        }
    }

    /// Adds spaces up to a column.
    pub(super) fn pad_to(&mut self, column: usize, look: Look) {
        self.push_spaces(column.saturating_sub(super::wrap::columns(&self.text)));
        self.end_span(look);
    }

    /// The look at a byte of the text.
    pub(super) fn look_at(&self, offset: usize) -> Look {
        let span = self.spans.partition_point(|span| span.end <= offset);
        self.spans.get(span).map_or(Look::PLAIN, |span| span.look)
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Look, MAX_BYTES};

    #[test]
    fn tabs_end_at_columns_and_a_line_has_a_limit() {
        let mut line = Line::of("a\tb", Look::PLAIN);
        line.push("漢\tc\nd\t", Look::PLAIN);
        assert_eq!(line.text, "a   b漢 c d ");
        for text in ["\t".repeat(1 << 20), "é".repeat(1 << 20), "a\t".repeat(1 << 20)] {
            let mut line = Line::of(&text, Look::PLAIN);
            line.push("more", Look::PLAIN);
            assert!(line.text.len() <= MAX_BYTES + 8 && line.text.ends_with('…'));
            assert_eq!(line.spans.last().map(|span| span.end), Some(line.text.len()));
        }
    }
}
