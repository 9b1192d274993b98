//! `Style`: the colors of the console.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Speaker,
    Tool,
    Error,
    Warning,
    Good,
    /// A line that a diff removes.
    Removed,
    /// Headings, and what the agent stresses.
    Strong,
    Emphasis,
    StrongEmphasis,
    Code,
    Faint,
}

/// Back to normal.
pub(super) const RESET: &str = "\u{1b}[0m";

impl Style {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Speaker => "\u{1b}[1;35m",
            Self::Tool => "\u{1b}[36m",
            Self::Error => "\u{1b}[1;31m",
            Self::Warning => "\u{1b}[33m",
            Self::Removed => "\u{1b}[31m",
            Self::Good => "\u{1b}[32m",
            Self::Strong => "\u{1b}[1m",
            Self::Emphasis => "\u{1b}[3m",
            Self::StrongEmphasis => "\u{1b}[1;3m",
            Self::Code => "\u{1b}[36m",
            Self::Faint => "\u{1b}[2m",
        }
    }
}

/// Appends text in a style, if there are colours.
pub(super) fn paint(out: &mut String, has_colours: bool, style: Style, text: &str) {
    if has_colours {
        out.push_str(style.code());
        out.push_str(text);
        out.push_str(RESET);
    } else {
        out.push_str(text);
    }
}
