//! `AgentRuns`: starts the runs of agents as `ralph run --detach` does, and observes and stops them.

use agent_api::MicroUsd;
use async_trait::async_trait;
use jiff::Timestamp;
use ralph_agents::{LocalRuns, RunPhase, Runs, StartFailure, StartFailureKind, StartOrder};
use ralph_run::{Durability, Home, RunDirectory, RunFile, RunKind, write_atomic};

use crate::commands::run::{
    RunArgs, Start, StartError, check_prompt, is_starting, session_of, start_detached, use_backend_of,
};
use crate::settings::values::Names;
use crate::settings::{BackendName, Origin, SETTINGS, Settings, SettingsLayer, open_file};
use crate::trust::Policy;

/// Beside `agent.json`, because the agent's program reads it from a file.
const SYSTEM_PROMPT_FILE: &str = "system-prompt.md";

#[derive(Debug)]
pub(super) struct AgentRuns {
    local: LocalRuns,
}

/// The run whose session is continued.
struct Resumed {
    run: RunDirectory,
    file: RunFile,
    session: String,
}

impl AgentRuns {
    pub(super) fn new(home: Home) -> Self {
        Self {
            local: LocalRuns::new(home),
        }
    }

    /// The run whose session is to be continued, if that is still possible.
    fn resumed(&self, order: &StartOrder) -> Option<Resumed> {
        let run = self.local.home().run(order.resumes.as_deref()?)?;
        let file = RunFile::load(&run.run_file()).ok()?;
        let session = session_of(&run, &file, &order.workspace).ok()?;
        Some(Resumed { run, file, session })
    }

    async fn start_run(&self, order: &StartOrder, resumed: Option<Resumed>) -> Result<(), StartFailure> {
        let home = self.local.home();
        let session = resumed.as_ref().map(|resumed| &resumed.session);
        let args = self.arguments(order, session)?;
        let variables = |name: &str| std::env::var(name).ok();
        let opened = open_file(Some(&order.workspace), &order.workspace, &Policy::as_stored(home));
        let opened = opened.map_err(|error| needs_person(error.to_string()))?;
        if !opened.left_out().is_empty() {
            return Err(needs_person(opened.refusal()));
        }
        let resolved = opened.resolve(&args, &variables);
        let (mut settings, _) = resolved.map_err(|error| needs_person(error.to_string()))?;
        if let Some(Resumed { run, file, .. }) = &resumed {
            use_backend_of(run, file, &mut settings).map_err(needs_person)?;
        }
        limit_cost(&mut settings, order.max_cost);
        check_prompt(&settings, Some(&order.prompt)).map_err(|failure| needs_person(failure.message))?;
        let start = Start {
            settings,
            prompt: Some(order.prompt.clone()),
            resumed_from: resumed.map(|resumed| resumed.run.id().to_owned()),
            run_id: Some(order.run.clone()),
            by: Some(format!("agent {}", order.agent.name)),
        };
        let started = start_detached(home, &start).await;
        started.map(drop).map_err(failure_of)
    }

    fn arguments(&self, order: &StartOrder, session: Option<&String>) -> Result<RunArgs, StartFailure> {
        let agent = &order.agent;
        let backend = agent.backend.clone().map(BackendName::try_from).transpose();
        let backend = backend.map_err(|message| needs_person(format!("`backend` {message}")))?;
        let settings = SettingsLayer {
            prompt: Some(order.prompt.clone()),
            backend,
            model: agent.model.clone(),
            mode: agent.mode.clone(),
            permission_mode: agent.permission_mode,
            allowed_tools: (!agent.allowed_tools.is_empty()).then(|| Names(agent.allowed_tools.clone())),
            append_system_prompt_file: self.write_system_prompt(order)?,
            ..SettingsLayer::default()
        };
        Ok(RunArgs {
            directory: Some(order.workspace.clone()),
            settings,
            interactive: agent.run_kind() == RunKind::Session,
            resume: session.cloned(),
            detach: true,
            ..RunArgs::default()
        })
    }

