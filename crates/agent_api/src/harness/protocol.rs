//! `MapperProtocol`: runs any backend's [`Mapper`] in the shared loop. It joins the mapper with the emitter, the
//! pending commands and the conclusion of a run.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use agent_client::{
    Activity, AgentLink, Callback, CallbackOrder, Protocol, RunEnd, StderrLine, VendorEvents,
};
use bytes::Bytes;
use json_lines::Framed;
use serde_json::Value;
use tokio::sync::oneshot;

use super::conclude::{Facts, conclude};
use super::handle::Completed;
use super::pending_commands::PendingCommands;
use crate::backend::{Answer, Command, Mapper, Profile};
use crate::bounds::cut_message;
use crate::emitter::{Emitter, LateReply, PermissionEvent};
use crate::error::CommandError;
use crate::event::{
    Body, CommandAnswered, ErrorClass, ErrorInfo, Event, Finished, Notice, RequestId, Severity, Status,
    StatusChanged,
};
use crate::request::{PermissionCallback, RunRequest};

pub(super) struct MapperProtocol {
    mapper: Box<dyn Mapper>,
    emitter: Emitter,
    profile: Arc<Profile>,
    pending: PendingCommands,
    permission: Option<PermissionCallback>,
    vendor_events: VendorEvents,
    callbacks: VecDeque<CallbackOrder<RunCommand>>,
    was_interrupted: bool,
    /// Callers that wait for the agent's own answer, by the id of their command.
    waiting: HashMap<String, VendorAnswer>,
}

/// Gets the agent's own answer to a command.
pub(super) type VendorAnswer = oneshot::Sender<Result<Value, CommandError>>;

/// Commands of the run's owner to its loop.
#[derive(Debug)]
pub(super) enum RunCommand {
    /// A command in the agent's own protocol.
    Encode(Command),
    /// A request in the vendor's own words, and who waits for its answer.
    Request(Command, VendorAnswer),
    /// What a permission callback decided.
    Decide(RequestId, Answer),
    /// What a hook or a tool of the caller's answered.
    Reply(Bytes),
    /// SIGINT, for agents that have no message for an interrupt.
    Signal { command_id: String },
}

impl MapperProtocol {
    pub(super) fn new(mapper: Box<dyn Mapper>, profile: Arc<Profile>, request: &RunRequest) -> Self {
        Self {
            mapper,
            emitter: Emitter::new(profile.kind.clone()).watching_permissions(request.permission.is_some()),
            profile,
            pending: PendingCommands::default(),
            permission: request.permission.clone(),
            vendor_events: request.options.vendor_events.unwrap_or_default(),
            callbacks: VecDeque::new(),
            was_interrupted: false,
            waiting: HashMap::new(),
        }
    }

    /// Adds a notice that comes before the agent's own output.
    pub(super) fn add_notice(&mut self, severity: Severity, code: &str, message: String) {
        self.emit(notice(severity, code, message));
    }

    /// Emits something that is not part of the agent's output.
    fn emit(&mut self, body: Body) {
        self.emitter.at(None);
        self.emitter.emit(body);
    }

    /// Writes what the mapper could answer by itself.
    fn write_replies(&mut self, agent: &mut AgentLink<'_>) {
        for reply in self.emitter.take_replies() {
            // Without an input no one waits for it.
            let _ = agent.write(reply);
        }
    }

    fn encode(&mut self, command: &Command, agent: &mut AgentLink<'_>) -> Result<(), CommandError> {
        if !agent.is_open() {
            return Err(CommandError::Closed);
        }
        self.emitter.at(None);
        let Some(line) = self.mapper.encode(command, &mut self.emitter)? else {
            return Ok(());
        };
        let (written, receipt) = oneshot::channel();
        if !agent.write_with_receipt(line, written) {
            return Err(CommandError::Closed);
        }
        self.pending.note(command, receipt);
        Ok(())
    }

