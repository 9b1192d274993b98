//! One process of the agent.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use agent_api::{
    Body, Close, Completed, CostBasis, Error, Input as AgentInput, RunHandle, RunRequest, SessionChoice,
    capability, new_message_id,
};
use jiff::Timestamp;
use tokio::time::Instant;

use super::run::Driver;
use crate::budget::BudgetAlert;
use crate::machine::{AttemptReport, Input, QueuedMessage, StartFailure};
use crate::prompt::{Memory, PromptParts, compose};
use crate::reason::{EndReason, LimitKind};
use crate::record::{AttemptStarted, IterationStarted, MessageSent, RunBody, WarningKind};
use crate::state::{Booked, Durability, LogName, name_in_files};

/// How much of what was streamed is kept, in case the agent gives no final text.
const MOST_STREAMED_BYTES: usize = 256 * 1024;

/// Where agents keep notes for their next conversation, best first.
const NOTES: [&str; 2] = [".ralph/scratchpad.md", "progress.md"];
/// More than the part of them that is told.
const MOST_NOTES_BYTES: u64 = 64 * 1024;

/// How much of a prompt a list of runs shows.
const PROMPT_CHARACTERS: usize = 200;

/// A process of the agent.
pub(super) struct Attempt {
    pub(super) handle: RunHandle,
    /// The end of its events was seen.
    pub(super) has_ended: bool,
    pub(super) started: Instant,
    /// What the main conversation said in its last turn.
    pub(super) streamed: String,
    /// The session that was asked for.
    pub(super) asked_session: Option<String>,
    pub(super) turns: u32,
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
                if self.streamed.len() > 2 * MOST_STREAMED_BYTES {
                    let start = self
                        .streamed
                        .ceil_char_boundary(self.streamed.len() - MOST_STREAMED_BYTES);
                    self.streamed.drain(..start);
                }
            }
            Body::TurnFinished(_) => self.turns += 1,
            _ => {}
        }
    }
}

