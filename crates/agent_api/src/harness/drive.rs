//! The one loop that owns a run: output to events, commands to input, deadlines, the end.

use std::sync::Arc;
use std::time::Duration;

use agent_process::{Control, Exit, ExitReport, ExitWaiter, Framed, StderrOutput};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::conclude::{Cause, Facts, conclude};
use super::control::{Order, State};
use super::handle::Completed;
use super::input::InputWriter;
use super::said::Said;
use super::stderr::StderrLines;
use super::stdout::{OutputLines, Read};
use crate::backend::{Command, Encoded, Mapper, Profile};
use crate::emitter::Emitter;
use crate::error::CommandError;
use crate::event::{
    Body, CommandAnswered, ErrorClass, ErrorInfo, Event, Notice, Severity, Status, StatusChanged,
};

/// How many lines that were read together are mapped before anybody else is heard.
const BATCH_LINES: usize = 64;

/// Deadlines of a run.
pub(super) struct Pace {
    pub(super) inactivity_limit: Option<Duration>,
    pub(super) exit_after_idle: Duration,
    pub(super) closes_when_idle: bool,
    /// The process is stopped then, whatever the loop does; the loop only remembers whether all was done.
    pub(super) timeout: Option<Duration>,
    /// Before the process was.
    pub(super) started: Instant,
}

pub(super) struct Driver {
    lines: Option<OutputLines>,
    stderr: StderrLines,
    input: InputWriter,
    control: Control,
    mapper: Box<dyn Mapper>,
    emitter: Emitter,
    profile: Arc<Profile>,
    state: Arc<State>,
    pace: Pace,
    said: Said,
    /// Commands whose last event waits for the consumer.
    settling: usize,
    /// Whether anybody can still say or answer something.
    has_holders: bool,
    last_sign: Instant,
    /// All is done and the input has ended: the process should exit by then.
    exit_deadline: Option<Instant>,
    /// The holder was told that the agent waits.
    is_told_idle: bool,
    cause: Option<Cause>,
    /// Whether all was done when we began to stop it.
    was_done: bool,
    timeout_at: Option<Instant>,
    /// The time was up while the consumer was awaited: what the agent had said by then may still be unread.
    is_overdue: bool,
    /// When the exit was reported.
    ended_at: Option<Instant>,
}

