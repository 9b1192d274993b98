//! What follows from a finding of the watchdog: a record, advice to the agent, or the end of the run.

use super::effect::{Effect, Timer};
use super::input::SendMode;
use super::queue::QueuedMessage;
use super::state::Work;
use super::supervisor::{Phase, Process, Supervisor};
use crate::reason::EndReason;
use crate::record::{CommandReceived, RunBody};
use crate::watchdog::{Finding, WatchAction};

/// Who tells the agent, in the journal.
const WATCHDOG: &str = "watchdog";

/// `message_id` is for the message to the agent, if there is one.
pub(super) fn on_finding(work: &mut dyn Work, finding: &Finding, message_id: String) {
    let run = work.run_mut();
    run.record(RunBody::Warned(finding.warned()));
    run.push(Effect::SaveSoon);
    match finding.action {
        WatchAction::Off | WatchAction::Notify => {}
        WatchAction::Stop => run.interrupt_for(EndReason::Watchdog, Some(finding.message.clone())),
        WatchAction::Interrupt if run.end_cause.is_some() => {}
        WatchAction::Interrupt => {
            let message = QueuedMessage {
                id: message_id,
                text: finding.message_to_agent(),
                mode: SendMode::Steer,
            };
            // Without a turn to interrupt, the agent is only told.
            let is_busy = run.phase == Phase::Running(Process::Busy);
            if finding.is_about_open_turn() {
                work.interrupt_with(message);
            } else if is_busy && run.plan.takes_messages {
                run.advise(message);
            } else {
                work.advise_later(message);
            }
        }
    }
}

impl Supervisor {
    /// Interrupts the turn and not the run. After the grace period the process is stopped.
    pub(super) fn interrupt_turn(&mut self) {
        self.phase = Phase::Running(Process::Interrupting);
        self.push(Effect::Interrupt);
        self.arm(Timer::Grace, self.plan.interrupt_grace);
    }

    /// The interrupted turn has ended in time.
    pub(super) fn finish_interrupt(&mut self) {
        if self.phase == Phase::Running(Process::Interrupting) {
            self.phase = Phase::Running(Process::Busy);
            // A stop that came meanwhile needs the same timer.
            if self.end_cause.is_none() && self.cut_off.is_none() {
                self.disarm(Timer::Grace);
            }
        }
    }

    /// Gives the running agent a message of the watchdog.
    pub(super) fn advise(&mut self, message: QueuedMessage) {
        self.record(received(&message));
        self.say(message);
    }
}

/// The journal shows it as a message, like those of people.
pub(super) fn received(message: &QueuedMessage) -> RunBody {
    RunBody::CommandReceived(Box::new(CommandReceived {
        command_id: message.id.clone(),
        command: "send".to_owned(),
        by: Some(WATCHDOG.to_owned()),
        message_id: Some(message.id.clone()),
        mode: Some(message.mode),
        text: Some(message.text.clone()),
        ..CommandReceived::default()
    }))
}
