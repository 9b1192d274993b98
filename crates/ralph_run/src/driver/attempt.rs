//! `Attempt`: one process of the agent, from its prompt to the report of its end.

use std::path::Path;

use agent_api::{
    Body, Close, Completed, CostBasis, Error, Input as AgentInput, RunHandle, RunRequest, SessionChoice,
    capability, new_session_id,
};
use agent_process::clock;
use jiff::Timestamp;
use tokio::time::Instant;

use super::run::Driver;
use super::task::TaskNews;
use super::workspace_keeper::Charge;
use crate::machine::{AttemptReport, Handover, Input, SpawnPrompt};
use crate::prompt::{IterationPrompt, Notes, read_notes};
use crate::record::{AttemptStarted, IterationStarted, MessageSent, RunBody, WarningKind};
use crate::state::LogName;

/// How much of what was streamed is kept, in case the agent gives no final text.
const MAX_STREAMED_BYTES: usize = 256 * 1024;

/// The code of an error about a session that the agent does not have.
const UNKNOWN_SESSION: &str = "unknown_session";

/// How much of a prompt a list of runs shows.
const PROMPT_CHARACTERS: usize = 200;

pub(super) struct Attempt {
    pub(super) handle: RunHandle,
    /// The end of its events was seen.
    pub(super) has_ended: bool,
    pub(super) started: Instant,
    /// What the main conversation said in its last turn.
    pub(super) streamed: String,
    /// The session that was asked for.
    pub(super) asked_session: Option<String>,
    /// Where the agent said last that it works.
    pub(super) told_directory: Option<String>,
}

impl Attempt {
    pub(super) fn note_text(&mut self, body: &Body) {
        match body {
            Body::TurnStarted(_) => self.streamed.clear(),
            Body::TextBlock(block) => {
                if block.piece.index == 0 && !self.streamed.is_empty() {
                    self.streamed.push('\n');
                }
                self.streamed.push_str(&block.text);
                // The end is what counts: the last line may be the promise.
                if self.streamed.len() > 2 * MAX_STREAMED_BYTES {
                    let start = self
                        .streamed
                        .ceil_char_boundary(self.streamed.len() - MAX_STREAMED_BYTES);
                    self.streamed.drain(..start);
                }
            }
            _ => {}
        }
    }
}

