//! `View`: how a run is shown, resolved from `ViewArgs`, the environment and `ralph.yml`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::choices::{ColorChoice, Output, ThemeChoice};
use super::error::SettingsError;
use super::file::ConfigFile;
use super::layer::{Layer as _, Origin};
use super::table::ViewArgs;

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    pub verbosity: Verbosity,
    pub color: ColorChoice,
    pub output: Output,
    /// Whether a run is shown in the terminal UI.
    #[serde(default)]
    pub tui: bool,
    #[serde(default)]
    pub theme: ThemeChoice,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verbosity {
    Quiet,
    #[default]
    Normal,
    /// Also tool results, thinking and usage.
    Verbose,
}

/// A view, and its part of the report of `--dry-run`.
pub(super) struct ResolvedView {
    pub(super) view: View,
    pub(super) shown: BTreeMap<String, String>,
    pub(super) origins: BTreeMap<String, Origin>,
}

/// How a run is shown, for the commands that only show one.
pub fn resolve_view(
    args: &ViewArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    file: Option<&ConfigFile>,
) -> Result<View, SettingsError> {
    view(args, variables, file).map(|resolved| resolved.view)
}

pub(super) fn view(
    flags: &ViewArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    file: Option<&ConfigFile>,
) -> Result<ResolvedView, SettingsError> {
    let environment = ViewArgs::read_variables(variables, flags)?;
    let file = file.map(|file| file.view.clone()).unwrap_or_default();
    let (verbosity, verbosity_by) = verbosity(flags, &environment, &file)?;
    let mut origins = BTreeMap::new();
    for (origin, layer) in [
        (Origin::File, &file),
        (Origin::Environment, &environment),
        (Origin::Flag, flags),
    ] {
        layer.note_origins(origin, &mut origins);
    }
    for name in ["verbose", "quiet"] {
        origins.insert(name.to_owned(), verbosity_by);
    }
    let output_by = origins.get("--output").copied().unwrap_or(Origin::Default);
    let mut merged = flags.clone().or(environment).or(file).or(ViewArgs::defaults()?);
    let output = merged.output.unwrap_or(Output::Text);
    let color = merged.color.unwrap_or(ColorChoice::Auto);
    let (verbosity, output) = match (verbosity, output) {
        (Verbosity::Quiet, Output::Json) if verbosity_by == output_by => {
            let message = "quiet and JSON output cannot be combined";
            return Err(match verbosity_by {
                Origin::Flag => SettingsError::Usage(format!("`--quiet` and `--output json`: {message}")),
                _ => SettingsError::Conflict(format!("RALPH_QUIET and RALPH_OUTPUT: {message}")),
            });
        }
        // The higher layer decides.
        (Verbosity::Quiet, Output::Json) if verbosity_by < output_by => (Verbosity::Normal, output),
        (Verbosity::Quiet, Output::Json) => (verbosity, Output::Text),
        other => other,
    };
    merged.quiet = Some(verbosity == Verbosity::Quiet);
    merged.verbose = Some(verbosity == Verbosity::Verbose);
    merged.output = Some(output);
    Ok(ResolvedView {
        view: View {
            verbosity,
            color,
            output,
            tui: merged.tui == Some(true),
            theme: merged.theme.unwrap_or_default(),
        },
        shown: merged.show(),
        origins,
    })
}

/// A flag decides both. A variable decides its own, and if both variables leave it at normal, the file decides what no
/// variable has.
fn verbosity(
    flags: &ViewArgs,
    environment: &ViewArgs,
    file: &ViewArgs,
) -> Result<(Verbosity, Origin), SettingsError> {
    let is_on = |layer: &ViewArgs| (layer.quiet == Some(true), layer.verbose == Some(true));
    match is_on(flags) {
        (true, true) => {
            let message = "`--verbose` cannot be used with `--quiet`";
            return Err(SettingsError::Usage(message.to_owned()));
        }
        (false, false) => {}
        (quiet, verbose) => return Ok((verbosity_of(quiet, verbose), Origin::Flag)),
    }
    if let (quiet, verbose) = is_on(environment)
        && (quiet || verbose)
    {
        return Ok((verbosity_of(quiet, verbose), Origin::Environment));
    }
    let (quiet, verbose) = is_on(file);
    let (quiet, verbose) = (
        quiet && environment.quiet.is_none(),
        verbose && environment.verbose.is_none(),
    );
    let origin = match (quiet || verbose, environment.quiet.or(environment.verbose)) {
        (true, _) => Origin::File,
        (false, Some(_)) => Origin::Environment,
        (false, None) => Origin::Default,
    };
    Ok((verbosity_of(quiet, verbose), origin))
}

/// In one layer, quiet wins.
fn verbosity_of(is_quiet: bool, is_verbose: bool) -> Verbosity {
    match (is_quiet, is_verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    }
}