    /// Hands on what the mapper found besides events: answers to commands, and work for the caller's callbacks.
    fn hand_on(&mut self) {
        for (command_id, answer) in self.emitter.take_answers() {
            if let Some(waiting) = self.waiting.remove(&command_id) {
                // A caller that gave up in the meantime needs no answer.
                let _ = waiting.send(answer.map_err(|reason| CommandError::Refused { reason }));
            }
        }
        for reply in self.emitter.take_late_replies() {
            self.callbacks.push_back(match reply {
                LateReply::Withdraw(key) => CallbackOrder::Withdraw(key),
                LateReply::Start {
                    key,
                    line,
                    timeout,
                    fallback,
                } => CallbackOrder::Start(Callback {
                    key,
                    answer: Box::pin(async move { RunCommand::Reply(line.await) }),
                    timeout,
                    fallback: RunCommand::Reply(fallback),
                }),
            });
        }
        if let Some(permission) = &self.permission {
            for body in self.emitter.take_permission_events() {
                match body {
                    PermissionEvent::Requested(asked) => {
                        let request = asked.request.clone();
                        let decision = permission.decide(asked);
                        self.callbacks.push_back(CallbackOrder::Start(Callback {
                            key: request.to_string(),
                            timeout: permission.timeout,
                            fallback: RunCommand::Decide(
                                request.clone(),
                                Answer::deny("no decision was made"),
                            ),
                            answer: Box::pin(async move { RunCommand::Decide(request, decision.await) }),
                        }));
                    }
                    PermissionEvent::Closed(request) => {
                        self.callbacks
                            .push_back(CallbackOrder::Withdraw(request.to_string()));
                    }
                }
            }
        }
    }

    /// Passes on what a permission callback decided. An answer that the agent does not understand is a denial.
    fn decide(&mut self, request: RequestId, answer: Answer, agent: &mut AgentLink<'_>) {
        let command = |answer| Command::Answer {
            request: request.clone(),
            answer,
        };
        if let Err(CommandError::NotExpressible { what }) = self.encode(&command(answer), agent) {
            let reason = format!("the agent has no message for this decision, so the call is denied: {what}");
            self.emit(notice(
                Severity::Warning,
                "decision_not_expressible",
                reason.clone(),
            ));
            // The request may have been closed meanwhile; then no one waits.
            let _ = self.encode(&command(Answer::Deny { reason }), agent);
        }
    }

    /// Reports the result of a command whose caller no longer waits for it.
    fn answer(&mut self, command_id: String, result: Result<(), CommandError>) {
        self.emit(Body::CommandAnswered(CommandAnswered {
            command_id,
            error: result.err().map(|error| error.to_string()),
        }));
    }

