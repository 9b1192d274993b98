//! Settings from this process's surroundings: the workspace, its `ralph.yml` as far as it is trusted, the variables.

use std::path::Path;

use super::error::{SettingsError, Warning};
use super::resolve::{Context, resolve};
use super::resolved::Settings;
use super::table::ViewArgs;
use super::view::{View, resolve_view};
use super::workspace::find_workspace;
use crate::commands::run::RunArgs;
use crate::trust::{self, LeftOut, Loaded, Policy};

/// A workspace, and the part of its `ralph.yml` that holds.
#[derive(Debug)]
pub struct OpenedFile {
    context: Context,
    loaded: Option<Loaded>,
}

/// Finds the workspace and reads its `ralph.yml`.
///
/// # Errors
/// If there is no such directory, or the file cannot be read or is wrong.
pub fn open_file(
    directory: Option<&Path>,
    cwd: &Path,
    policy: &Policy<'_>,
) -> Result<OpenedFile, SettingsError> {
    let context = Context {
        cwd: cwd.to_owned(),
        workspace: find_workspace(directory, cwd)?,
    };
    let loaded = trust::load(&context.workspace, policy)?;
    Ok(OpenedFile { context, loaded })
}

impl OpenedFile {
    /// Where the agent works.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.context.workspace
    }

    /// What was left out of the file because it is not trusted.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        self.loaded.as_ref().map_or(&[], |loaded| &loaded.left_out)
    }

    /// What to say about a file of which something was left out, or that is trusted in spite of something.
    #[must_use]
    pub fn notice(&self) -> Option<String> {
        self.loaded.as_ref()?.notice(&self.context.workspace)
    }

    /// Why no run starts with this file, and what to do. Empty if nothing was left out.
    #[must_use]
    pub fn refusal(&self) -> String {
        let loaded = self.loaded.as_ref();
        let refusal = loaded.and_then(|loaded| loaded.refusal(&self.context.workspace));
        refusal.unwrap_or_default()
    }

    /// The settings of a run with these arguments and variables.
    ///
    /// # Errors
    /// If something is wrong or does not fit together.
    pub fn resolve(
        &self,
        args: &RunArgs,
        variables: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Settings, Vec<Warning>), SettingsError> {
        let file = self.loaded.as_ref().map(|loaded| &loaded.file);
        let resolved = resolve(args, variables, file, &self.context);
        resolved.map_err(|error| match self.notice() {
            Some(notice) if !self.left_out().is_empty() => error.with_hint(&notice),
            _ => error,
        })
    }
}

/// The settings of a run that is started from this directory with these variables.
///
/// # Errors
/// If something cannot be read, is wrong, or does not fit together.
pub fn load_settings(
    args: &RunArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
    policy: &Policy<'_>,
) -> Result<(Settings, Vec<Warning>), SettingsError> {
    open_file(args.directory.as_deref(), cwd, policy)?.resolve(args, variables)
}

/// How a run is shown in this directory. A `ralph.yml` that is wrong is of no interest here.
///
/// # Errors
/// If a variable is wrong, or settings do not fit together.
pub fn load_view(
    args: &ViewArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
    policy: &Policy<'_>,
) -> Result<View, SettingsError> {
    let opened = open_file(None, cwd, policy).ok();
    let loaded = opened.and_then(|opened| opened.loaded);
    resolve_view(args, variables, loaded.as_ref().map(|loaded| &loaded.file))
}
