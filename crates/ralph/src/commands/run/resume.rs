//! `--resume RUN`: the session of an earlier run.

use anyhow::bail;
use ralph_run::{FindError, Home, RunDirectory, RunFile};

use crate::commands::run_client;
use crate::failure::Failure;
use crate::settings::{SessionStart, Settings};

/// Replaces a run in `--resume` by its last session. Returns the run's id; none where a session is named.
///
/// # Errors
/// When several runs are meant, or the run has no session that can be resumed here.
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
    if std::path::Path::new(&file.workspace) != settings.workspace {
        bail!(Failure::usage(format!(
            "run {} worked in `{}`; resume it there, with `-C {1}`",
            run.short_id(),
            file.workspace
        )));
    }
    *id = session_of(&run, &file).map_err(Failure::usage)?;
    Ok(Some(run.id().to_owned()))
}

/// The session with which a run can be continued, or why there is none.
pub(in crate::commands) fn session_of(run: &RunDirectory, file: &RunFile) -> Result<String, String> {
    let id = run.short_id();
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