impl Driver {
    #[expect(
        clippy::too_many_arguments,
        reason = "called once; a struct of these would be this struct"
    )]
    pub(super) fn new(
        lines: OutputLines,
        stderr: Option<StderrOutput>,
        input: InputWriter,
        control: Control,
        mapper: Box<dyn Mapper>,
        emitter: Emitter,
        profile: Arc<Profile>,
        state: Arc<State>,
        pace: Pace,
    ) -> Self {
        let now = Instant::now();
        Self {
            lines: Some(lines),
            stderr: StderrLines::new(stderr),
            input,
            control,
            mapper,
            emitter,
            profile,
            state,
            timeout_at: pace.timeout.and_then(|timeout| now.checked_add(timeout)),
            pace,
            said: Said::default(),
            settling: 0,
            has_holders: true,
            last_sign: now,
            exit_deadline: None,
            is_told_idle: false,
            cause: None,
            was_done: false,
            is_overdue: false,
            ended_at: None,
        }
    }

    pub(super) async fn run(
        mut self,
        exit: ExitWaiter,
        mut orders: mpsc::UnboundedReceiver<Order>,
        events: mpsc::Sender<Event>,
        completed: oneshot::Sender<Completed>,
    ) {
        let mut consumer = Some(events);
        let report = self.follow(exit, &mut orders, &mut consumer).await;
        orders.close();
        while let Some(order) = orders.recv().await {
            match order {
                Order::Say(command) => self.say(&command),
                Order::Signal { command_id } => self.signal(command_id),
                Order::CloseInput | Order::Cancel => {}
            }
        }
        let finished = self.finish(&report);
        self.deliver_rest(&mut consumer).await;
        // The stream ends before the completion can resolve.
        drop(consumer);
        let whole_text = self.mapper.final_text();
        let books = self.emitter.books();
        let _ = completed.send(Completed {
            finished,
            final_text: whole_text.or_else(|| books.final_text.clone()),
            is_degraded: books.is_degraded,
            session_id: books.session_id.clone(),
            session_total: books.session_total,
            exit: report,
        });
    }

    /// Until the process has exited and all its output was read.
    async fn follow(
        &mut self,
        mut exit: ExitWaiter,
        orders: &mut mpsc::UnboundedReceiver<Order>,
        consumer: &mut Option<mpsc::Sender<Event>>,
    ) -> ExitReport {
        let mut report = None;
        loop {
            let is_blocked = !self.hand_over(consumer);
            let has_ended = self.lines.is_none();
            if has_ended
                && self.stderr.has_ended()
                && !is_blocked
                && let Some(report) = report.take()
            {
                return report;
            }
            let deadline = self.deadline(is_blocked);
            tokio::select! {
                biased;
                order = orders.recv(), if self.has_holders => match order {
                    Some(Order::Say(command)) => self.say(&command),
                    Some(Order::Signal { command_id }) => self.signal(command_id),
                    Some(Order::CloseInput) => self.close_input(),
                    Some(Order::Cancel) => self.stop(Cause::Cancelled),
                    None => self.go_on_alone(),
                },
                // While the consumer was awaited nobody listened to the agent.
                () = room(consumer.as_ref()), if is_blocked => self.last_sign = Instant::now(),
                ended = &mut exit, if report.is_none() => {
                    self.state.end();
                    self.input.close();
                    self.ended_at = Some(Instant::now());
                    report = Some(ended);
                }
                line = next_line(&mut self.lines), if !is_blocked && !has_ended => {
                    self.read(line);
                    self.read_on(consumer);
                }
                line = self.stderr.next(), if !is_blocked && !self.stderr.has_ended() => self.read_stderr(line),
                () = tokio::time::sleep_until(deadline.unwrap_or(self.last_sign)), if deadline.is_some() => {
                    self.on_deadline(is_blocked);
                }
            }
        }
    }

    /// Gives the consumer what it has room for. Says whether nothing is left.
    fn hand_over(&mut self, consumer: &mut Option<mpsc::Sender<Event>>) -> bool {
        while !self.emitter.is_empty() {
            let Some(sender) = consumer.as_ref() else {
                // Nobody listens: the run is drained.
                while let Some(event) = self.emitter.next_event() {
                    self.said.see(&event.body);
                }
                break;
            };
            let is_gone = match sender.try_reserve() {
                Ok(room) => {
                    if let Some(event) = self.emitter.next_event() {
                        self.said.see(&event.body);
                        room.send(event);
                    }
                    false
                }
                Err(mpsc::error::TrySendError::Full(())) => return false,
                Err(mpsc::error::TrySendError::Closed(())) => true,
            };
            if is_gone {
                *consumer = None;
            }
        }
        self.state.leave(std::mem::take(&mut self.settling));
        true
    }

    fn read(&mut self, read: Read) {
        self.last_sign = Instant::now();
        match read {
            Read::Part => {}
            Read::Line(line) => self.map(line),
            Read::Failed(error) => {
                self.emitter.at(None);
                let message = format!(
                    "the agent's output could not be read any further: {}",
                    error.kind()
                );
                self.emitter
                    .error(ErrorInfo::new(ErrorClass::Protocol, "read_failed", message));
            }
            Read::End => {
                self.lines = None;
                self.mapper.map_end(&mut self.emitter);
            }
        }
    }

    fn map(&mut self, line: Framed) {
        self.mapper.map_line(line, &mut self.emitter);
        self.reply();
        self.look_for_the_end();
    }

    /// Maps the lines that came with the last one, as far as the consumer has room, so that a flood does not cost a turn
    /// of the loop for every line.
    fn read_on(&mut self, consumer: &mut Option<mpsc::Sender<Event>>) {
        for _ in 0..BATCH_LINES {
            if !self.hand_over(consumer) {
                break;
            }
            let Some(line) = self.lines.as_mut().and_then(OutputLines::next_read) else {
                break;
            };
            self.map(line);
        }
    }

    fn read_stderr(&mut self, line: Option<Notice>) {
        self.last_sign = Instant::now();
        if let Some(notice) = line {
            self.emitter.at(None);
            self.emitter.emit(Body::Notice(Box::new(notice)));
        }
    }

    /// Answers what the mapping could answer by itself.
    fn reply(&mut self) {
        for reply in self.emitter.take_replies() {
            // Without an input nobody waits for it.
            let _ = self.input.write(reply);
        }
    }

    fn is_done(&self) -> bool {
        self.mapper.is_idle()
    }

    /// Ends the input of an agent that has nothing left to do, and expects it to leave.
    fn look_for_the_end(&mut self) {
        if !self.has_holders && self.emitter.books().has_open_requests() {
            // Nobody can answer, so the agent must not wait.
            self.input.close();
        }
        if !self.is_done() {
            self.exit_deadline = None;
            self.is_told_idle = false;
            return;
        }
        if self.pace.closes_when_idle {
            self.input.close();
        } else if self.input.is_open() && !std::mem::replace(&mut self.is_told_idle, true) {
            // The holder decides whether to say more or to end the input.
            self.emitter.at(None);
            self.emitter
                .emit(Body::StatusChanged(StatusChanged { status: Status::Idle }));
        }
        if !self.input.is_open() && self.exit_deadline.is_none() {
            self.exit_deadline = Instant::now().checked_add(self.pace.exit_after_idle);
        }
    }

    fn close_input(&mut self) {
        self.input.close();
        self.look_for_the_end();
    }

    /// No control is left: nobody says more, answers or ends the input.
    fn go_on_alone(&mut self) {
        self.has_holders = false;
        self.pace.closes_when_idle = true;
        self.look_for_the_end();
    }

    fn say(&mut self, command: &Command) {
        let encoded = if self.input.is_open() {
            self.emitter.at(None);
            self.mapper.encode(command, &mut self.emitter)
        } else {
            Err(CommandError::Closed)
        };
        let refused = match encoded {
            Ok(Encoded::Line(line)) => {
                // The agent has something to do again, and all its time for it.
                self.exit_deadline = None;
                self.last_sign = Instant::now();
                self.is_told_idle = false;
                if let Some(line) = self.input.write_command(line) {
                    return self.said.note(command, line, self.input.written());
                }
                Some(CommandError::Closed)
            }
            Ok(Encoded::Nothing) => None,
            Err(error) => Some(error),
        };
        self.settling += 1;
        if let Some(error) = refused {
            self.tell(command.id().to_owned(), Some(error));
        }
    }

    fn signal(&mut self, command_id: String) {
        self.settling += 1;
        let refused = self.ended_at.map(|_| CommandError::Closed);
        if refused.is_none() {
            self.control.interrupt();
        }
        self.tell(command_id, refused);
    }

    /// Nobody waits for the command's outcome any more, so it is told by an event.
    fn tell(&mut self, command_id: String, refused: Option<CommandError>) {
        self.emitter.at(None);
        self.emitter.emit(Body::CommandAnswered(CommandAnswered {
            command_id,
            error: refused.map(|error| error.to_string()),
        }));
    }

    /// The next moment at which something must be done. While a consumer is awaited the agent's silence is ours, but
    /// its time passes.
    fn deadline(&self, is_blocked: bool) -> Option<Instant> {
        if self.cause.is_some() || self.is_overdue || self.ended_at.is_some() {
            return None;
        }
        if is_blocked {
            return self.timeout_at;
        }
        [self.exit_deadline, self.silence_deadline(), self.timeout_at]
            .into_iter()
            .flatten()
            .min()
    }

    fn silence_deadline(&self) -> Option<Instant> {
        self.last_sign.checked_add(self.pace.inactivity_limit?)
    }

    fn on_deadline(&mut self, is_blocked: bool) {
        let now = Instant::now();
        if self.timeout_at.is_some_and(|at| at <= now) {
            self.was_done = self.is_done();
            if is_blocked && !self.was_done {
                self.is_overdue = true;
            } else {
                self.cause = Some(Cause::TimedOut);
            }
            return;
        }
        if self.exit_deadline.is_some_and(|deadline| deadline <= now) {
            self.stop(Cause::Lingered);
            return;
        }
        // One that waits for a person, or for a message, is not stuck.
        if self.silence_deadline().is_some_and(|deadline| deadline <= now) {
            let is_asking = self.has_holders && self.emitter.books().has_open_requests();
            if is_asking || self.is_done() {
                self.last_sign = now;
            } else {
                self.stop(Cause::Stalled);
            }
        }
    }

    /// The first reason counts.
    fn stop(&mut self, cause: Cause) {
        if self.cause.is_none() && !self.is_overdue {
            self.was_done = self.is_done();
            self.cause = Some(cause);
            self.control.stop();
        }
    }

    /// The last events: what nobody ended, and the end itself.
    fn finish(&mut self, report: &ExitReport) -> crate::event::Finished {
        self.emitter.close_open_items();
        for body in self.said.settle(self.input.written()) {
            self.emitter.emit(body);
        }
        let duration = self.ended_at.unwrap_or_else(Instant::now) - self.pace.started;
        let is_overdue =
            report.exit == Exit::TimedOut && self.pace.timeout.is_some_and(|limit| limit <= duration);
        if self.cause.is_none() {
            // What came of the interrupt that the timeout sent is not what was asked for, success excepted: a consumer
            // that was awaited may have kept us from seeing it in time.
            let has_succeeded =
                matches!(&self.emitter.books().last_turn, Some((outcome, _)) if outcome.is_success());
            self.was_done = self.is_done() && (has_succeeded || !is_overdue);
        }
        let finished = conclude(&Facts {
            cause: self.cause,
            was_done: self.was_done,
            is_overdue,
            exit: report,
            books: self.emitter.books(),
            profile: &self.profile,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        });
        self.emitter.at(None);
        self.emitter.emit(Body::Finished(Box::new(finished.clone())));
        finished
    }

    async fn deliver_rest(&mut self, consumer: &mut Option<mpsc::Sender<Event>>) {
        while let Some(event) = self.emitter.next_event() {
            let Some(sender) = consumer else { break };
            if sender.send(event).await.is_err() {
                *consumer = None;
            }
        }
    }
}

async fn next_line(lines: &mut Option<OutputLines>) -> Read {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

/// Waits until there is room for an event, or the consumer is gone.
async fn room(consumer: Option<&mpsc::Sender<Event>>) {
    if let Some(consumer) = consumer {
        let _ = consumer.reserve().await;
    }
}

impl Notice {
    /// A line on stderr.
    pub(super) fn stderr(line: String) -> Self {
        Self {
            severity: Severity::Info,
            code: "stderr".to_owned(),
            message: line,
            data: None,
        }
    }
}
