//! `Line`: a line of a cell before it is wrapped. All text of a cell enters through [`Line::push`], which sanitises it.

use ratatui::style::{Modifier, Style};
use run_view::sanitise;

use crate::theme::{Role, Theme};

const TAB_COLUMNS: usize = 4;

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
        let clean = sanitise(text);
        if clean.contains(['\n', '\t']) {
            for character in clean.chars() {
                match character {
                    '\t' => {
                        let column = run_view::width(&self.text);
                        let spaces = TAB_COLUMNS - column % TAB_COLUMNS;
                        self.text.extend(std::iter::repeat_n(' ', spaces));
                    }
                    '\n' => self.text.push(' '),
                    _ => self.text.push(character),
                }
            }
        } else {
            self.text.push_str(&clean);
        }
        self.end_span(look);
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
        let missing = column.saturating_sub(super::wrap::columns(&self.text));
        self.text.extend(std::iter::repeat_n(' ', missing));
        self.end_span(look);
    }

    /// The look at a byte of the text.
    pub(super) fn look_at(&self, offset: usize) -> Look {
        let span = self.spans.partition_point(|span| span.end <= offset);
        self.spans.get(span).map_or(Look::PLAIN, |span| span.look)
    }
}
