//! What a person sees.

use serde::{Deserialize, Serialize};

use super::choices::{ColorChoice, Output};
use super::error::SettingsError;
use super::file::ConfigFile;
use super::layers::{Layers, Origin};
use super::table::{COLOR, OUTPUT, QUIET, VERBOSE};
use super::values::{parse_choice, parse_switch};
use crate::cli::ViewArgs;

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// How much.
    pub verbosity: Verbosity,
    /// When in colour.
    pub color: ColorChoice,
    /// For whom.
    pub output: Output,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verbosity {
    /// Nothing.
    Quiet,
    /// What the agent says and does.
    #[default]
    Normal,
    /// Also what comes of it.
    Verbose,
}

/// How a run is shown, for the commands that only show one.
///
/// # Errors
/// If a variable is wrong, or the settings exclude each other.
pub fn resolve_view(
    args: &ViewArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    file: Option<&ConfigFile>,
) -> Result<View, SettingsError> {
    view(args, &mut Layers::new(variables, file))
}

pub(super) fn view(args: &ViewArgs, layers: &mut Layers<'_>) -> Result<View, SettingsError> {
    let (verbosity, decided_by) = verbosity(args, layers)?;
    let output = layers.value(&OUTPUT, args.output, parse_choice)?;
    let output_by = layers
        .origins
        .get(OUTPUT.name())
        .copied()
        .unwrap_or(Origin::Default);
    let color = layers.value(&COLOR, args.color, parse_choice)?;
    let (verbosity, output) = match (verbosity, output) {
        (Verbosity::Quiet, Output::Json) if decided_by == output_by => {
            let message = "quiet and JSON output exclude each other";
            return Err(match decided_by {
                Origin::Flag => SettingsError::Usage(format!("`--quiet` and `--output json`: {message}")),
                _ => SettingsError::Conflict(format!("RALPH_QUIET and RALPH_OUTPUT: {message}")),
            });
        }
        // Of two that exclude each other, the place that counts more decides.
        (Verbosity::Quiet, Output::Json) if decided_by < output_by => (Verbosity::Normal, output),
        (Verbosity::Quiet, Output::Json) => (verbosity, Output::Text),
        other => other,
    };
    Ok(View {
        verbosity,
        color,
        output,
    })
}

/// A flag decides both. A variable decides its own, and where that leaves nothing, the file decides what no variable
/// has.
fn verbosity(args: &ViewArgs, layers: &mut Layers<'_>) -> Result<(Verbosity, Origin), SettingsError> {
    let decided = match (args.quiet, args.verbose) {
        (true, true) => {
            return Err(SettingsError::Usage(
                "`--verbose` and `--quiet` exclude each other".to_owned(),
            ));
        }
        (false, false) => below_flags(layers)?,
        (quiet, verbose) => (of(quiet, verbose), Origin::Flag),
    };
    for setting in [&QUIET, &VERBOSE] {
        layers.origins.insert(setting.name().to_owned(), decided.1);
    }
    Ok(decided)
}

fn below_flags(layers: &Layers<'_>) -> Result<(Verbosity, Origin), SettingsError> {
    let quiet = layers.stated(&QUIET, None, parse_switch)?.map(|(value, _)| value);
    let verbose = layers
        .stated(&VERBOSE, None, parse_switch)?
        .map(|(value, _)| value);
    if quiet == Some(true) || verbose == Some(true) {
        return Ok((
            of(quiet == Some(true), verbose == Some(true)),
            Origin::Environment,
        ));
    }
    let filed = |setting| {
        layers
            .filed(setting, parse_switch)
            .map(|value| value.is_some_and(|(value, _)| value))
    };
    let (is_quiet, is_verbose) = (
        quiet.is_none() && filed(&QUIET)?,
        verbose.is_none() && filed(&VERBOSE)?,
    );
    let origin = match (is_quiet || is_verbose, quiet.or(verbose)) {
        (true, _) => Origin::File,
        (false, Some(_)) => Origin::Environment,
        (false, None) => Origin::Default,
    };
    Ok((of(is_quiet, is_verbose), origin))
}

/// In one place, quiet wins.
fn of(is_quiet: bool, is_verbose: bool) -> Verbosity {
    match (is_quiet, is_verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    }
}
