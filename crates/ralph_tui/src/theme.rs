//! `Theme`: the only place that names colors. Everything else asks for a role.

use ratatui::style::{Color, Modifier, Style};
use terminal_input::Background;

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
    /// Headings, titles and emphasis.
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

/// Which colors a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// The color cube of terminals with 256 colors. It is the same everywhere, so that its contrast is known.
    #[default]
    Fixed,
    /// Only the sixteen that users choose, readable or not.
    Sixteen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Theme {
    pub scheme: ColorScheme,
    palette: Palette,
}

/// A color of roles, in each palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hue {
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    /// Less important text.
    Gray,
    /// Lines and frames.
    Line,
}

impl Theme {
    #[must_use]
    pub fn new(scheme: ColorScheme) -> Self {
        Self {
            scheme,
            palette: Palette::default(),
        }
    }

    #[must_use]
    pub fn with_palette(self, palette: Palette) -> Self {
        Self { palette, ..self }
    }

    /// The theme on another background. Without colors it stays without.
    #[must_use]
    pub fn on(self, background: Background) -> Self {
        let scheme = match (self.scheme, background) {
            (ColorScheme::None, _) => ColorScheme::None,
            (_, Background::Dark) => ColorScheme::Dark,
            (_, Background::Light) => ColorScheme::Light,
        };
        Self { scheme, ..self }
    }

    #[must_use]
    pub fn style(self, role: Role) -> Style {
        let plain = Style::new();
        let color = hue_of(role).and_then(|hue| self.color(hue));
        let is_gray = matches!(hue_of(role), Some(Hue::Gray | Hue::Line));
        let weight = match role {
            Role::Strong | Role::Bad | Role::NeedsPerson => plain.add_modifier(Modifier::BOLD),
            // How dim a terminal makes it is not known, so a gray is better where there is one.
            _ if is_gray && color.is_none() => plain.add_modifier(Modifier::DIM),
            Role::Selected | Role::CurrentHit => plain.add_modifier(Modifier::REVERSED),
            Role::Hit => plain.add_modifier(Modifier::UNDERLINED),
            _ => plain,
        };
        match color {
            Some(color) => weight.fg(color),
            None => weight,
        }
    }

    /// The color that a program asked for by its number among the sixteen. Black, white and gray are unreadable on one of
    /// both backgrounds: they become the terminal's own foreground.
    #[must_use]
    pub fn ansi(self, index: u8) -> Option<Color> {
        self.color(match index % 8 {
            1 => Hue::Red,
            2 => Hue::Green,
            3 => Hue::Yellow,
            4 => Hue::Blue,
            5 => Hue::Magenta,
            6 => Hue::Cyan,
            _ => return None,
        })
    }

    fn color(self, hue: Hue) -> Option<Color> {
        let is_light = match self.scheme {
            ColorScheme::None => return None,
            ColorScheme::Light => true,
            ColorScheme::Dark => false,
        };
        match self.palette {
            Palette::Fixed => Some(Color::Indexed(fixed_color(hue, is_light))),
            Palette::Sixteen => Some(match hue {
                Hue::Red => Color::Red,
                Hue::Green => Color::Green,
                // Too light on light terminals.
                Hue::Yellow if is_light => Color::Magenta,
                Hue::Yellow => Color::Yellow,
                Hue::Blue => Color::Blue,
                Hue::Magenta => Color::Magenta,
                Hue::Cyan => Color::Cyan,
                Hue::Gray | Hue::Line => return None,
            }),
        }
    }
}

fn hue_of(role: Role) -> Option<Hue> {
    Some(match role {
        Role::Tool | Role::Code | Role::Name => Hue::Cyan,
        Role::Good | Role::Added | Role::BarFilled | Role::Literal => Hue::Green,
        Role::Bad | Role::Removed => Hue::Red,
        Role::Warning | Role::NeedsPerson | Role::Hit => Hue::Yellow,
        Role::Keyword | Role::Message => Hue::Magenta,
        Role::Faint | Role::Comment => Hue::Gray,
        Role::Frame | Role::BarEmpty => Hue::Line,
        Role::Strong | Role::Selected | Role::CurrentHit => return None,
    })
}

