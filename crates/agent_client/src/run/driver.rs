//! `Driver`: the one loop that owns a run. Output to items, commands to input, deadlines, the end.

use std::sync::Arc;
use std::time::Duration;

use agent_process::{Control, Exit, ExitReport, ExitWaiter, clock};
use json_lines::Framed;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::callbacks::Callbacks;
use super::completion::Concluded;
use super::deadlines::{Deadlines, Expired, Situation};
use super::events::{EventSender, Room};
use super::input::{InputLine, InputWriter};
use super::link::{AgentLink, CommandPermit, Order, Shared};
use super::output_lines::{OutputLines, ReadOutcome};
use super::protocol::{Activity, Protocol, RunEnd, StopCause};
use super::start::{Close, WithoutControls};
use super::stderr_lines::StderrLines;

/// How many lines that were read together are handled before commands and deadlines get their turn.
const BATCH_LINES: usize = 64;
/// How long an agent that was asked to cancel may take to exit before it gets the first signal.
const CANCEL_GRACE: Duration = Duration::from_secs(2);
/// How much may be read while the consumer does not, because a caller waits for the agent.
const MAX_RUN_AHEAD_BYTES: usize = 8 * 1024 * 1024;

pub(super) struct Driver<P: Protocol> {
    pub(super) protocol: P,
    pub(super) lines: Option<OutputLines>,
    pub(super) stderr: StderrLines,
    pub(super) input: InputWriter,
    pub(super) process: Control,
    pub(super) shared: Arc<Shared>,
    pub(super) callbacks: Callbacks<P::Command>,
    pub(super) deadlines: Deadlines,
    pub(super) close: Close,
    pub(super) without_controls: WithoutControls,
    pub(super) progress: Progress,
}

/// How far a run is.
#[derive(Default)]
pub(super) struct Progress {
    /// No link is left: no one can send, answer or close the input.
    is_uncontrolled: bool,
    /// No one sees what the agent asks for.
    is_detached: bool,
    /// The caller knows that the agent waits for a message.
    is_told_idle: bool,
    /// The input is to be closed once the handshake is over, because the prompt is written only then.
    is_close_due: bool,
    /// Why the loop stops the process, and what the agent was doing.
    stop: Option<(StopCause, Activity)>,
    /// The timeout passed while the consumer did not read: what the agent had said by then may still be unread.
    is_overdue: bool,
    exited_at: Option<Instant>,
    /// Read since the consumer stopped reading.
    run_ahead_bytes: usize,
    /// Commands that were not written, until the items that report them are delivered.
    refused: Vec<CommandPermit>,
}

impl<P: Protocol> Driver<P> {
    pub(super) async fn run(
        mut self,
        exit: ExitWaiter,
        mut orders: mpsc::UnboundedReceiver<Order<P::Command>>,
        events: EventSender<P::Item>,
        concluded: oneshot::Sender<Concluded<P::Conclusion>>,
    ) {
        let mut consumer = Some(events);
        let exit = self.follow(exit, &mut orders, &mut consumer).await;
        orders.close();
        while let Some(order) = orders.recv().await {
            if let Order::Command(command, permit) = order {
                self.handle_command(command, permit);
            }
        }
        let duration = self.progress.exited_at.unwrap_or_else(clock::now) - self.deadlines.started;
        let timeout = self.deadlines.limits.timeout;
        let conclusion = self.protocol.conclude(RunEnd {
            stop: self.progress.stop,
            is_overdue: exit.exit == Exit::TimedOut && timeout.is_some_and(|timeout| timeout <= duration),
            duration,
            exit,
        });
        self.deliver_rest(&consumer).await;
        // The stream ends before the completion can resolve.
        let is_drained = consumer.is_none_or(EventSender::close);
        let _ = concluded.send(Concluded {
            conclusion,
            is_drained,
        });
    }

