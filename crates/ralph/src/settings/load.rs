//! Settings from this process's surroundings.

use std::path::Path;

use super::error::{SettingsError, Warning};
use super::file::ConfigFile;
use super::resolve::{Context, resolve};
use super::resolved::Settings;
use super::view::{View, resolve_view};
use super::workspace::find_workspace;
use crate::cli::{RunArgs, ViewArgs};

/// The settings of a run that is started from this directory with these variables.
///
/// # Errors
/// If something cannot be read, is wrong, or does not fit together.
pub fn load_settings(
    args: &RunArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> Result<(Settings, Vec<Warning>), SettingsError> {
    let context = Context {
        cwd: cwd.to_owned(),
        workspace: find_workspace(args.directory.as_deref(), cwd)?,
    };
    let file = ConfigFile::load(&context.workspace)?;
    resolve(args, variables, file.as_ref(), &context)
}

/// How a run is shown in this directory. A `ralph.yml` that is wrong is of no interest here.
///
/// # Errors
/// If a variable is wrong, or settings do not fit together.
pub fn load_view(
    args: &ViewArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
) -> Result<View, SettingsError> {
    let file = find_workspace(None, cwd).and_then(|workspace| ConfigFile::load(&workspace));
    resolve_view(args, variables, file.ok().flatten().as_ref())
}
