//! The part of `Transcript` that folds events of the run around the agent.

use ralph_run::model::Message;
use ralph_run::{CooldownCause, LimitKind, Record, RunBody, RunEnded, RunEvent, VerifyFinished};
use run_view::{
    CallEnd, describe_attempt_retry, describe_command, describe_continued, describe_end, describe_forked,
    describe_limit_raised, describe_suspended, format_duration,
};

use super::cell::{
    CellKind, EndCell, IterationCell, MessageCell, RequestState, ToolEnd, VerifyCell, Wait, WaitCell,
};
use super::fold::Transcript;
use crate::theme::Role;

impl Transcript {
    pub(super) fn run_event(&mut self, body: &RunBody) {
        match body {
            RunBody::RunStarted(started) => {
                self.workspace.clone_from(&started.workspace);
                self.max_iterations = started.max_iterations;
            }
            RunBody::IterationStarted(started) => {
                self.end_attempt();
                self.shown_errors.clear();
                let cell = IterationCell {
                    number: started.number,
                    most: self.max_iterations,
                    role: started.role.clone(),
                    prompt: started.prompt.clone(),
                    end: None,
                };
                self.iteration = Some(self.push(CellKind::Iteration(Box::new(cell))));
            }
            RunBody::AttemptStarted(started) => {
                // `raw/7.ndjson`. Records before a tail are not known, so attempts cannot be counted.
                let digits = started
                    .raw_log
                    .trim_matches(|character: char| !character.is_ascii_digit());
                self.stamp.raw_log = digits.parse().unwrap_or(self.stamp.raw_log + 1);
                self.end_attempt();
            }
            RunBody::AttemptEnded(ended) => {
                self.end_attempt();
                self.outcome_error(ended.outcome.known().copied(), ended.error.as_ref());
                if ended.will_retry {
                    self.notice(Role::Warning, "Retry", describe_attempt_retry(ended));
                }
            }
            RunBody::VerifyStarted(started) => {
                self.end_attempt();
                let cell = VerifyCell {
                    command: started.command.clone(),
                    started_at: self.stamp.at,
                    end: None,
                    is_over: false,
                };
                self.verify = Some(self.push(CellKind::Verify(cell)));
            }
            RunBody::VerifyFinished(finished) => self.verify_finished(finished),
            RunBody::IterationEnded(ended) => {
                self.end_attempt();
                if let Some(index) = self.iteration.take() {
                    self.change(index, |kind| {
                        if let CellKind::Iteration(iteration) = kind {
                            iteration.end = Some(ended.clone());
                        }
                    });
                }
                if let (Some(ralph_run::IterationOutcome::TimedOut), Some(failure)) =
                    (ended.outcome.known(), &ended.failure)
                {
                    self.notice(Role::Warning, "Timeout", failure.clone());
                }
            }
            RunBody::Warned(warned) => {
                self.push(CellKind::Warning(warned.clone()));
            }
            RunBody::SessionForked(forked) => self.notice(Role::Warning, "Warning", describe_forked(forked)),
            RunBody::CommandReceived(command) => {
                if let (Some(request), None) = (&command.request, &command.refused)
                    && let Some(index) = self.requests.get(request)
                {
                    self.change(*index, |kind| {
                        if let CellKind::Request(request) = kind {
                            request.answer = command.as_ref().into();
                        }
                    });
                }
                let is_message = command.command == "send" && command.text.is_some();
                if let Some(text) = describe_command(command)
                    && (!is_message || command.refused.is_some())
                {
                    let role = if command.refused.is_some() {
                        Role::Warning
                    } else {
                        Role::Message
                    };
                    self.notice(role, "Command", text);
                }
            }
            RunBody::CooldownStarted(cooldown) => {
                self.end_attempt();
                if cooldown.cause != CooldownCause::Pause {
                    self.wait(Wait::Cooldown(cooldown.clone()));
                }
            }
            RunBody::BudgetAwaited(awaited) => self.wait(Wait::Budget(awaited.clone())),
            RunBody::LimitRaised(raised) => {
                self.end_wait();
                if raised.limit.known() == Some(&LimitKind::Iterations) {
                    self.max_iterations = u32::try_from(raised.to).unwrap_or(u32::MAX);
                }
                self.notice(Role::Good, "Limit", describe_limit_raised(raised));
            }
            RunBody::Suspended(suspended) => {
                self.notice(Role::Warning, "Notice", describe_suspended(suspended));
            }
            RunBody::Continued(continued) => {
                self.notice(Role::Warning, "Notice", describe_continued(continued));
            }
            RunBody::MessageSent(_) | RunBody::MessageAwaited(_) | RunBody::StopStarted(_) => {}
            RunBody::RunEnded(ended) => self.run_ended(ended),
        }
    }