impl Driver {
    /// Starts the agent. Returns why it could not be started.
    pub(super) async fn spawn(
        &mut self,
        position: (u32, u32),
        session: SessionChoice,
        prompt: SpawnPrompt,
    ) -> Option<Input<'static>> {
        let (iteration, attempt) = position;
        self.keeper.set_position(position);
        self.attempts += 1;
        self.run_file.status.iteration = iteration;
        self.run_file.status.attempt = attempt;
        self.is_file_stale = true;
        let (message_id, prompt) = match prompt {
            SpawnPrompt::Message(message) => (Some(message.id), message.text),
            SpawnPrompt::Task => (None, self.spec.task.text().to_owned()),
            SpawnPrompt::Iteration {
                last_failure,
                handover,
            } => {
                // The first iteration has what was just read; a second attempt gets the same as the first.
                if iteration > 1 && attempt == 1 {
                    self.reread_task().await;
                }
                let notes = self.prepare_notes();
                (
                    None,
                    self.compose_prompt(iteration, last_failure, handover, notes),
                )
            }
        };
        if self.run_file.prompt.is_empty() {
            // A session that began without one is known by its first message.
            let shown = self.spec.redactor.redact(&prompt);
            self.run_file.prompt = shown.chars().take(PROMPT_CHARACTERS).collect();
        }
        if attempt == 1 {
            self.keeper.body(RunBody::IterationStarted(IterationStarted {
                number: iteration,
                prompt: prompt.clone(),
                role: self.run_file.status.role.clone(),
            }));
        }
        let session = self.preset(session);
        if let SessionChoice::NewWithId(id) = &session {
            self.lock_session(id);
        }
        let role = self.run_file.status.role.as_deref();
        let mut options = self.spec.role(role).options.clone();
        let raw_log = self.spec.directory.raw_log(self.attempts);
        options.raw_log = Some(raw_log.clone());
        options.stderr_log = Some(self.spec.directory.stderr_log(self.attempts));
        options.marker = Some(self.spec.directory.marker());
        let asked_session = match &session {
            SessionChoice::Resume(id) => Some(id.clone()),
            // Some agents choose the id of a new session themselves, depending on how they are started.
            SessionChoice::NewWithId(_)
            | SessionChoice::New
            | SessionChoice::Fork { .. }
            | SessionChoice::Last
            | SessionChoice::ForkLast { .. } => None,
        };
        if let SessionChoice::Resume(id) = &session
            && let Some(&session_total) = self.session_totals.get(id)
        {
            options.cost_basis = Some(CostBasis::Resumed { session_total });
        }
        options.session = Some(session);
        let mut request = RunRequest::new(prompt).options(options).input(self.agent_input());
        request.prompt_id.clone_from(&message_id);
        self.keeper.flush();
        let started = clock::now();
        let backend = self.spec.started.backend.clone();
        let handle = match self.spec.registry.run(backend.as_str(), request).await {
            Ok(handle) => handle,
            Err(error) => return Some(Input::SpawnFailed(with_causes(&error))),
        };
        let relative = format!("raw/{}.ndjson", self.attempts);
        self.keeper.body(RunBody::AttemptStarted(AttemptStarted {
            number: attempt,
            pid: handle.control.pid(),
            raw_log: relative,
            program: backend.to_string(),
            agent_version: None,
        }));
        if let Some(message_id) = message_id {
            self.keeper.body(RunBody::MessageSent(MessageSent { message_id }));
        }
        self.link_log(&raw_log);
        self.attempt = Some(Attempt {
            handle,
            has_ended: false,
            started,
            streamed: String::new(),
            asked_session,
            told_directory: None,
        });
        None
    }

    fn agent_input(&self) -> AgentInput {
        if self.spec.plan.takes_messages {
            AgentInput::Messages(Close::ByCaller)
        } else {
            AgentInput::PromptOnly
        }
    }

    /// A new conversation gets its id from us where that can be, so that it is known before the agent speaks.
    fn preset(&self, session: SessionChoice) -> SessionChoice {
        let backend = self.spec.registry.backend(self.spec.started.backend.as_str());
        let wanted = capability::SESSION_PRESET_ID;
        let request = RunRequest::new("").input(self.agent_input());
        let can_preset = backend
            .is_ok_and(|backend| backend.profile().has(wanted) && !backend.lacks(&request).contains(&wanted));
        match session {
            SessionChoice::New if can_preset => SessionChoice::NewWithId(new_session_id()),
            session => session,
        }
    }

    pub(super) fn enter_role(&mut self, role: Option<String>) {
        if let Some(role) = &role {
            self.workspace.set_mode(role);
        }
        self.run_file.status.role = role;
    }

    async fn reread_task(&mut self) {
        match self.spec.task.refresh().await {
            Some(TaskNews::Changed(message)) => self.warn(WarningKind::PromptChanged, message),
            Some(TaskNews::Problem(message)) => self.warn(WarningKind::Degraded, message),
            None => {}
        }
    }

    /// Makes the notes a regular file that a run of this user began, and reads them. `None` if that fails: the agent
    /// must not hear of a file that may be a link.
    fn prepare_notes(&mut self) -> Option<Notes> {
        let plan = self.spec.plan.as_loop()?;
        if !plan.has_memory {
            return None;
        }
        // Without files of its own, the run does not know whose notes these are.
        match self.spec.files.as_ref()?.prepare_scratchpad() {
            Ok(None) => self.notes_problem = None,
            Ok(Some(put_aside)) => self.warn(WarningKind::Degraded, put_aside.to_string()),
            Err(error) => {
                let problem = with_causes(&error);
                if self.notes_problem.as_ref() != Some(&problem) {
                    self.notes_problem = Some(problem.clone());
                    let message = format!("{problem}; continuing without notes");
                    self.warn(WarningKind::Degraded, message);
                }
                return None;
            }
        }
        read_notes(&self.spec.home, &self.spec.workspace)
    }

    fn compose_prompt(
        &self,
        iteration: u32,
        last_failure: Option<String>,
        mut handover: Option<Handover>,
        notes: Option<Notes>,
    ) -> String {
        let task = self.spec.task.text();
        let Some(plan) = self.spec.plan.as_loop() else {
            return task.to_owned();
        };
        if let Some(handover) = &mut handover {
            // It goes to the agent's vendor, maybe to another model.
            handover.text = self.spec.redactor.redact(&handover.text).into_owned();
        }
        let role = self.run_file.status.role.as_deref();
        let prompt = IterationPrompt {
            plan,
            max_iterations: self.machine.budget().limits().iterations.unwrap_or(0),
            iteration,
            role,
            instructions: self.spec.role(role).instructions.as_deref(),
            task,
            notes: notes.as_ref(),
            last_failure: last_failure.as_deref(),
            handover: handover.as_ref(),
        };
        prompt.compose()
    }

    /// Lets people find the raw output where they look for it.
    fn link_log(&mut self, raw_log: &Path) {
        let Some(files) = &self.spec.files else { return };
        let role = self.run_file.status.role.as_deref();
        let name = LogName {
            backend: &self.spec.backend_name,
            at: Timestamp::now(),
            mode: role.or(self.spec.started.mode.as_deref()).unwrap_or("run"),
            task: self.spec.started.task.as_deref(),
        };
        if let Err(error) = files.link_log(raw_log, &name) {
            tracing::warn!(%error, "the raw log could not be linked into the workspace");
        }
    }

    /// The process has ended, and all it said was seen.
    pub(super) async fn on_completed(&mut self, completed: Result<Completed, Error>) {
        let Some(attempt) = self.attempt.take() else {
            return;
        };
        // Changes that the process did not live to confirm hold for the next one.
        for (_, change) in std::mem::take(&mut self.changes) {
            self.changed(change);
        }
        let report = match completed {
            Ok(completed) => self.report(attempt, completed),
            // The task that followed the process is gone.
            Err(_) => AttemptReport {
                outcome: agent_api::Outcome::Lost,
                error: None,
                final_text: None,
                is_degraded: false,
                session_id: None,
                exit: agent_api::ExitInfo::default(),
                usage: None,
                duration: clock::elapsed_since(attempt.started),
            },
        };
        self.step(Input::AttemptEnded(report)).await;
        self.keeper.flush();
        self.save_budget();
    }

    fn report(&mut self, attempt: Attempt, completed: Completed) -> AttemptReport {
        self.note_output(&completed);
        if let (Some(id), Some(total)) = (&completed.session_id, completed.session_total) {
            self.session_totals.insert(id.clone(), total);
        }
        let finished = completed.finished;
        let said = completed.final_text.filter(|text| !text.trim().is_empty());
        let is_untold = completed.is_degraded || said.is_none();
        let is_degraded = is_untold && !attempt.streamed.trim().is_empty();
        if let Some(id) = &completed.session_id
            && !self.run_file.session_ids.contains(id)
        {
            self.run_file.session_ids.push(id.clone());
        }
        if let (Some(error), Some(asked)) = (&finished.error, &attempt.asked_session)
            && error.code == UNKNOWN_SESSION
        {
            self.workspace.forget_session(asked);
        }
        AttemptReport {
            outcome: finished.outcome,
            error: self.explained(finished.error),
            final_text: if is_degraded { Some(attempt.streamed) } else { said },
            is_degraded,
            session_id: completed.session_id,
            exit: finished.exit,
            usage: Some(finished.usage),
            duration: clock::elapsed_since(attempt.started),
        }
    }

    /// What a person should know about the process's output.
    fn note_output(&mut self, completed: &Completed) {
        let log = self.spec.directory.raw_log(self.attempts);
        let count = completed.finished.line_errors;
        if count > 0 {
            let lines = if count == 1 { "line" } else { "lines" };
            let message = format!(
                "{count} {lines} of the agent's output could not be read; see `{}`",
                log.display()
            );
            self.warn(WarningKind::UnreadableLines, message);
        }
        let logs = [&completed.exit.raw_log_error, &completed.exit.stderr_log_error];
        for error in logs.into_iter().flatten() {
            let message = format!("the log `{}` is incomplete: {error}", log.display());
            self.warn(WarningKind::Storage, message);
        }
        if completed.exit.log_truncated {
            let message = format!("`{}` was truncated; the removed output is lost", log.display());
            self.warn(WarningKind::LogTruncated, message);
        }
    }

    /// An error with what to do about it.
    fn explained(&self, error: Option<agent_api::ErrorInfo>) -> Option<agent_api::ErrorInfo> {
        let mut error = error?;
        if error.code == UNKNOWN_SESSION {
            let hint = "to start a new session, leave out `--continue` and `--resume`";
            error.message = format!("{}; {hint}", error.message.trim_end_matches('.'));
        }
        match error.class {
            agent_api::ErrorClass::Auth if !error.message.contains(&self.spec.login_hint) => {
                error.message = format!("{} ({})", error.message, self.spec.login_hint);
            }
            agent_api::ErrorClass::Quota => {
                let hint = &self.spec.login_hint;
                error.message = format!(
                    "{}; add credit to the account, or use another one ({hint})",
                    error.message.trim_end_matches('.')
                );
            }
            agent_api::ErrorClass::ModelNotFound => {
                let message = error.message.trim_end_matches('.');
                error.message = format!("{message}; choose another model with `--model`");
            }
            agent_api::ErrorClass::Process => {
                let output = self.spec.directory.raw_log(self.attempts);
                let has_output = std::fs::metadata(&output).is_ok_and(|file| file.len() > 0);
                let log = match has_output {
                    true => output,
                    false => self.spec.directory.stderr_log(self.attempts),
                };
                error.message = format!("{}; its output is in `{}`", error.message, log.display());
            }
            _ => {}
        }
        Some(error)
    }

    fn save_budget(&mut self) {
        let cost = self.machine.budget().account().totals().cost;
        self.workspace.charge(Charge {
            run_id: self.spec.directory.id().to_owned(),
            task: self.spec.started.task.clone(),
            cost: cost.unwrap_or_default(),
            max_cost: self.machine.budget().limits().cost,
            iterations: self
                .spec
                .iterations_before
                .saturating_add(self.machine.iteration()),
            max_iterations: self
                .spec
                .plan
                .as_loop()
                .map(|_| self.machine.budget().limits().iterations.unwrap_or(0)),
        });
        self.workspace.save_soon();
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    message
}
