//! Starting runs for the server, in processes of their own.

use std::path::Path;

use agent_api::MicroUsd;
use async_trait::async_trait;
use ralph_run::RunKind;
use ralph_run::control::PermissionChoice;
use ralph_run::{Home, RunFile};
use ralph_server::{BackendInfo, LaunchError, Launcher, SessionStart, StartRun, UntrustedSetting};

use super::backends;
use crate::commands::run::RunArgs;
use crate::commands::run::{Start, StartError, check_prompt, session_of, start_detached};
use crate::settings::values::parse_money;
use crate::settings::{
    BackendName, OpenedFile, Origin, PermissionMode, SETTINGS, SettingsError, SettingsLayer, open_file,
};
use crate::trust::Policy;
use crate::versions::VersionFile;

/// Starts runs as `ralph run --detach` does.
pub(super) struct Detached {
    home: Home,
    versions: Option<VersionFile>,
}

impl Detached {
    pub(super) fn new(home: Home, versions: Option<VersionFile>) -> Self {
        Self { home, versions }
    }

    /// The session that a run had last.
    fn session_of(&self, run: &str) -> Result<String, LaunchError> {
        let invalid = |message: String| LaunchError::Invalid { message };
        let directory = self
            .home
            .run(run)
            .ok_or_else(|| invalid(format!("no run `{run}` to resume")))?;
        let file = RunFile::load(&directory.run_file()).map_err(|error| invalid(error.to_string()))?;
        session_of(&directory, &file).map_err(invalid)
    }
}

#[async_trait]
impl Launcher for Detached {
    async fn start(&self, id: Option<&str>, request: StartRun) -> Result<String, LaunchError> {
        let (args, resumed_from) = self.arguments(&request)?;
        let variables = |name: &str| std::env::var(name).ok();
        let invalid = |error: SettingsError| LaunchError::Invalid {
            message: error.to_string(),
        };
        let policy = Policy::as_stored(&self.home);
        let opened = open_file(Some(&request.workspace), &request.workspace, &policy).map_err(invalid)?;
        if !opened.left_out().is_empty() {
            return Err(untrusted(&opened));
        }
        let (mut settings, _) = opened.resolve(&args, &variables).map_err(invalid)?;
        check_prompt(&settings, request.prompt.as_deref()).map_err(|failure| LaunchError::Invalid {
            message: failure.message,
        })?;
        // We say this of every agent, so one that does not know it runs without.
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
            resumed_from,
            run_id: id.map(str::to_owned),
        };
        let started = start_detached(&self.home, &start, self.versions.as_ref()).await?;
        Ok(started.run_id)
    }

    async fn backends(&self) -> Vec<BackendInfo> {
        backends::find(&self.home).await
    }
}

impl Detached {
    fn arguments(&self, request: &StartRun) -> Result<(RunArgs, Option<String>), LaunchError> {
        check_workspace(&request.workspace)?;
        let backend = request.backend.as_deref().map(backend_named).transpose()?;
        let (resume, fork, resumed_from) = match &request.session {
            SessionStart::New => (None, false, None),
            SessionStart::Resume { run } => (Some(self.session_of(run)?), false, Some(run.clone())),
            SessionStart::Fork { run } => (Some(self.session_of(run)?), true, Some(run.clone())),
        };
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
            // A person can answer on the page.
            ask: Some(true),
            permission_mode: Some(permission(
                request.permission_mode.unwrap_or(PermissionChoice::Ask),
            )),
            ..SettingsLayer::default()
        };
        let args = RunArgs {
            directory: Some(request.workspace.clone()),
            settings,
            interactive: request.kind == RunKind::Session,
            ephemeral: request.ephemeral,
            task: request.task.clone(),
            once: request.once,
            resume,
            fork,
            detach: true,
            ..RunArgs::default()
        };
        Ok((args, resumed_from))
    }
}

/// A person on the machine has to decide: the client may be a page, a script or an agent.
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
        "is no directory"
    } else {
        return Ok(());
    };
    Err(LaunchError::Invalid {
        message: format!("the workspace `{}` {problem}", workspace.display()),
    })
}

fn backend_named(name: &str) -> Result<BackendName, LaunchError> {
    BackendName::try_from(name.to_owned()).map_err(|message| LaunchError::Invalid {
        message: format!("`backend` {message}"),
    })
}

fn money(dollars: f64) -> Result<MicroUsd, LaunchError> {
    // A program that computes 0.1 + 0.2 means 0.3. The smallest amount is no reason for no limit.
    let dollars = if dollars > 0.0 {
        dollars.max(0.000_001)
    } else {
        dollars
    };
    parse_money(&format!("{dollars:.6}")).map_err(|_| LaunchError::Invalid {
        message: "`max_cost_usd` must be a number of dollars, 0 for no limit".to_owned(),
    })
}

fn permission(choice: PermissionChoice) -> PermissionMode {
    match choice {
        PermissionChoice::Ask => PermissionMode::Ask,
        PermissionChoice::AcceptEdits => PermissionMode::AcceptEdits,
        PermissionChoice::Plan => PermissionMode::Plan,
        PermissionChoice::Refuse => PermissionMode::Refuse,
        PermissionChoice::Bypass => PermissionMode::Bypass,
    }
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
