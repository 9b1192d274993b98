//! `Theme`: the only place that names colors. Everything else asks for a role.

use ratatui::style::{Color, Modifier, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorScheme {
    #[default]
    Dark,
    Light,
    /// `NO_COLOR`: bold, dim, underlined and reversed text only.
    None,
}

/// What a piece of text is. Body text has no role: it has the terminal's own foreground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Headings, titles, what is stressed.
    Strong,
    /// Less important than the text around it.
    Faint,
    /// The name of a tool.
    Tool,
    /// Code and paths within text.
    Code,
    Good,
    Bad,
    Warning,
    /// A state in which a person has to act.
    NeedsPerson,
    /// Lines of a diff.
    Added,
    Removed,
    /// Syntax of highlighted code.
    Keyword,
    Literal,
    Comment,
    Name,
    /// What the user wrote.
    Message,
    /// The selected row or cell.
    Selected,
    /// A search hit, and the current one.
    Hit,
    CurrentHit,
    /// Frames, rulers, gutters.
    Frame,
    /// The filled and the empty part of a bar.
    BarFilled,
    BarEmpty,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Theme {
    pub scheme: ColorScheme,
}

impl Theme {
    #[must_use]
    pub fn new(scheme: ColorScheme) -> Self {
        Self { scheme }
    }

    #[must_use]
    pub fn style(self, role: Role) -> Style {
        let plain = Style::new();
        let weight = match role {
            Role::Strong | Role::Bad | Role::NeedsPerson => plain.add_modifier(Modifier::BOLD),
            Role::Faint | Role::Comment | Role::Frame | Role::BarEmpty => plain.add_modifier(Modifier::DIM),
            Role::Selected | Role::CurrentHit => plain.add_modifier(Modifier::REVERSED),
            Role::Hit => plain.add_modifier(Modifier::UNDERLINED),
            _ => plain,
        };
        match self.color(role) {
            Some(color) => weight.fg(color),
            None => weight,
        }
    }

    /// The color that a program asked for by its number among the sixteen. Black, white and gray are unreadable on one of
    /// both backgrounds: they become the terminal's own foreground.
    #[must_use]
    pub fn ansi(self, index: u8) -> Option<Color> {
        if self.scheme == ColorScheme::None {
            return None;
        }
        Some(match index % 8 {
            1 => Color::Red,
            2 => Color::Green,
            3 => Color::Yellow,
            4 => Color::Blue,
            5 => Color::Magenta,
            6 => Color::Cyan,
            _ => return None,
        })
    }

    /// The sixteen colors of the terminal, which its user chose to be readable. Blue is too dark on most dark terminals,
    /// yellow too light on light ones.
    fn color(self, role: Role) -> Option<Color> {
        let is_light = match self.scheme {
            ColorScheme::None => return None,
            ColorScheme::Light => true,
            ColorScheme::Dark => false,
        };
        Some(match role {
            Role::Tool | Role::Code | Role::Name => Color::Cyan,
            Role::Good | Role::Added | Role::BarFilled => Color::Green,
            Role::Bad | Role::Removed => Color::Red,
            Role::Warning | Role::NeedsPerson | Role::Hit if is_light => Color::Magenta,
            Role::Warning | Role::NeedsPerson | Role::Hit => Color::Yellow,
            Role::Keyword | Role::Message => Color::Magenta,
            Role::Literal => Color::Green,
            Role::Strong
            | Role::Faint
            | Role::Comment
            | Role::Frame
            | Role::BarEmpty
            | Role::Selected
            | Role::CurrentHit => return None,
        })
    }
}