    /// Runs until the process has exited and all its output was read.
    async fn follow(
        &mut self,
        mut exit: ExitWaiter,
        orders: &mut mpsc::UnboundedReceiver<Order<P::Command>>,
        consumer: &mut Option<EventSender<P::Item>>,
    ) -> ExitReport {
        let mut report = None;
        let mut read_at = None;
        let mut blocked_since = None;
        loop {
            let is_blocked = !self.flush(consumer);
            if is_blocked {
                blocked_since.get_or_insert_with(clock::now);
            } else if let Some(since) = blocked_since.take() {
                self.deadlines.postpone_exit(clock::elapsed_since(since));
            }
            let has_ended = self.lines.is_none();
            if has_ended
                && self.stderr.has_ended()
                && !is_blocked
                && let Some(report) = report.take()
            {
                return report;
            }
            let has_reply_room = self.input.has_reply_room();
            let may_read = has_reply_room && (!is_blocked || self.may_run_ahead());
            let next_weight = self.protocol.next_weight().unwrap_or_default();
            let deadline = self.next_deadline(is_blocked);
            // Output that waits is read before a deadline counts, because it may be what the deadline is about. After
            // one read the deadline counts, or an agent that never stops writing would have none. The process itself
            // enforces the timeout.
            if let Some((at, expired)) = deadline
                && expired != Expired::Timeout
                && read_at.is_some_and(|read_at| at <= read_at)
            {
                self.on_expired(expired, is_blocked);
                continue;
            }
            let wake_at = deadline.map_or_else(clock::now, |(at, _)| at);
            tokio::select! {
                biased;
                order = orders.recv(), if !self.progress.is_uncontrolled => match order {
                    Some(Order::Command(command, permit)) => self.handle_command(command, permit),
                    Some(Order::CloseInput) => self.close_input(),
                    Some(Order::Cancel) => self.stop(StopCause::Cancelled),
                    None => self.on_controls_dropped(),
                },
                () = room(consumer.as_ref(), next_weight), if is_blocked => {
                    // While the consumer was awaited nothing was read, so the agent was not silent.
                    self.deadlines.last_activity = clock::now();
                    self.progress.run_ahead_bytes = 0;
                }
                () = gone(consumer.as_ref()), if consumer.is_some() => self.on_consumer_gone(consumer),
                ended = &mut exit, if report.is_none() => {
                    self.shared.end();
                    self.input.close();
                    self.progress.exited_at = Some(clock::now());
                    report = Some(ended);
                }
                () = self.input.reply_read(), if !has_reply_room => {}
                command = self.callbacks.next(), if !self.callbacks.is_empty() => self.handle_answer(command),
                line = next_line(&mut self.lines), if may_read && !has_ended => {
                    read_at = Some(clock::now());
                    self.handle_read(line, is_blocked);
                    self.handle_buffered_lines(consumer);
                }
                line = self.stderr.next(), if may_read && !self.stderr.has_ended() => {
                    read_at = Some(clock::now());
                    self.deadlines.last_activity = clock::now();
                    if let Some(line) = line {
                        self.protocol.on_stderr(line);
                    }
                }
                () = clock::sleep_until(wake_at), if deadline.is_some() => {
                    if let Some((_, expired)) = deadline {
                        self.on_expired(expired, is_blocked);
                    }
                }
            }
        }
    }

    /// Gives the consumer the items it has room for. Returns whether none is left.
    fn flush(&mut self, consumer: &mut Option<EventSender<P::Item>>) -> bool {
        while let Some(weight) = self.protocol.next_weight() {
            let Some(sender) = consumer.as_ref() else {
                while self.protocol.next_item().is_some() {}
                break;
            };
            match sender.try_reserve(weight) {
                Room::Reserved => {
                    if let Some(item) = self.protocol.next_item() {
                        sender.send(item, weight);
                    }
                }
                Room::Full => return false,
                Room::ConsumerGone => self.on_consumer_gone(consumer),
            }
        }
        self.progress.refused.clear();
        self.progress.run_ahead_bytes = 0;
        true
    }

    /// Letting go of the events stops the agent, unless the run was detached.
    fn on_consumer_gone(&mut self, consumer: &mut Option<EventSender<P::Item>>) {
        let is_detached = consumer.take().is_some_and(|sender| sender.is_detached());
        if is_detached {
            self.progress.is_detached = true;
            self.update_idle_state();
        } else if self.progress.exited_at.is_none() {
            self.shared.cancel();
            self.stop(StopCause::Cancelled);
        }
    }

    /// Whether output is read although the consumer does not take it: a caller waits for the agent, and may be the
    /// consumer itself.
    fn may_run_ahead(&self) -> bool {
        self.shared.has_waiters() && self.progress.run_ahead_bytes < MAX_RUN_AHEAD_BYTES
    }

    fn handle_read(&mut self, read: ReadOutcome, is_blocked: bool) {
        self.deadlines.last_activity = clock::now();
        match read {
            ReadOutcome::PartialLine => {}
            ReadOutcome::Line(line) => {
                if is_blocked && let Framed::Line(line) = &line {
                    self.progress.run_ahead_bytes += line.bytes.len();
                }
                self.handle_line(line);
            }
            ReadOutcome::Failed(error) => self.protocol.on_output_error(&error),
            ReadOutcome::End => {
                self.lines = None;
                self.protocol.on_end_of_output();
            }
        }
    }

