//! Looks for the installed agents, for the server's page.

use agent_api::{Detected, capability};
use ralph_run::Home;
use ralph_run::control::PermissionChoice;
use ralph_server::{BackendInfo, FoundBackends};

use crate::commands::run::RunArgs;
use crate::commands::run::{options, registry};
use crate::settings::{OpenedFile, open_file};
use crate::trust::Policy;

/// Looks for every agent, with the settings of the server's own directory.
pub(super) async fn find_here(home: &Home) -> FoundBackends {
    let found = async {
        let cwd = std::env::current_dir()?;
        find(&open_file(None, &cwd, &Policy::as_stored(home))?).await
    };
    let items = found.await.unwrap_or_else(|error: anyhow::Error| {
        tracing::warn!(%error, "cannot look for agents");
        Vec::new()
    });
    FoundBackends {
        items,
        untrusted: None,
    }
}

/// Looks for every agent, with the settings of a workspace that apply.
pub(super) async fn find(opened: &OpenedFile) -> anyhow::Result<Vec<BackendInfo>> {
    let args = RunArgs {
        directory: Some(opened.workspace().to_owned()),
        ..RunArgs::default()
    };
    let variables = |name: &str| std::env::var(name).ok();
    let (settings, _) = opened.resolve(&args, &variables)?;
    let options = options(&settings)?;
    let report = registry(&settings)?.detect(&options).await;
    Ok(report.entries.iter().map(describe).collect())
}

fn describe(entry: &Detected) -> BackendInfo {
    let profile = &entry.profile;
    let has = |id| profile.has(id);
    let (version, path, problem) = match &entry.found {
        Ok(found) => (
            found.version.as_ref().map(ToString::to_string),
            Some(found.program.clone()),
            None,
        ),
        Err(error) => (None, None, Some(error.to_string())),
    };
    BackendInfo {
        name: profile.kind.to_string(),
        display_name: profile.display_name.to_owned(),
        is_installed: entry.found.is_ok(),
        version,
        path,
        takes_messages: has(capability::SEND),
        takes_model: has(capability::CONFIG_MODEL),
        permission_modes: permission_modes(has(capability::CONFIG_PERMISSIONS), has(capability::ANSWER)),
        can_resume: has(capability::SESSION_RESUME),
        can_fork: has(capability::SESSION_RESUME) && has(capability::SESSION_FORK),
        can_be_ephemeral: has(capability::SESSION_EPHEMERAL),
        capabilities: profile.capabilities.iter().map(ToString::to_string).collect(),
        problem,
    }
}

/// The permission modes that an agent supports.
fn permission_modes(has_modes: bool, takes_answers: bool) -> Vec<PermissionChoice> {
    use PermissionChoice::{AcceptEdits, Ask, Bypass, Plan, Refuse};
    match (has_modes, takes_answers) {
        (true, true) => vec![Ask, AcceptEdits, Plan, Refuse, Bypass],
        // Its requests could not be answered.
        (true, false) => vec![AcceptEdits, Refuse, Bypass],
        (false, _) => Vec::new(),
    }
}
