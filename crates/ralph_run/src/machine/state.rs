//! `Machine`: a loop or a conversation behind one interface. The driver feeds it inputs and performs its effects.

use agent_api::Body;

use super::conversation::ConversationMachine;
use super::effect::{Effect, Timer};
use super::findings::on_finding;
use super::input::{AttemptReport, CommandInput, Input, Moment, Signal};
use super::loop_machine::LoopMachine;
use super::plan::{Plan, WorkPlan};
use super::queue::{MessagePlace, QueuedMessage};
use super::supervisor::{Phase, Process, Supervisor};
use crate::budget::Budget;
use crate::control::{ControlCommand, PendingRequests};
use crate::reason::EndReason;

/// A run. All effects of an input are performed, in order, before the next input. After the end there are none.
#[derive(Debug)]
pub struct Machine(Kind);

#[derive(Debug)]
enum Kind {
    Loop(Box<LoopMachine>),
    Conversation(Box<ConversationMachine>),
}

/// What differs between the kinds of run.
pub(super) trait Work {
    fn run(&self) -> &Supervisor;
    fn run_mut(&mut self) -> &mut Supervisor;
    fn begin(&mut self);
    fn on_event(&mut self, body: &Body);
    fn on_spawn_failed(&mut self, message: String);
    fn on_attempt_ended(&mut self, report: &AttemptReport);
    fn on_verified(&mut self, is_ok: bool, summary: String);
    fn on_timer(&mut self, timer: Timer);
    fn on_message(&mut self, message: QueuedMessage);
    fn on_ctrl_c(&mut self);
    fn interrupt(&mut self);
    fn stop(&mut self);
    fn close_input(&mut self);
    fn takes_messages(&self) -> bool;
    /// The limit that the run waited for was raised.
    fn on_raised(&mut self);
    /// Interrupts the turn, then gives the agent this message of the watchdog.
    fn interrupt_with(&mut self, message: QueuedMessage);
    /// Tells the next process what the watchdog found in the last one.
    fn advise_later(&mut self, message: QueuedMessage);
}

impl Machine {
    pub fn new(plan: Plan) -> Self {
        Self(match plan.work.clone() {
            WorkPlan::Loop(work) => Kind::Loop(Box::new(LoopMachine::new(plan, work))),
            WorkPlan::Conversation(work) => {
                Kind::Conversation(Box::new(ConversationMachine::new(plan, work)))
            }
        })
    }

    pub fn step(&mut self, input: Input<'_>, now: Moment) -> Vec<Effect> {
        if self.has_ended() {
            return Vec::new();
        }
        let work = self.work_mut();
        work.run_mut().set_now(now);
        match input {
            Input::Begin => {
                if work.run().phase == Phase::New {
                    work.run_mut().arm_runtime();
                    work.begin();
                }
            }
            Input::Event(event) => {
                work.run_mut().observe(&event.body);
                work.on_event(&event.body);
                work.run_mut().check_limits();
            }
            Input::SpawnFailed(message) if work.run().is_running() => work.on_spawn_failed(message),
            Input::AttemptEnded(report) if work.run().is_running() => {
                work.run_mut().apply_last_usage(&report);
                work.on_attempt_ended(&report);
            }
            // Of a process that is gone.
            Input::SpawnFailed(_) | Input::AttemptEnded(_) => {}
            Input::Verified { is_ok, summary } => work.on_verified(is_ok, summary),
            Input::Timer(timer) => work.on_timer(timer),
            Input::Command(command) => on_command(work, command),
            Input::Signal(Signal::Interrupt) => work.on_ctrl_c(),
            Input::Signal(Signal::Terminate) => work.run_mut().stop_for(EndReason::Terminated, None),
            Input::Signal(Signal::HangUp) => work.run_mut().hang_up(),
            // The driver suspends the process and its clocks; the run does not change.
            Input::Signal(Signal::Suspend) => {}
            Input::OutputClosed => work.run_mut().stop_for(EndReason::OutputClosed, None),
            Input::Storage(status) => work.run_mut().on_storage(status),
            Input::Finding { finding, message_id } => on_finding(work, &finding, message_id),
        }
        work.run_mut().take_effects()
    }

    pub fn has_ended(&self) -> bool {
        self.run().phase == Phase::Ended
    }

    /// Whether a message would still reach the agent.
    pub fn takes_messages(&self) -> bool {
        self.work().takes_messages()
    }

    /// Whether a conversation waits for a message.
    pub fn is_idle(&self) -> bool {
        matches!(self.run().phase, Phase::Running(Process::Idle) | Phase::Waiting)
    }

    pub fn is_conversation(&self) -> bool {
        matches!(self.0, Kind::Conversation(_))
    }

    /// Whether the run waits for a usage limit or for a higher limit: nothing happens until then.
    pub fn is_parked(&self) -> bool {
        self.run().parked_since.is_some()
    }

    /// The number of iterations so far.
    pub fn iteration(&self) -> u32 {
        self.run().iteration
    }

    pub fn budget(&self) -> &Budget {
        &self.run().budget
    }

    /// Requests of the agent that wait for an answer.
    pub fn requests(&self) -> &PendingRequests {
        &self.run().requests.pending
    }

    /// Messages that have not been sent yet, in order.
    pub fn queued(&self) -> impl Iterator<Item = &QueuedMessage> {
        self.run().queue.iter()
    }

    pub fn place_of(&self, message_id: &str) -> MessagePlace {
        self.run().queue.place_of(message_id)
    }

    pub(super) fn run(&self) -> &Supervisor {
        self.work().run()
    }

    fn work(&self) -> &dyn Work {
        match &self.0 {
            Kind::Loop(machine) => machine.as_ref(),
            Kind::Conversation(machine) => machine.as_ref(),
        }
    }

    fn work_mut(&mut self) -> &mut dyn Work {
        match &mut self.0 {
            Kind::Loop(machine) => machine.as_mut(),
            Kind::Conversation(machine) => machine.as_mut(),
        }
    }
}

fn on_command(work: &mut dyn Work, input: CommandInput) {
    let CommandInput {
        command,
        message_id,
        by,
    } = input;
    match command {
        ControlCommand::Send { text, mode } => work.on_message(QueuedMessage {
            id: message_id,
            text,
            mode,
        }),
        ControlCommand::EditMessage { message_id, text } => work.run_mut().queue.edit(&message_id, text),
        ControlCommand::WithdrawMessage { message_id } => work.run_mut().queue.withdraw(&message_id),
        ControlCommand::Answer { request, answer } => {
            work.run_mut().answer(request, answer, by.as_deref());
        }
        ControlCommand::Interrupt => work.interrupt(),
        ControlCommand::Stop => work.stop(),
        ControlCommand::CloseInput => work.close_input(),
        ControlCommand::Kill => {
            work.run_mut().stop_for(EndReason::Stopped, None);
            work.run_mut().kill();
        }
        ControlCommand::TopUp(amounts) => {
            if work.run_mut().raise(amounts.iter()) {
                work.on_raised();
            }
        }
        ControlCommand::SetModel { model } => {
            let run = work.run_mut();
            run.budget.account_mut().set_requested_model(model.as_deref());
            run.push(Effect::SetModel(model));
        }
        ControlCommand::SetPermissionMode { mode } => {
            work.run_mut().push(Effect::SetPermissionMode(mode.into()));
        }
        ControlCommand::Status => {}
    }
}