impl Driver<'_> {
    /// Starts the agent. Says why it could not be started.
    pub(super) async fn spawn(
        &mut self,
        position: (u32, u32),
        session: SessionChoice,
        last_failure: Option<String>,
        message: Option<QueuedMessage>,
    ) -> Option<Input<'static>> {
        let (iteration, attempt) = position;
        self.keeper.set_position(position);
        self.attempts += 1;
        self.run_file.status.iteration = iteration;
        self.run_file.status.attempt = attempt;
        let (message_id, prompt) = match message {
            Some(message) => (Some(message.id), message.text),
            None if self.spec.plan.session.is_some() => (None, self.spec.task.clone()),
            None => (None, self.compose_prompt(iteration, last_failure.as_deref())),
        };
        if self.run_file.prompt.is_empty() {
            // A session that began without one is known by its first message.
            let shown = self.spec.redactor.redact(&prompt);
            self.run_file.prompt = shown.chars().take(PROMPT_CHARACTERS).collect();
        }
        if attempt == 1 {
            self.budget.start_iteration();
            self.keeper.body(RunBody::IterationStarted(IterationStarted {
                number: iteration,
                prompt: prompt.clone(),
            }));
        }
        if let Some(limit) = self.spent_limit() {
            return Some(Input::NotStarted(StartFailure {
                reason: EndReason::Limit(limit),
                message: format!(
                    "{} is spent on this task already: raise `--max-cost` or use `--reset-budget`",
                    self.budget.spent()
                ),
            }));
        }
        let session = self.preset(session);
        if let SessionChoice::NewWithId(id) = &session {
            self.lock_session(id);
        }
        let mut options = self.spec.options.clone();
        let raw_log = self.spec.directory.raw_log(self.attempts);
        options.raw_log = Some(raw_log.clone());
        options.stderr_log = Some(self.spec.directory.stderr_log(self.attempts));
        options.marker = Some(self.spec.directory.id().to_owned());
        let asked_session = match &session {
            SessionChoice::Resume(id) | SessionChoice::NewWithId(id) => Some(id.clone()),
            SessionChoice::New | SessionChoice::Fork(_) | SessionChoice::Last | SessionChoice::ForkLast => {
                None
            }
        };
        if let (SessionChoice::Resume(_), Some(session_total)) = (&session, self.session_total) {
            options.cost_basis = Some(CostBasis::Resumed { session_total });
        }
        options.session = Some(session);
        let input = if self.spec.takes_messages {
            AgentInput::Messages(Close::ByCaller)
        } else {
            AgentInput::PromptOnly
        };
        let mut request = RunRequest::new(prompt).options(options).input(input);
        request.prompt_id.clone_from(&message_id);
        self.keeper.flush();
        let started = Instant::now();
        let backend = self.spec.started.backend.clone();
        let handle = match self.spec.gateway.run(backend.as_str(), request).await {
            Ok(handle) => handle,
            Err(error) => return Some(Input::NotStarted(start_failure(&error))),
        };
        self.budget.start_attempt(self.spec.options.model.as_deref());
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
            turns: 0,
            told_directory: None,
        });
        None
    }

    /// Whether an earlier run has used up what the task may cost.
    fn spent_limit(&mut self) -> Option<LimitKind> {
        let mut reached = None;
        while let Some(alert) = self.budget.check() {
            if let BudgetAlert::Reached(limit) = alert {
                reached = Some(limit);
            }
        }
        reached
    }

    /// A new conversation gets its id from us where that can be, so that it is known before the agent speaks.
    fn preset(&self, session: SessionChoice) -> SessionChoice {
        let backend = self.spec.gateway.backend(self.spec.started.backend.as_str());
        let can_preset = backend.is_ok_and(|backend| backend.profile().has(capability::SESSION_PRESET_ID));
        match session {
            SessionChoice::New if can_preset => SessionChoice::NewWithId(new_message_id()),
            session => session,
        }
    }

    fn compose_prompt(&self, iteration: u32, last_failure: Option<&str>) -> String {
        let notes = NOTES.iter().find_map(|path| {
            let text = end_of_file(&self.spec.workspace.join(path))?;
            (!text.trim().is_empty()).then_some((*path, text))
        });
        compose(&PromptParts {
            task: &self.spec.task,
            iteration: if self.spec.plan.is_once { 0 } else { iteration },
            max_iterations: self.spec.plan.max_iterations,
            mode: self.spec.started.mode.as_deref(),
            memory: notes.as_ref().map(|(path, text)| Memory { path, text }),
            completion_promise: (!self.spec.plan.is_once).then_some(self.spec.plan.promise.as_str()),
            verify: &self.spec.plan.verify,
            last_failure,
        })
    }

    /// Lets people find the raw output where they look for it.
    fn link_log(&mut self, raw_log: &Path) {
        let Some(files) = &self.spec.files else { return };
        let name = LogName {
            backend: name_in_files(&self.spec.started.backend),
            at: Timestamp::now(),
            mode: self.spec.started.mode.as_deref().unwrap_or("run"),
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
        let Ok(completed) = completed else {
            self.on_lost(&attempt).await;
            return;
        };
        self.note_output(&completed);
        self.session_total = completed.session_total.or(self.session_total);
        self.changes.clear();
        let finished = completed.finished;
        let mut totals = self.budget.end_attempt(&finished.usage);
        totals.turns = totals.turns.max(attempt.turns);
        totals.duration_ms = u64::try_from(attempt.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let said = completed.final_text.filter(|text| !text.trim().is_empty());
        let is_untold = completed.is_degraded || said.is_none();
        let is_degraded = is_untold && !attempt.streamed.trim().is_empty();
        if let Some(id) = &completed.session_id
            && !self.run_file.session_ids.contains(id)
        {
            self.run_file.session_ids.push(id.clone());
        }
        let report = AttemptReport {
            outcome: finished.outcome,
            error: self.explained(finished.error),
            final_text: if is_degraded { Some(attempt.streamed) } else { said },
            is_degraded,
            session_id: completed.session_id,
            exit: finished.exit,
            totals,
        };
        self.step(Input::AttemptEnded(report)).await;
        self.keeper.flush();
        self.save_budget();
    }

    /// Nobody knows what became of the process: whoever followed it is gone.
    async fn on_lost(&mut self, attempt: &Attempt) {
        self.changes.clear();
        let mut totals = self.budget.abandon_attempt();
        totals.turns = totals.turns.max(attempt.turns);
        totals.duration_ms = u64::try_from(attempt.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let report = AttemptReport {
            outcome: agent_api::Outcome::Lost,
            error: None,
            final_text: None,
            is_degraded: false,
            session_id: None,
            exit: agent_api::ExitInfo::default(),
            totals,
        };
        self.step(Input::AttemptEnded(report)).await;
        self.keeper.flush();
        self.save_budget();
    }

    /// What a person should know about the process's output.
    fn note_output(&mut self, completed: &Completed) {
        let log = self.spec.directory.raw_log(self.attempts);
        let count = completed.finished.line_errors;
        if count > 0 {
            let message = format!(
                "{count} lines of the agent's output could not be read; they are in `{}`",
                log.display()
            );
            self.warn(WarningKind::UnreadableLines, message);
        }
        let logs = [&completed.exit.raw_log_error, &completed.exit.stderr_log_error];
        for error in logs.into_iter().flatten() {
            let message = format!("the agent's output is not whole in `{}`: {error}", log.display());
            self.warn(WarningKind::Storage, message);
        }
        if completed.exit.log_truncated {
            let message = format!("somebody cut `{}`, and what was cut off is lost", log.display());
            self.warn(WarningKind::LogTruncated, message);
        }
    }

    /// An error with what to do about it.
    fn explained(&self, error: Option<agent_api::ErrorInfo>) -> Option<agent_api::ErrorInfo> {
        let mut error = error?;
        match error.class {
            agent_api::ErrorClass::Auth if !self.spec.login_hint.is_empty() => {
                error.message = format!("{} ({})", error.message, self.spec.login_hint);
            }
            agent_api::ErrorClass::Process => {
                let log = self.spec.directory.raw_log(self.attempts);
                error.message = format!("{}; its output is in `{}`", error.message, log.display());
            }
            _ => {}
        }
        Some(error)
    }

    pub(super) fn save_budget(&mut self) {
        let Some(files) = &self.spec.files else { return };
        let (iteration, _) = self.machine.position();
        let spent = self.budget.spent();
        let task = self.spec.started.task.clone();
        let saved = files.update_budget(task.as_deref(), Timestamp::now(), |state| {
            state.total_cost = spent;
            state.max_cost = self.spec.limits.cost;
            state.iterations = self.spec.iterations_before + iteration;
            state.max_iterations = Some(self.spec.plan.max_iterations);
            // So that a run whose runner dies is not added twice.
            state.booked = Some(Booked {
                run_id: self.spec.directory.id().to_owned(),
                cost: self.budget.run().cost.unwrap_or_default(),
            });
        });
        match saved {
            Ok(_) => {
                self.run_file.status.accounted_cost = self.budget.run().cost;
                // The account names only the last run; this file is asked when another one has followed.
                self.save_run_file(Durability::Cached);
            }
            Err(error) => tracing::warn!(%error, "the budget could not be saved"),
        }
    }
}

/// The agent could not be started.
fn start_failure(error: &Error) -> StartFailure {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    StartFailure {
        reason: EndReason::BackendUnavailable,
        message,
    }
}

/// The end of a file; nothing if it is no ordinary one.
fn end_of_file(path: &Path) -> Option<String> {
    let mut file = agent_process::open_regular(path).ok()?;
    let metadata = file.metadata().ok()?;
    let start = metadata.len().saturating_sub(MOST_NOTES_BYTES);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_NOTES_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
