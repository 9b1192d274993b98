//! Which commands a run accepts, and why it refuses the others.

use super::queue::MessagePlace;
use super::state::Machine;
use crate::control::{ControlCommand, Refusal, RefusalCode, SendMode, TopUp};
use crate::reason::LimitKind;

impl Machine {
    /// Whether a command can be carried out now. Returns a note for the sender, where there is something to say.
    pub fn accept(&self, command: &ControlCommand) -> Result<Option<String>, Refusal> {
        match command {
            ControlCommand::Send { text, mode } => self.check_message(text, *mode)?,
            ControlCommand::EditMessage { message_id, text } => {
                self.check_waiting(message_id)?;
                check_text(text)?;
            }
            ControlCommand::WithdrawMessage { message_id } => self.check_waiting(message_id)?,
            ControlCommand::Answer { request, answer } => {
                self.requests().resolve(request, answer.clone())?;
            }
            ControlCommand::Interrupt if self.is_idle() => {
                return Ok(Some("nothing to interrupt: the agent is idle".to_owned()));
            }
            ControlCommand::CloseInput if !self.is_conversation() => {
                return Err(Refusal::new(
                    RefusalCode::Unsupported,
                    "a loop closes its agent's input itself: interrupt or stop it",
                ));
            }
            ControlCommand::TopUp(amounts) => {
                self.check_top_up(amounts)?;
                return Ok(Some(self.describe_top_up(amounts)));
            }
            ControlCommand::Status => {
                return Err(Refusal::new(
                    RefusalCode::Invalid,
                    "`status` is a query, not a command",
                ));
            }
            ControlCommand::Interrupt
            | ControlCommand::Stop
            | ControlCommand::CloseInput
            | ControlCommand::Kill
            | ControlCommand::SetModel { .. }
            | ControlCommand::SetPermissionMode { .. } => {}
        }
        Ok(None)
    }

    fn check_message(&self, text: &str, mode: SendMode) -> Result<(), Refusal> {
        if !self.run().plan.takes_messages {
            return Err(Refusal::new(
                RefusalCode::Unsupported,
                "this run's agent takes no messages after its prompt",
            ));
        }
        check_text(text)?;
        if !self.takes_messages() {
            let message = match self.is_conversation() {
                true => "the session is ending; resume it when it has ended",
                false => "the agent takes no messages now; send it again in the next iteration",
            };
            return Err(Refusal::new(RefusalCode::InputClosed, message));
        }
        if mode == SendMode::Queue && self.run().queue.is_full() {
            let message = "too many messages are queued: withdraw some, or wait";
            return Err(Refusal::new(RefusalCode::Busy, message));
        }
        Ok(())
    }

    fn check_top_up(&self, amounts: &TopUp) -> Result<(), Refusal> {
        if self.has_ended() {
            return Err(Refusal::run_ended());
        }
        if self.run().end_cause.is_some() {
            return Err(Refusal::new(RefusalCode::RunEnded, "the run is ending"));
        }
        let limits = self.budget().limits();
        let mut is_empty = true;
        for (limit, amount) in amounts.iter() {
            let (name, has_limit) = match limit {
                LimitKind::Cost => ("cost", limits.cost.is_some_and(|limit| limit.as_micro_usd() > 0)),
                LimitKind::Tokens => ("token", limits.tokens.is_some_and(|limit| limit > 0)),
                LimitKind::Iterations => ("iteration", limits.iterations.is_some_and(|limit| limit > 0)),
                LimitKind::Runtime => ("time", limits.runtime.is_some_and(|limit| !limit.is_zero())),
                LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage => continue,
            };
            if amount == 0 {
                let message = format!("nothing to add to the {name} limit: give an amount above 0");
                return Err(Refusal::new(RefusalCode::Invalid, message));
            }
            if !has_limit {
                let message = format!("this run has no {name} limit, so there is nothing to raise");
                return Err(Refusal::new(RefusalCode::Unsupported, message));
            }
            is_empty = false;
        }
        match is_empty {
            true => Err(Refusal::new(
                RefusalCode::Invalid,
                "no amount given: name the limit to raise",
            )),
            false => Ok(()),
        }
    }

    /// The limits as they will be: `cost limit $15.00, time limit 2h`.
    fn describe_top_up(&self, amounts: &TopUp) -> String {
        let mut budget = self.budget().clone();
        let raised = amounts.iter().filter_map(|(limit, amount)| {
            budget.raise(limit, amount)?;
            budget.describe_limit(limit)
        });
        raised.collect::<Vec<_>>().join(", ")
    }

    fn check_waiting(&self, id: &str) -> Result<(), Refusal> {
        match self.place_of(id) {
            MessagePlace::Waiting => Ok(()),
            MessagePlace::Sent => Err(Refusal::new(
                RefusalCode::AlreadySent,
                "this message was already sent to the agent: send another one",
            )),
            MessagePlace::Unknown => Err(Refusal::new(
                RefusalCode::NoSuchMessage,
                format!("no queued message `{id}`: it never existed or was withdrawn"),
            )),
        }
    }
}

fn check_text(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        return Err(Refusal::new(RefusalCode::Invalid, "the message is empty"));
    }
    Ok(())
}
