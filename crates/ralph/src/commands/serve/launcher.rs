//! `Detached`: starts runs for the server, each in its own process.

use std::path::Path;

use agent_api::MicroUsd;
use async_trait::async_trait;
use ralph_run::RunKind;
use ralph_run::control::PermissionChoice;
use ralph_run::{Home, RunDirectory, RunFile};
use ralph_server::{BackendInfo, LaunchError, Launcher, SessionStart, StartRun, UntrustedSetting};

use super::backends;
use crate::commands::run::RunArgs;
use crate::commands::run::{Start, StartError, check_prompt, session_of, start_detached, use_backend_of};
use crate::settings::values::parse_money;
use crate::settings::{BackendName, OpenedFile, Origin, SETTINGS, SettingsError, SettingsLayer, open_file};
use crate::trust::Policy;

/// Starts runs as `ralph run --detach` does.
#[derive(Debug)]
pub(in crate::commands) struct Detached {
    pub(in crate::commands) home: Home,
}

impl Detached {
    /// The run whose session a request continues.
    fn resumed(&self, session: &SessionStart) -> Result<Option<(RunDirectory, RunFile)>, LaunchError> {
        let (SessionStart::Resume { run } | SessionStart::Fork { run }) = session else {
            return Ok(None);
        };
        let directory = self
            .home
            .run(run)
            .ok_or_else(|| invalid(format!("no run `{run}` to resume")))?;
        let file = RunFile::load(&directory.run_file()).map_err(|error| invalid(error.to_string()))?;
        Ok(Some((directory, file)))
    }
}

fn invalid(message: String) -> LaunchError {
    LaunchError::Invalid { message }
}

#[async_trait]
impl Launcher for Detached {
    async fn start(&self, id: Option<&str>, request: StartRun) -> Result<String, LaunchError> {
        let resumed = self.resumed(&request.session)?;
        let args = arguments(&request, resumed.as_ref())?;
        let variables = |name: &str| std::env::var(name).ok();
        let wrong_setting = |error: SettingsError| invalid(error.to_string());
        let policy = Policy::as_stored(&self.home);
        let opened =
            open_file(Some(&request.workspace), &request.workspace, &policy).map_err(wrong_setting)?;
        if !opened.left_out().is_empty() {
            return Err(untrusted(&opened));
        }
        let (mut settings, _) = opened.resolve(&args, &variables).map_err(wrong_setting)?;
        if let Some((run, file)) = &resumed {
            use_backend_of(run, file, &mut settings).map_err(invalid)?;
        }
        check_prompt(&settings, request.prompt.as_deref()).map_err(|failure| invalid(failure.message))?;
        // The server sets these for every agent, so an agent without them runs without them.
        let said = ["--ask"]
            .into_iter()
            .chain(request.permission_mode.is_none().then_some("--permission-mode"));
        for flag in said {
            for setting in SETTINGS.iter().filter(|setting| setting.flag == flag) {
                settings
                    .origins
                    .insert(setting.name().to_owned(), Origin::Default);
            }
        }
        let start = Start {
            settings,
            prompt: request.prompt,
            resumed_from: resumed.map(|(run, _)| run.id().to_owned()),
            run_id: id.map(str::to_owned),
        };
        let started = start_detached(&self.home, &start).await?;
        Ok(started.run_id)
    }

    async fn backends(&self) -> Vec<BackendInfo> {
        backends::find(&self.home).await
    }
}

/// The request as a command line of `ralph run`.
fn arguments(request: &StartRun, resumed: Option<&(RunDirectory, RunFile)>) -> Result<RunArgs, LaunchError> {
    check_workspace(&request.workspace)?;
    let backend = request.backend.as_deref().map(backend_named).transpose()?;
    let resume = resumed
        .map(|(run, file)| session_of(run, file, &request.workspace).map_err(invalid))
        .transpose()?;
    let max_cost = request.max_cost_usd.map(money).transpose()?;
    let settings = SettingsLayer {
        prompt: request.prompt.clone(),
        backend,
        model: request.model.clone(),
        mode: request.mode.clone(),
        verify: request.verify.clone().filter(|commands| !commands.is_empty()),
        max_iterations: request.max_iterations,
        max_cost,
        max_runtime: request.max_runtime_seconds.map(std::time::Duration::from_secs),
        max_turns: request.max_turns,
        max_tokens: request.max_tokens,
        // A user can answer on the page.
        ask: Some(true),
        permission_mode: request.permission_mode.or(Some(PermissionChoice::Ask)),
        ..SettingsLayer::default()
    };
    Ok(RunArgs {
        directory: Some(request.workspace.clone()),
        settings,
        interactive: request.kind == RunKind::Session,
        ephemeral: request.ephemeral,
        task: request.task.clone(),
        once: request.once,
        resume,
        fork: matches!(request.session, SessionStart::Fork { .. }),
        detach: true,
        ..RunArgs::default()
    })
}

/// Only a user on this machine can trust a file: the client may be a page, a script or an agent.
fn untrusted(opened: &OpenedFile) -> LaunchError {
    let settings = opened.left_out().iter().map(|left_out| UntrustedSetting {
        key: left_out.key.clone(),
        value: left_out.value.clone(),
        effect: left_out.why.explain().to_owned(),
    });
    LaunchError::Untrusted {
        message: opened.refusal(),
        settings: settings.collect(),
    }
}

fn check_workspace(workspace: &Path) -> Result<(), LaunchError> {
    let problem = if !workspace.is_absolute() {
        "must be an absolute path"
    } else if !workspace.is_dir() {
        "is not a directory"
    } else {
        return Ok(());
    };
    Err(invalid(format!(
        "the workspace `{}` {problem}",
        workspace.display()
    )))
}

fn backend_named(name: &str) -> Result<BackendName, LaunchError> {
    BackendName::try_from(name.to_owned()).map_err(|message| invalid(format!("`backend` {message}")))
}

fn money(dollars: f64) -> Result<MicroUsd, LaunchError> {
    // Rounds sums such as 0.1 + 0.2, but a tiny amount does not become 0, which means no limit.
    let dollars = if dollars > 0.0 {
        dollars.max(0.000_001)
    } else {
        dollars
    };
    parse_money(&format!("{dollars:.6}"))
        .map_err(|_| invalid("`max_cost_usd` must be a number of dollars, 0 for no limit".to_owned()))
}

impl From<StartError> for LaunchError {
    fn from(error: StartError) -> Self {
        let message = error.to_string();
        match error {
            StartError::Invalid { .. } => Self::Invalid { message },
            StartError::Busy { .. } => Self::Busy { message },
            StartError::BackendUnavailable { .. } => Self::BackendUnavailable { message },
            StartError::Other { .. } => Self::Failed { message },
        }
    }
}