/// Of the color cube and the grays above it. A test holds their contrast on common backgrounds.
fn fixed_color(hue: Hue, is_light: bool) -> u8 {
    match (hue, is_light) {
        (Hue::Red, false) => 210,
        (Hue::Red, true) => 124,
        (Hue::Green, false) => 114,
        (Hue::Green, true) => 22,
        (Hue::Yellow, false) => 221,
        (Hue::Yellow, true) => 94,
        (Hue::Blue, false) => 111,
        (Hue::Blue, true) => 25,
        (Hue::Magenta, false) => 177,
        (Hue::Magenta, true) => 90,
        (Hue::Cyan, false) => 80,
        (Hue::Cyan, true) => 24,
        (Hue::Gray, false) => 248,
        (Hue::Gray, true) => 241,
        (Hue::Line, false) => 244,
        (Hue::Line, true) => 244,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier};

    use super::{ColorScheme, Palette, Role, Theme};

    /// Backgrounds of common color schemes: xterm, VS Code, Solarized, Dracula, One Dark, Gruvbox, Tokyo Night, Nord.
    const DARK: [u32; 8] = [
        0x00_0000, 0x1e_1e1e, 0x00_2b36, 0x28_2a36, 0x28_2c34, 0x28_2828, 0x1a_1b26, 0x2e_3440,
    ];
    /// xterm, Solarized, Gruvbox, GitHub, Catppuccin Latte, One Light.
    const LIGHT: [u32; 6] = [0xff_ffff, 0xfd_f6e3, 0xfb_f1c7, 0xf6_f8fa, 0xef_f1f5, 0xfa_fafa];

    const ROLES: [Role; 20] = [
        Role::Faint,
        Role::Tool,
        Role::Code,
        Role::Good,
        Role::Bad,
        Role::Warning,
        Role::NeedsPerson,
        Role::Added,
        Role::Removed,
        Role::Keyword,
        Role::Literal,
        Role::Comment,
        Role::Name,
        Role::Message,
        Role::Hit,
        Role::Frame,
        Role::BarFilled,
        Role::BarEmpty,
        Role::Strong,
        Role::Selected,
    ];

    fn luminance(rgb: u32) -> f64 {
        let part = |shift: u32| {
            let value = f64::from((rgb >> shift) & 0xff) / 255.0;
            match value <= 0.03928 {
                true => value / 12.92,
                false => ((value + 0.055) / 1.055).powf(2.4),
            }
        };
        0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
    }

    /// As WCAG defines it.
    fn contrast(one: u32, other: u32) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// A color of the cube or of the grays of a terminal with 256 colors.
    fn rgb(index: u8) -> u32 {
        let index = u32::from(index);
        if index >= 232 {
            let gray = 8 + 10 * (index - 232);
            return gray << 16 | gray << 8 | gray;
        }
        let part = |value: u32| if value == 0 { 0 } else { 55 + 40 * value };
        let cube = index - 16;
        part(cube / 36) << 16 | part(cube / 6 % 6) << 8 | part(cube % 6)
    }

    #[test]
    fn every_role_is_readable_on_common_backgrounds() {
        for (scheme, backgrounds) in [(ColorScheme::Dark, &DARK[..]), (ColorScheme::Light, &LIGHT[..])] {
            for role in ROLES {
                let style = Theme::new(scheme).style(role);
                // In the terminal's own foreground, which its user has chosen.
                let Some(color) = style.fg else { continue };
                let Color::Indexed(index @ 16..) = color else {
                    panic!("{role:?} has a color that users can change: {color:?}");
                };
                assert!(!style.add_modifier.contains(Modifier::DIM), "{role:?}");
                let is_text = !matches!(role, Role::Frame | Role::BarEmpty | Role::BarFilled);
                let needed = if is_text { 4.5 } else { 3.0 };
                for background in backgrounds {
                    let found = contrast(rgb(index), *background);
                    assert!(
                        found >= needed,
                        "{scheme:?} {role:?} on {background:06x}: {found:.2}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_terminal_with_sixteen_colors_gets_only_those_and_no_color_none() {
        for role in ROLES {
            let sixteen = Theme::new(ColorScheme::Dark).with_palette(Palette::Sixteen);
            assert!(!matches!(
                sixteen.style(role).fg,
                Some(Color::Indexed(_) | Color::Rgb(..))
            ));
            assert_eq!(Theme::new(ColorScheme::None).style(role).fg, None);
        }
    }
}