    fn write_system_prompt(&self, order: &StartOrder) -> Result<Option<std::path::PathBuf>, StartFailure> {
        let Some(text) = &order.agent.system_prompt else {
            return Ok(None);
        };
        let folder = self
            .local
            .home()
            .agents_directory()
            .join(order.agent.name.as_str());
        let path = folder.join(SYSTEM_PROMPT_FILE);
        match write_atomic(&path, text.as_bytes(), Durability::Cached) {
            Ok(()) => Ok(Some(path)),
            Err(error) => Err(StartFailure {
                kind: StartFailureKind::Other,
                message: format!("cannot write `{}`: {error}", path.display()),
            }),
        }
    }
}

fn needs_person(message: impl Into<String>) -> StartFailure {
    StartFailure {
        kind: StartFailureKind::NeedsPerson,
        message: message.into(),
    }
}

fn failure_of(error: StartError) -> StartFailure {
    StartFailure {
        message: error.to_string(),
        kind: match error {
            StartError::Busy { .. } => StartFailureKind::Busy,
            StartError::Invalid { .. } | StartError::BackendUnavailable { .. } => {
                StartFailureKind::NeedsPerson
            }
            StartError::Other { .. } => StartFailureKind::Other,
        },
    }
}

/// Lowers the cost limit to what is left of the day. It counts as given by a flag, so that a backend whose costs nobody
/// knows is refused.
fn limit_cost(settings: &mut Settings, left: Option<MicroUsd>) {
    let Some(left) = left else { return };
    let own = settings.limits.cost.unwrap_or(left);
    settings.limits.cost = Some(own.min(left));
    for setting in SETTINGS.iter().filter(|setting| setting.flag == "--max-cost") {
        settings.origins.insert(setting.name().to_owned(), Origin::Flag);
    }
}

/// Runs name the kind of their backend (`claude_code`), agents the name that people type (`claude`). With one name for
/// both, all agents of an account wait for its usage limit.
fn with_typed_name(mut phase: RunPhase) -> RunPhase {
    let typed =
        |kind: &str| BackendName::try_from(kind.to_owned()).map_or_else(|_| kind.to_owned(), String::from);
    match &mut phase {
        RunPhase::Live(live) => live.backend = typed(&live.backend),
        RunPhase::Ended(ended) => ended.backend = ended.backend.as_deref().map(typed),
        RunPhase::Absent | RunPhase::Starting => {}
    }
    phase
}

#[async_trait]
impl Runs for AgentRuns {
    fn new_id(&self, now: Timestamp) -> String {
        self.local.new_id(now)
    }

    fn observe(&self, run: &str, now: Timestamp) -> RunPhase {
        let phase = self.local.observe(run, now);
        let directory = self.local.home().run(run);
        let phase = match (&phase, directory) {
            // Of a reconciler that was killed while it started the run.
            (RunPhase::Starting, Some(directory)) if !is_starting(&directory) => {
                let _ = ralph_run::reconcile(self.local.home(), now);
                self.local.observe(run, now)
            }
            _ => phase,
        };
        with_typed_name(phase)
    }

    async fn start(&self, order: &StartOrder) -> Result<(), StartFailure> {
        if let Some(resumed) = self.resumed(order) {
            match self.start_run(order, Some(resumed)).await {
                // Not every backend can resume a session. Then the work begins again.
                Err(failure) if failure.kind == StartFailureKind::NeedsPerson => {}
                other => return other,
            }
        }
        self.start_run(order, None).await
    }

    async fn stop(&self, run: &str) -> Result<(), String> {
        self.local.stop(run).await
    }

    async fn close_input(&self, run: &str) -> Result<(), String> {
        self.local.close_input(run).await
    }
}

#[cfg(test)]
mod tests {
    use ralph_agents::{EndedRun, RunPhase};

    use super::with_typed_name;

    #[test]
    fn a_run_has_the_backend_name_that_people_type() {
        for (kind, typed) in [
            ("claude_code", "claude"),
            ("codex", "codex"),
            ("of a newer version", "of a newer version"),
        ] {
            let ended = RunPhase::Ended(EndedRun {
                reason: None,
                message: None,
                ended_at: None,
                cost: agent_api::MicroUsd::ZERO,
                backend: Some(kind.to_owned()),
                session_id: None,
                limit_until: None,
            });
            let phase = with_typed_name(ended);
            assert!(
                matches!(&phase, RunPhase::Ended(ended) if ended.backend.as_deref() == Some(typed)),
                "{phase:?}"
            );
        }
    }
}