    fn handle_line(&mut self, line: Framed) {
        let (protocol, mut agent) = self.protocol_and_agent(None);
        protocol.on_line(line, &mut agent);
        self.start_callbacks();
        self.update_idle_state();
    }

    /// Handles the lines that came with the last one, as far as the consumer has room, so that a flood does not cost a
    /// turn of the loop for every line.
    fn handle_buffered_lines(&mut self, consumer: &mut Option<EventSender<P::Item>>) {
        for _ in 0..BATCH_LINES {
            if !self.flush(consumer) || !self.input.has_reply_room() {
                break;
            }
            let Some(line) = self.lines.as_mut().and_then(OutputLines::next_buffered) else {
                break;
            };
            self.handle_line(line);
        }
    }

    fn handle_command(&mut self, command: P::Command, permit: CommandPermit) {
        let (protocol, mut agent) = self.protocol_and_agent(Some(permit));
        protocol.on_command(command, &mut agent);
        match agent.permit.take() {
            Some(permit) => self.progress.refused.push(permit),
            None => self.on_new_work(),
        }
        self.start_callbacks();
    }

    /// Handles the command that a callback resolved to.
    fn handle_answer(&mut self, command: P::Command) {
        let (protocol, mut agent) = self.protocol_and_agent(None);
        protocol.on_command(command, &mut agent);
        self.on_new_work();
        self.start_callbacks();
        self.update_idle_state();
    }

    /// The agent has something to do again, and all its time for it.
    fn on_new_work(&mut self) {
        self.deadlines.exit_at = None;
        self.deadlines.background_since = None;
        self.deadlines.background_expired = false;
        self.deadlines.last_activity = clock::now();
        self.progress.is_told_idle = false;
    }

    fn start_callbacks(&mut self) {
        while let Some(order) = self.protocol.next_callback() {
            self.callbacks.carry_out(order);
        }
    }

    /// Whether anyone can answer the agent.
    fn can_answer(&self) -> bool {
        let has_holder = !self.progress.is_uncontrolled && !self.progress.is_detached;
        has_holder || !self.callbacks.is_empty()
    }

    fn protocol_and_agent(&mut self, permit: Option<CommandPermit>) -> (&mut P, AgentLink<'_>) {
        let agent = AgentLink {
            input: &mut self.input,
            process: &self.process,
            has_exited: self.progress.exited_at.is_some(),
            is_stopping: self.progress.stop.is_some() || self.progress.is_overdue,
            permit,
        };
        (&mut self.protocol, agent)
    }

    /// Closes the input of an agent that has nothing left to do, and expects it to exit.
    fn update_idle_state(&mut self) {
        if self.progress.is_close_due && !self.is_in_handshake() {
            self.progress.is_close_due = false;
            self.input.close();
        }
        let activity = self.protocol.activity();
        let deadlines = &mut self.deadlines;
        if activity == Activity::BackgroundOnly {
            deadlines.background_since.get_or_insert_with(clock::now);
        } else {
            deadlines.background_since = None;
        }
        match activity {
            Activity::Working | Activity::WaitingForAnswer => {
                if activity == Activity::WaitingForAnswer && !self.can_answer() {
                    // No one can answer, so the agent must not wait.
                    self.input.close();
                }
                self.deadlines.exit_at = None;
                self.deadlines.background_expired = false;
                self.progress.is_told_idle = false;
            }
            Activity::BackgroundOnly if self.deadlines.background_expired => self.on_background_expired(),
            Activity::BackgroundOnly => {
                self.deadlines.exit_at = None;
                self.progress.is_told_idle = false;
            }
            Activity::Idle => {
                let is_cancelled = self.deadlines.signal_at.is_some();
                if self.close == Close::WhenIdle || self.protocol.is_over() || is_cancelled {
                    self.input.close();
                } else {
                    self.tell_idle();
                }
                if !self.input.is_open() && self.deadlines.exit_at.is_none() {
                    self.deadlines.exit_at = self.exit_deadline();
                }
            }
        }
    }

    /// The caller decides whether to send more or to close the input.
    fn tell_idle(&mut self) {
        if self.input.is_open() && !std::mem::replace(&mut self.progress.is_told_idle, true) {
            self.protocol.on_idle();
        }
    }

    /// Background tasks alone do not keep a run open: it is over unless its caller has more to say.
    fn on_background_expired(&mut self) {
        if self.close == Close::ByCaller && self.input.is_open() {
            self.tell_idle();
        } else if self.deadlines.exit_at.is_none() {
            let since = self.deadlines.background_since;
            let waited = since.map(clock::elapsed_since).unwrap_or_default();
            self.protocol.on_background_timeout(waited);
            self.input.close();
            self.deadlines.exit_at = self.exit_deadline();
        }
    }

