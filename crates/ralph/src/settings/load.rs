//! Loads settings for this process: finds the workspace, reads its `ralph.yml` as far as it is trusted, and resolves them.

use std::path::Path;

use super::error::{SettingsError, Warning};
use super::resolve::{Context, resolve};
use super::resolved::Settings;
use super::table::ViewArgs;
use super::view::{View, resolve_view};
use super::workspace::find_workspace;
use crate::commands::run::RunArgs;
use crate::trust::{self, LeftOut, Loaded, Policy};

/// A workspace, and the part of its `ralph.yml` that applies.
#[derive(Debug)]
pub struct OpenedFile {
    context: Context,
    loaded: Option<Loaded>,
}

/// Finds the workspace and reads its `ralph.yml`.
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
    pub fn workspace(&self) -> &Path {
        &self.context.workspace
    }

    /// What was left out of the file because it is not trusted.
    pub fn left_out(&self) -> &[LeftOut] {
        self.loaded.as_ref().map_or(&[], |loaded| &loaded.left_out)
    }

    /// What to say about a file of which something was left out, or that is trusted in spite of something.
    pub fn notice(&self) -> Option<String> {
        self.loaded.as_ref()?.notice(&self.context.workspace)
    }

    /// Why no run starts with this file, and what to do. Empty if nothing was left out.
    pub fn refusal(&self) -> String {
        let loaded = self.loaded.as_ref();
        let refusal = loaded.and_then(|loaded| loaded.refusal(&self.context.workspace));
        refusal.unwrap_or_default()
    }

    /// The settings of a run with these arguments and variables.
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
pub fn load_settings(
    args: &RunArgs,
    variables: &dyn Fn(&str) -> Option<String>,
    cwd: &Path,
    policy: &Policy<'_>,
) -> Result<(Settings, Vec<Warning>), SettingsError> {
    open_file(args.directory.as_deref(), cwd, policy)?.resolve(args, variables)
}

/// How a run is shown in this directory. A `ralph.yml` that is wrong is of no interest here.
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
