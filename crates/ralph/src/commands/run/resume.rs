//! `--resume RUN`: continues the session of an earlier run. Also for runs that the server starts.

use std::path::Path;

use ralph_run::{FindError, Home, RunDirectory, RunFile};

use crate::commands::run_client;
use crate::failure::Failure;
use crate::settings::{BackendName, SessionStart, Settings};

/// Replaces a run in `--resume` by its last session. Returns the run's id; `None` if a session is named.
pub(super) fn resolve_run(settings: &mut Settings, home: &Home) -> anyhow::Result<Option<String>> {
    let SessionStart::Resume { id, .. } = &mut settings.session else {
        return Ok(None);
    };
    let run = match run_client::find(home, id) {
        Ok(run) => run,
        Err(error) => match error.downcast_ref::<FindError>() {
            Some(FindError::Unknown(_)) => return Ok(None),
            _ => return Err(error),
        },
    };
    let file = run_client::load(&run)?;
    *id = session_of(&run, &file, &settings.workspace).map_err(Failure::usage)?;
    use_backend_of(&run, &file, settings).map_err(Failure::usage)?;
    Ok(Some(run.id().to_owned()))
}

/// A session can only be continued by the agent that started it: chooses that one if the settings choose none.
///
/// # Errors
/// If the settings choose another one.
pub(in crate::commands) fn use_backend_of(
    run: &RunDirectory,
    file: &RunFile,
    settings: &mut Settings,
) -> Result<(), String> {
    // A backend of a newer version is not in the list; the agent itself refuses a session of another one.
    let Ok(own) = BackendName::try_from(file.backend.as_str().to_owned()) else {
        return Ok(());
    };
    let chosen = &mut settings.agent.backend;
    if chosen.is_auto() {
        *chosen = own;
    } else if *chosen != own {
        return Err(format!(
            "run {} used the backend `{own}` and cannot be resumed with `{chosen}`; add `--backend {own}`, or start a new \
             run",
            run.short_id()
        ));
    }
    Ok(())
}

/// The session with which a run can be continued in this workspace, or why there is none.
pub(in crate::commands) fn session_of(
    run: &RunDirectory,
    file: &RunFile,
    workspace: &Path,
) -> Result<String, String> {
    let id = run.short_id();
    let here = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
    if Path::new(&file.workspace) != here {
        return Err(format!(
            "run {id} worked in `{}`; resume it there, with `-C {0}`",
            file.workspace
        ));
    }
    if file.is_ephemeral {
        return Err(format!(
            "run {id} cannot be resumed: it was started with `--ephemeral`, so its session was not saved"
        ));
    }
    file.session_ids
        .last()
        .cloned()
        .ok_or_else(|| format!("run {id} cannot be resumed: its agent started no session; start a new run"))
}