    fn exit_deadline(&self) -> Option<Instant> {
        clock::now().checked_add(self.deadlines.limits.exit_grace?)
    }

    fn close_input(&mut self) {
        self.progress.is_close_due = true;
        self.update_idle_state();
    }

    /// Whether the agent has not answered yet what decides about the prompt.
    fn is_in_handshake(&self) -> bool {
        let deadline = self.protocol.deadline();
        deadline.is_some() && deadline != self.deadlines.passed && !self.protocol.is_over()
    }

    fn on_controls_dropped(&mut self) {
        self.progress.is_uncontrolled = true;
        self.close = Close::WhenIdle;
        self.progress.is_close_due |= self.without_controls == WithoutControls::CloseInput;
        self.update_idle_state();
    }

    /// While the consumer does not read, only the timeout counts. Once the process is being stopped, nothing does.
    fn next_deadline(&self, is_blocked: bool) -> Option<(Instant, Expired)> {
        if self.progress.exited_at.is_some() {
            return None;
        }
        if let Some(at) = self.deadlines.signal_at {
            return Some((at, Expired::Signal));
        }
        if self.progress.stop.is_some() || self.progress.is_overdue {
            return None;
        }
        self.deadlines.next(Situation {
            activity: self.protocol.activity(),
            has_open_tool_call: self.protocol.has_open_tool_call(),
            announced_pause: self.protocol.announced_pause(),
            has_controls: self.can_answer(),
            has_callbacks: !self.callbacks.is_empty(),
            protocol_deadline: self.protocol.deadline(),
            is_blocked,
        })
    }

    fn on_expired(&mut self, expired: Expired, is_blocked: bool) {
        match expired {
            Expired::Signal => {
                self.deadlines.signal_at = None;
                self.process.stop();
            }
            // The process is stopped by itself then.
            Expired::Timeout => {
                let activity = self.protocol.activity();
                if is_blocked && activity != Activity::Idle {
                    self.progress.is_overdue = true;
                } else {
                    self.progress.stop = Some((StopCause::TimedOut, activity));
                }
            }
            Expired::Exit => self.stop(StopCause::Lingered),
            Expired::Silence => self.stop(StopCause::Stalled),
            Expired::Protocol => {
                self.deadlines.passed = self.protocol.deadline();
                let (protocol, mut agent) = self.protocol_and_agent(None);
                protocol.on_deadline(&mut agent);
                self.update_idle_state();
            }
            Expired::Background => {
                self.deadlines.background_expired = true;
                self.on_background_expired();
            }
        }
    }

    /// Stops the process. The first cause counts.
    fn stop(&mut self, cause: StopCause) {
        if self.progress.stop.is_some() || self.progress.is_overdue {
            return;
        }
        let activity = self.protocol.activity();
        self.progress.stop = Some((cause, activity));
        // What they decide must not reach an agent that is being stopped.
        self.callbacks = Callbacks::new();
        let is_asked = cause == StopCause::Cancelled && activity != Activity::Idle && self.request_cancel();
        if is_asked {
            self.deadlines.signal_at = clock::now().checked_add(CANCEL_GRACE);
        } else {
            self.process.stop();
        }
    }

    /// Asks the agent in its own protocol to cancel. Returns whether it was asked.
    fn request_cancel(&mut self) -> bool {
        if !self.input.is_open() {
            return false;
        }
        let request = self.protocol.cancel_request();
        request.is_some_and(|bytes| {
            self.input.queue(InputLine {
                bytes,
                written: None,
                is_revocable: false,
                is_reply: false,
                permit: None,
            })
        })
    }

    async fn deliver_rest(&mut self, consumer: &Option<EventSender<P::Item>>) {
        let Some(sender) = consumer else { return };
        while let Some(weight) = self.protocol.next_weight() {
            match sender.try_reserve(weight) {
                Room::Reserved => {
                    if let Some(item) = self.protocol.next_item() {
                        sender.send(item, weight);
                    }
                }
                Room::Full => sender.room(weight).await,
                Room::ConsumerGone => return,
            }
        }
    }
}

async fn next_line(lines: &mut Option<OutputLines>) -> ReadOutcome {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

/// Waits until the consumer has room, or is gone.
async fn room<T>(consumer: Option<&EventSender<T>>, weight: u32) {
    if let Some(consumer) = consumer {
        consumer.room(weight).await;
    }
}

/// Waits until the consumer is gone.
async fn gone<T>(consumer: Option<&EventSender<T>>) {
    match consumer {
        Some(consumer) => consumer.closed().await,
        None => std::future::pending().await,
    }
}
