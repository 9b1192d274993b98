//! How `Pump` ends a child: the stop ladder, deadlines, what happens after the exit, and the report.

use std::time::Duration;

use tokio::time::Instant;

use super::{Deadlines, KILL_TIMEOUT, Pump, after, passed};
use crate::child::{Child, ChildEvent, ChildSignal};
use crate::clock;
use crate::exit::{Exit, ExitReport, StopStep, WaitStatus};
use crate::streams::OutputSource;

/// How long to read on after all descendants are gone. Only bytes already in the pipe can come then, but a process that
/// is not a descendant may hold the pipe open.
pub(super) const LAST_READ_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a spool must not grow after the child's exit while descendants live. Unlike a pipe, a file does not show
/// when its last writer is gone.
const SPOOL_QUIET: Duration = Duration::from_millis(200);

impl Pump {
    /// The first cause counts, and none after the child's exit.
    pub(super) fn set_stop_cause(&mut self, cause: Exit) {
        if self.state.status.is_none() {
            self.state.cause.get_or_insert(cause);
        }
    }

    pub(super) fn begin_stop(&mut self, cause: Exit) {
        if self.state.status.is_some() || self.state.step.is_some() {
            return;
        }
        self.set_stop_cause(cause);
        if !Child::HAS_SIGNALS {
            self.kill();
            return;
        }
        self.child.signal(ChildSignal::Interrupt);
        self.state.step = Some(StopStep::Interrupt);
        self.deadlines.next_step = after(self.limits.interrupt_grace);
    }

    pub(super) fn next_step(&mut self) {
        match self.state.step {
            Some(StopStep::Interrupt) => {
                self.child.signal(ChildSignal::Terminate);
                // A child that is suspended (SIGSTOP) handles SIGTERM only after it continues.
                self.child.signal(ChildSignal::Continue);
                self.state.step = Some(StopStep::Terminate);
                self.deadlines.next_step = after(self.limits.terminate_grace);
            }
            Some(StopStep::Terminate) => self.kill(),
            Some(StopStep::Kill) | None => {}
        }
    }

    pub(super) fn kill(&mut self) {
        if self.state.status.is_none() {
            self.state.step = Some(StopStep::Kill);
        }
        self.kill_descendants();
    }

    /// Kills the child, if it still runs, and all its descendants.
    pub(super) fn kill_descendants(&mut self) {
        if !self.state.killing {
            self.state.killing = true;
            self.child.kill_all();
            self.deadlines.gone = after(KILL_TIMEOUT);
        }
    }

    pub(super) fn on_child(&mut self, event: ChildEvent) {
        match event {
            ChildEvent::Exited { status, descendants } => {
                self.state.status = Some(status);
                self.deadlines.timeout = None;
                self.deadlines.next_step = None;
                self.deadlines.end_of_output = None;
                if self.is_drained() || (descendants == Some(0) && self.is_spooled()) {
                    self.kill_descendants();
                } else {
                    self.deadlines.drain_end = after(self.limits.drain);
                    self.arm_drain_deadline();
                }
            }
            ChildEvent::Gone { killed, remaining } => {
                self.state.survivors_killed = killed;
                self.state.survivors_remaining = remaining;
                if remaining > 0 {
                    tracing::warn!(remaining, "some descendants of the child could not be killed");
                }
                self.on_gone();
            }
            ChildEvent::Frozen => self.freezing = None,
            ChildEvent::Lost => {
                self.state.lost = self.state.status.is_none();
                #[cfg(target_os = "linux")]
                self.kill_unguarded();
                self.on_gone();
            }
        }
    }

    /// After the guard was killed or stopped responding: finds the processes by their marker and the child's id.
    #[cfg(target_os = "linux")]
    pub(super) fn kill_unguarded(&mut self) {
        let swept = self.marker.as_ref().map_or(0, crate::sweep::sweep);
        // The child itself is one of them, unless it had exited.
        let own = u32::from(self.state.status.is_none());
        self.state.survivors_killed = swept.saturating_sub(own);
        self.child.kill_orphan();
    }

    pub(super) fn on_gone(&mut self) {
        self.freezing = None;
        self.state.gone = true;
        self.state.killing = true;
        self.deadlines = Deadlines {
            last_read: after(LAST_READ_TIMEOUT),
            ..Deadlines::default()
        };
        if let Some(OutputSource::Spool { finished, .. }) = &mut self.stdout {
            *finished = true;
        }
        self.end_unread_spool();
    }

