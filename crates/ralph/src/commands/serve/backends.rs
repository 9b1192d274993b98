//! The agents there are, for the server's page.

use agent_api::{ReportEntry, capability};
use ralph_run::control::PermissionChoice;
use ralph_server::BackendInfo;

use crate::cli::RunArgs;
use crate::commands::run::{gateway, options};
use crate::settings::load_settings;

/// Looks for every agent, with the settings that a run without any would have.
pub(super) async fn find() -> Vec<BackendInfo> {
    let variables = |name: &str| std::env::var(name).ok();
    let found = async {
        let cwd = std::env::current_dir()?;
        let (settings, _) = load_settings(&RunArgs::default(), &variables, &cwd)?;
        let options = options(&settings)?;
        let gateway = gateway(&settings)?;
        let report = gateway.detect(&options).await;
        let entries = report.entries.into_iter().map(|entry| {
            let profile = gateway
                .backend(entry.kind.as_str())
                .map(|backend| backend.profile().clone());
            describe(entry, profile.ok())
        });
        anyhow::Ok(entries.collect())
    };
    found.await.unwrap_or_else(|error: anyhow::Error| {
        tracing::warn!(%error, "the agents cannot be looked for");
        Vec::new()
    })
}

fn describe(entry: ReportEntry, profile: Option<agent_api::Profile>) -> BackendInfo {
    let has = |id| profile.as_ref().is_some_and(|profile| profile.has(id));
    let capabilities = profile
        .as_ref()
        .map(|profile| profile.capabilities.iter().map(ToString::to_string).collect());
    let (version, path, problem) = match &entry.found {
        Ok(found) => (
            found.version.as_ref().map(ToString::to_string),
            Some(found.program.clone()),
            None,
        ),
        Err(error) => (None, None, Some(error.to_string())),
    };
    BackendInfo {
        name: entry.kind.to_string(),
        display_name: entry.display_name.to_owned(),
        is_installed: entry.found.is_ok(),
        version,
        path,
        takes_messages: has(capability::SEND),
        takes_model: has(capability::CONFIG_MODEL),
        permission_modes: permission_modes(has(capability::CONFIG_PERMISSIONS), has(capability::ANSWER)),
        can_resume: has(capability::SESSION_RESUME),
        can_fork: has(capability::SESSION_RESUME) && has(capability::SESSION_FORK),
        can_be_ephemeral: has(capability::SESSION_EPHEMERAL),
        capabilities: capabilities.unwrap_or_default(),
        problem,
    }
}

/// What an agent can be told about what may happen without asking.
fn permission_modes(has_modes: bool, takes_answers: bool) -> Vec<PermissionChoice> {
    use PermissionChoice::{AcceptEdits, Ask, Bypass, Plan, Refuse};
    match (has_modes, takes_answers) {
        (true, true) => vec![Ask, AcceptEdits, Plan, Refuse, Bypass],
        // Nobody could answer it.
        (true, false) => vec![AcceptEdits, Refuse, Bypass],
        (false, _) => Vec::new(),
    }
}