    fn finished(&self, end: &RunEnd) -> Finished {
        let ledger = self.emitter.ledger();
        let was_done = match end.stop {
            Some((_, activity)) => activity == Activity::Idle,
            // The agent's reaction to the signal at its timeout is not the end it was asked for, success excepted: a
            // slow consumer may have kept us from seeing it in time.
            None => {
                let has_succeeded = matches!(&ledger.last_turn, Some((outcome, _)) if outcome.is_success());
                self.mapper.is_idle() && (has_succeeded || !end.is_overdue)
            }
        };
        conclude(&Facts {
            cause: end.stop.map(|(cause, _)| cause),
            was_done,
            is_overdue: end.is_overdue,
            was_interrupted: self.was_interrupted,
            exit: &end.exit,
            ledger,
            profile: &self.profile,
            duration_ms: u64::try_from(end.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }
}

impl Protocol for MapperProtocol {
    type Item = Event;
    type Command = RunCommand;
    type Conclusion = Completed;

    fn on_line(&mut self, line: Framed, agent: &mut AgentLink<'_>) {
        if self.vendor_events == VendorEvents::Attached
            && let Framed::Line(line) = &line
        {
            self.emitter.set_source(Some((line.offset, line.bytes.clone())));
        }
        self.mapper.map_line(line, &mut self.emitter);
        self.emitter.set_source(None);
        self.write_replies(agent);
        self.hand_on();
    }

    fn on_output_error(&mut self, error: &io::Error) {
        let message = format!(
            "the agent's output could not be read any further: {}",
            error.kind()
        );
        self.emitter.at(None);
        self.emitter
            .error(ErrorInfo::new(ErrorClass::Protocol, "read_failed", message));
    }

    fn on_end_of_output(&mut self) {
        self.mapper.map_end(&mut self.emitter);
        self.hand_on();
        // No answer will come any more.
        self.waiting.clear();
    }

    fn on_stderr(&mut self, line: StderrLine) {
        let suppressed = |message: &str| notice(Severity::Warning, "stderr_suppressed", message.to_owned());
        self.emit(match line {
            StderrLine::Text(text) => notice(Severity::Info, "stderr", cut_message(text)),
            StderrLine::Overlong { length_bytes } => {
                let message = format!("a line of {length_bytes} bytes; the log has it");
                notice(Severity::Info, "stderr", message)
            }
            StderrLine::Gap => suppressed("some lines on stderr are only in the log"),
            StderrLine::LimitReached => suppressed("further lines on stderr are only in the log"),
        });
    }

    fn on_command(&mut self, command: RunCommand, agent: &mut AgentLink<'_>) {
        match command {
            RunCommand::Encode(command) => {
                if let Err(error) = self.encode(&command, agent) {
                    self.answer(command.id().to_owned(), Err(error));
                }
            }
            RunCommand::Request(command, answer) => match self.encode(&command, agent) {
                Ok(()) => {
                    self.waiting.retain(|_, waiting| !waiting.is_closed());
                    self.waiting.insert(command.id().to_owned(), answer);
                }
                Err(error) => {
                    self.answer(command.id().to_owned(), Err(error.clone()));
                    let _ = answer.send(Err(error));
                }
            },
            RunCommand::Decide(request, answer) => self.decide(request, answer, agent),
            RunCommand::Reply(line) => {
                // Without an input no one waits for it.
                let _ = agent.is_open() && agent.write(line);
            }
            RunCommand::Signal { command_id } => {
                let result = if agent.has_exited() {
                    Err(CommandError::Closed)
                } else {
                    agent.interrupt();
                    self.was_interrupted = true;
                    Ok(())
                };
                self.answer(command_id, result);
            }
        }
        self.write_replies(agent);
        self.hand_on();
    }

    fn next_callback(&mut self) -> Option<CallbackOrder<RunCommand>> {
        self.callbacks.pop_front()
    }

    fn on_idle(&mut self) {
        self.emit(Body::StatusChanged(StatusChanged { status: Status::Idle }));
    }

    fn on_background_timeout(&mut self, waited: Duration) {
        let message = format!(
            "background tasks still open {} s after the last turn: {}; they are stopped",
            waited.as_secs(),
            self.mapper.background_tasks()
        );
        self.emit(notice(Severity::Warning, "background_stopped", message));
    }

    fn activity(&self) -> Activity {
        if self.mapper.is_idle() {
            Activity::Idle
        } else if self.emitter.ledger().has_open_requests() {
            Activity::WaitingForAnswer
        } else if self.mapper.background_tasks() > 0 {
            Activity::BackgroundOnly
        } else {
            Activity::Working
        }
    }

    fn has_open_tool_call(&self) -> bool {
        self.emitter.ledger().has_open_tools()
    }

    fn announced_pause(&self) -> Duration {
        self.emitter.ledger().announced_pause
    }

    fn is_over(&self) -> bool {
        self.mapper.is_over()
    }

    fn deadline(&self) -> Option<Duration> {
        self.mapper.deadline()
    }

    fn on_deadline(&mut self, agent: &mut AgentLink<'_>) {
        self.emitter.at(None);
        self.mapper.deadline_passed(&mut self.emitter);
        self.write_replies(agent);
        self.hand_on();
    }

    fn cancel_request(&mut self) -> Option<Bytes> {
        self.emitter.at(None);
        let request = self.mapper.encode_cancel(&mut self.emitter)?;
        let mut lines: Vec<Bytes> = self.emitter.take_replies().into_iter().collect();
        if lines.is_empty() {
            return Some(request);
        }
        lines.push(request);
        Some(lines.concat().into())
    }

    fn next_weight(&self) -> Option<u32> {
        self.emitter.next_weight()
    }

    fn next_item(&mut self) -> Option<Event> {
        let event = self.emitter.next_event()?;
        self.pending.observe(&event.body);
        Some(event)
    }

    /// Ends what is still open, and adds the last event.
    fn conclude(&mut self, end: RunEnd) -> Completed {
        self.emitter.close_open_items();
        for body in self.pending.drain_unanswered() {
            self.emitter.emit(body);
        }
        let finished = self.finished(&end);
        self.emit(Body::Finished(Box::new(finished.clone())));
        let whole_text = self.mapper.final_text();
        let ledger = self.emitter.ledger();
        Completed {
            finished,
            final_text: whole_text.or_else(|| ledger.final_text.clone()),
            is_degraded: ledger.is_degraded,
            session_id: ledger.session_id.clone(),
            session_total: ledger.session_total,
            exit: end.exit,
        }
    }
}

fn notice(severity: Severity, code: &str, message: String) -> Body {
    Body::Notice(Box::new(Notice::new(severity, code, message)))
}