    /// A spool whose consumer is gone need not be read to its end.
    pub(super) fn end_unread_spool(&mut self) {
        if self.consumer_gone && self.state.gone && self.is_spooled() {
            self.end_stdout();
        }
    }

    /// Sets when to stop waiting for output after the child's exit.
    pub(super) fn arm_drain_deadline(&mut self) {
        let end = self.deadlines.drain_end;
        self.deadlines.drained = match self.spool_bytes() {
            Some(bytes) => {
                self.state.spool_bytes = bytes;
                after(SPOOL_QUIET).into_iter().chain(end).min()
            }
            None => end,
        };
    }

    /// After the drain deadline: a spool that has grown meanwhile gets more time, even if its reader is slow.
    pub(super) fn on_drain_deadline(&mut self, now: Instant) {
        let has_grown = self
            .spool_bytes()
            .is_some_and(|bytes| bytes > self.state.spool_bytes);
        if has_grown && self.deadlines.drain_end.is_none_or(|end| now < end) {
            self.arm_drain_deadline();
        } else {
            self.kill_descendants();
        }
    }

    /// The length of the spool now.
    pub(super) fn spool_bytes(&self) -> Option<u64> {
        match &self.stdout {
            Some(OutputSource::Spool { follower, .. }) => Some(follower.length_bytes()),
            Some(OutputSource::Stream(_)) | None => None,
        }
    }

    pub(super) fn is_drained(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    pub(super) fn is_spooled(&self) -> bool {
        matches!(self.stdout, Some(OutputSource::Spool { .. }))
    }

    pub(super) fn on_deadline(&mut self) {
        let now = clock::now();
        if passed(&mut self.deadlines.timeout, now) {
            self.begin_stop(Exit::TimedOut);
        }
        if passed(&mut self.deadlines.next_step, now) {
            self.next_step();
        }
        if passed(&mut self.deadlines.end_of_output, now) {
            self.begin_stop(Exit::TimedOut);
        }
        if passed(&mut self.deadlines.drained, now) {
            self.on_drain_deadline(now);
        }
        if passed(&mut self.deadlines.gone, now) {
            tracing::warn!("a guard does not respond; killing its child without it");
            self.state.lost = self.state.status.is_none();
            #[cfg(target_os = "linux")]
            self.kill_unguarded();
            self.on_gone();
        }
        if passed(&mut self.deadlines.last_read, now) {
            self.read_remaining();
        }
    }

    /// Sends the exit report once everything is read, or once only a slow consumer of a spool is left to wait for.
    pub(super) fn report_when_known(&mut self) {
        let slow_spool = match &self.stdout {
            Some(OutputSource::Spool { follower, .. }) if !self.pending.is_empty() => Some(follower),
            Some(OutputSource::Spool { .. } | OutputSource::Stream(_)) | None => None,
        };
        let is_known = self.stderr.is_none() && (self.stdout.is_none() || slow_spool.is_some());
        if !self.state.gone || !is_known {
            return;
        }
        if let Some(follower) = slow_spool {
            self.state.stdout_bytes = self.state.stdout_bytes.max(follower.length_bytes());
            self.state.log_truncated = follower.was_truncated();
        }
        let Some(exit) = self.exit.take() else { return };
        let state = &mut self.state;
        let outcome = match (state.cause, state.lost, state.status) {
            (Some(cause), _, _) => cause,
            (None, true, _) | (None, _, None) => Exit::Lost,
            (None, false, Some(WaitStatus::Code(code))) => Exit::Code(code),
            (None, false, Some(WaitStatus::Signal(signal))) => Exit::Signal(signal),
        };
        // The caller may have dropped the receiver.
        let _ = exit.send(ExitReport {
            exit: outcome,
            status: state.status,
            stopped_by: state.step,
            survivors_killed: state.survivors_killed,
            survivors_remaining: state.survivors_remaining,
            stderr_tail: self.tail.bytes(),
            stderr_bytes: self.tail.total_bytes(),
            stdout_bytes: state.stdout_bytes,
            raw_log_error: self.raw_log.take_error(),
            stderr_log_error: self.stderr_log.take_error(),
            log_truncated: state.log_truncated,
            stdin_cut: state.stdin_cut || self.stdin.is_some(),
        });
    }
}
