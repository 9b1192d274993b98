//! `Options`: how the console looks.

use crate::settings::ColorChoice;

/// How much is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// What the agent says and does.
    #[default]
    Default,
    /// Also what came of it, what the model thinks and what it costs.
    Verbose,
    /// Nothing.
    Quiet,
    /// Records as JSON, one per line.
    Json,
}

/// How the console looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How much is shown.
    pub mode: Mode,
    /// Whether stdout is a terminal that can move its cursor: text appears as it is written, and there is a status line.
    pub is_terminal: bool,
    /// Whether keys of this terminal answer requests and send messages.
    pub has_keyboard: bool,
    /// Whether colours are used.
    pub has_colours: bool,
    /// How many columns the terminal has.
    pub width: usize,
    /// Whether stdout and stderr go to the same place: errors are shown once then.
    pub is_stderr_shared: bool,
    /// Where the run's files are, for the summary.
    pub files: Option<String>,
    /// Whether git is asked for the commits of a run when it ends.
    pub asks_git: bool,
}

/// The width of a terminal that does not say its own.
const USUAL_WIDTH: usize = 80;

impl Options {
    /// Plain lines, as into a pipe.
    pub fn piped(mode: Mode) -> Self {
        Self {
            mode,
            is_terminal: false,
            has_keyboard: false,
            has_colours: false,
            width: USUAL_WIDTH,
            is_stderr_shared: false,
            files: None,
            asks_git: false,
        }
    }

    /// The options for a stdout, where `variable` gives the value of an environment variable. `ACCESSIBLE` asks for text
    /// that only grows, for screen readers.
    pub fn resolve(
        mode: Mode,
        colours: ColorChoice,
        stdout: Stdout,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let width = match stdout {
            Stdout::Terminal { width } => width.filter(|width| *width > 0),
            Stdout::Other => None,
        };
        let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let is_capable = stdout != Stdout::Other && variable("TERM").as_deref() != Some("dumb");
        let is_linear = variable("ACCESSIBLE").is_some_and(|value| !matches!(value.as_str(), "" | "0"));
        Self {
            is_terminal: is_capable && !is_linear,
            has_colours: match colours {
                ColorChoice::Always => true,
                ColorChoice::Never => false,
                ColorChoice::Auto => is_capable && !is_set("NO_COLOR"),
            },
            width: width.unwrap_or(USUAL_WIDTH),
            ..Self::piped(mode)
        }
    }

    pub(super) fn is_verbose(&self) -> bool {
        self.mode == Mode::Verbose
    }
}

/// What stdout is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdout {
    /// A terminal, with its width in columns if it says so.
    Terminal { width: Option<usize> },
    /// A pipe, a file, or nothing.
    Other,
}

#[cfg(test)]
mod tests {
    use super::{Mode, Options, Stdout};
    use crate::settings::ColorChoice;

    #[test]
    fn no_color_takes_away_only_the_colours_and_a_dumb_terminal_is_a_pipe() {
        let terminal = Stdout::Terminal { width: Some(120) };
        let looks = |colours, stdout, term: Option<&str>, no_color: Option<&str>| {
            let options = Options::resolve(Mode::Default, colours, stdout, |name| match name {
                "TERM" => term.map(str::to_owned),
                "NO_COLOR" => no_color.map(str::to_owned),
                _ => None,
            });
            (options.is_terminal, options.has_colours, options.width)
        };
        let auto = ColorChoice::Auto;
        assert_eq!(looks(auto, terminal, Some("xterm"), None), (true, true, 120));
        assert_eq!(looks(auto, terminal, Some("xterm"), Some("")), (true, true, 120));
        assert_eq!(
            looks(auto, terminal, Some("xterm"), Some("1")),
            (true, false, 120)
        );
        assert_eq!(looks(auto, terminal, Some("dumb"), None), (false, false, 120));
        assert_eq!(
            looks(auto, Stdout::Other, Some("xterm"), None),
            (false, false, 80)
        );
        assert_eq!(
            looks(ColorChoice::Always, Stdout::Other, None, Some("1")),
            (false, true, 80)
        );
        assert_eq!(
            looks(ColorChoice::Never, terminal, None, None),
            (true, false, 120)
        );
        assert_eq!(
            looks(auto, Stdout::Terminal { width: Some(0) }, None, None),
            (true, true, 80)
        );
    }

    #[test]
    fn the_accessible_form_has_no_line_that_changes() {
        for (value, is_terminal) in [("1", false), ("0", true), ("", true)] {
            let terminal = Stdout::Terminal { width: Some(120) };
            let options = Options::resolve(Mode::Default, ColorChoice::Auto, terminal, |name| {
                (name == "ACCESSIBLE").then(|| value.to_owned())
            });
            assert_eq!(
                (options.is_terminal, options.has_colours),
                (is_terminal, true),
                "{value:?}"
            );
        }
    }
}