    fn verify_finished(&mut self, finished: &VerifyFinished) {
        let index = self.verify.take().unwrap_or_else(|| {
            self.push(CellKind::Verify(VerifyCell {
                command: finished.command.clone(),
                started_at: self.stamp.at,
                end: None,
                is_over: false,
            }))
        });
        self.change(index, |kind| {
            if let CellKind::Verify(verify) = kind {
                verify.end = Some(Box::new(finished.clone()));
            }
        });
    }

    fn wait(&mut self, what: Wait) {
        self.end_wait();
        let wait = WaitCell { what, is_over: false };
        self.wait = Some(self.push(CellKind::Wait(Box::new(wait))));
    }

    pub(super) fn end_wait(&mut self) {
        if let Some(index) = self.wait.take() {
            self.change(index, |kind| {
                if let CellKind::Wait(wait) = kind {
                    wait.is_over = true;
                }
            });
        }
    }

    fn run_ended(&mut self, ended: &RunEnded) {
        self.end_attempt();
        if let Some(message) = ended
            .message
            .as_deref()
            .filter(|_| ended.reason.is_failure(ended.exit_code))
        {
            self.error_text(message);
        }
        let heading = describe_end(ended, self.max_iterations);
        let cell = EndCell {
            ended: ended.clone(),
            heading,
        };
        self.push(CellKind::End(Box::new(cell)));
    }

    /// The agent's process has ended: what is open stays as it is.
    pub(super) fn end_attempt(&mut self) {
        for index in std::mem::take(&mut self.texts).into_values() {
            self.change(index, |kind| {
                if let CellKind::Text(text) | CellKind::Thinking(text) = kind {
                    text.body.complete();
                }
            });
        }
        let at = self.stamp.at;
        for index in std::mem::take(&mut self.calls).into_values() {
            self.change(index, |kind| {
                if let CellKind::Tool(tool) = kind
                    && tool.end.is_none()
                {
                    let took = super::fold_agent::milliseconds(tool.started_at, at);
                    tool.end = Some(ToolEnd {
                        call: CallEnd {
                            is_good: false,
                            facts: format!("cancelled after {}", format_duration(took)),
                            reason: None,
                        },
                        finished: None,
                    });
                }
            });
        }
        for index in std::mem::take(&mut self.requests).into_values() {
            self.change(index, |kind| {
                if let CellKind::Request(request) = kind {
                    request.state = RequestState::Ended;
                }
            });
        }
        if let Some(index) = self.verify.take() {
            self.change(index, |kind| {
                if let CellKind::Verify(verify) = kind {
                    verify.is_over = true;
                }
            });
        }
        self.end_wait();
        self.quiet_calls.clear();
        self.ended_tasks.clear();
        self.has_noted_discard = false;
    }

    /// Messages to the agent: each has one cell, which shows what became of it.
    pub(super) fn apply_messages(&mut self, record: &Record) {
        let mut changed = Vec::new();
        self.messages.apply(record, &mut changed);
        for message in changed {
            self.message(&message, record);
        }
    }

    fn message(&mut self, message: &Message, record: &Record) {
        if let Some(index) = self.message_cells.get(&message.id) {
            self.change(*index, |kind| {
                if let CellKind::Message(cell) = kind {
                    cell.state = message.state;
                    cell.text.clone_from(&message.text);
                }
            });
            return;
        }
        let by = match &record.event {
            RunEvent::Run(RunBody::CommandReceived(command)) => command.by.clone(),
            RunEvent::Run(_) | RunEvent::Agent(_) | RunEvent::Unknown(_) => None,
        };
        let index = self.push(CellKind::Message(MessageCell {
            text: message.text.clone(),
            state: message.state,
            by,
        }));
        self.message_cells.insert(message.id.clone(), index);
    }
}
