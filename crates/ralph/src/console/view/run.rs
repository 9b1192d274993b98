//! The part of `View` that shows events of the run itself.

use ralph_run::control::SendMode;
use ralph_run::model::{Change, MessageState, RunState, WaitingFor};
use ralph_run::{
    IterationOutcome, RunBody, RunEnded, RunKind, RunStarted, UnknownEvent, Warned, WarningKind, short_run_id,
};

use super::state::View;
use crate::console::digest::Digest;
use crate::console::run_rows::{
    MessageWait, render_attempt_retry, render_budget_awaited, render_command, render_cooldown, render_forked,
    render_iteration, render_iteration_end, render_limit_raised, render_message, render_verify,
};
use crate::console::style::Style;
use run_view::{TERMINAL_ACTOR, describe_continued, describe_suspended, has_more_to_say, visible};

impl View {
    pub(super) fn run_event(&mut self, body: &RunBody) {
        let look = self.look;
        match body {
            RunBody::RunStarted(started) => self.run_started(started),
            RunBody::IterationStarted(started) => {
                self.end_attempt();
                self.shown_errors.clear();
                let max = self.run.started().map_or(0, |started| started.max_iterations);
                if max != 1 {
                    let heading = render_iteration(look, started.number, max, started.role.as_deref());
                    self.push_rows(&heading);
                }
            }
            RunBody::AttemptStarted(_) => self.end_attempt(),
            RunBody::AttemptEnded(ended) => {
                self.end_attempt();
                self.outcome_error(ended.outcome.known().copied(), ended.error.as_ref());
                if ended.will_retry {
                    self.push_rows(&render_attempt_retry(look, ended));
                }
            }
            RunBody::VerifyFinished(verify) => self.push_rows(&render_verify(look, verify)),
            RunBody::IterationEnded(ended) => {
                self.end_attempt();
                if let (true, Some(failure)) = (ended.outcome == IterationOutcome::TimedOut, &ended.failure) {
                    self.push_rows(&look.rows(Style::Warning, "Timeout", failure));
                }
                if self.options.is_verbose() {
                    self.push_rows(&render_iteration_end(look, ended.number, &ended.totals));
                }
            }
            RunBody::Warned(warned) => self.warned(warned),
            RunBody::SessionForked(forked) => self.push_rows(&render_forked(look, forked)),
            RunBody::CommandReceived(command) => {
                if let (Some(request), None) = (&command.request, &command.refused) {
                    self.open_requests.answer(request, command);
                }
                // The keyboard shows why the run refused what was typed here.
                let is_own = self.options.has_keyboard && command.by.as_deref() == Some(TERMINAL_ACTOR);
                if !is_own || command.refused.is_none() {
                    self.push_aside(&render_command(look, command));
                }
            }
            RunBody::VerifyStarted(_) | RunBody::MessageSent(_) | RunBody::StopStarted(_) => {}
            RunBody::CooldownStarted(cooldown) => {
                let now = self.run.last_at().unwrap_or(cooldown.until);
                let rows = render_cooldown(look, cooldown, now, &self.run_id);
                self.push_rows(&rows);
            }
            RunBody::BudgetAwaited(awaited) => {
                let has_keyboard = self.options.has_keyboard;
                let rows = render_budget_awaited(look, awaited, &self.run_id, has_keyboard);
                self.push_rows(&rows);
            }
            RunBody::LimitRaised(raised) => self.push_rows(&render_limit_raised(look, raised)),
            RunBody::MessageAwaited(_) => self.await_message(),
            RunBody::Suspended(suspended) => {
                self.push_rows(&look.rows(Style::Warning, "Notice", &describe_suspended(suspended)));
            }
            RunBody::Continued(continued) => {
                self.push_rows(&look.rows(Style::Warning, "Notice", &describe_continued(continued)));
            }
            RunBody::RunEnded(ended) => self.run_ended(ended),
        }
    }

    /// Shows once how to send a message; the status line repeats it.
    pub(super) fn await_message(&mut self) {
        if !std::mem::replace(&mut self.has_shown_how_to_send, true) && !self.options.has_keyboard {
            let run = &self.run_id;
            let text =
                format!("waiting for a message: `ralph send {run} TEXT` (stop with `ralph stop {run}`)");
            let row = self.look.rows(Style::Warning, "Notice", &text);
            self.push_rows(&row);
        }
    }

    pub(super) fn changed(&mut self, change: &Change) {
        if let Change::Message(message) = change {
            let is_parked = matches!(
                self.run.state(),
                RunState::Waiting {
                    what: WaitingFor::Budget | WaitingFor::Limit { .. }
                }
            );
            let is_known = self.queued_messages.contains(&message.id);
            let wait = match message.mode == SendMode::Queue || is_parked || is_known {
                true => MessageWait::Queue,
                false => MessageWait::None,
            };
            if (message.state, wait) == (MessageState::Queued, MessageWait::Queue) {
                self.queued_messages.insert(message.id.clone());
            } else {
                self.queued_messages.remove(&message.id);
            }
            let rows = render_message(self.look, message, wait).unwrap_or_default();
            self.push_aside(&rows);
        }
    }

    fn run_started(&mut self, started: &RunStarted) {
        self.set_speaker(&started.display_name);
        self.workspace.clone_from(&started.workspace);
        short_run_id(&started.run_id).clone_into(&mut self.run_id);
        self.is_session = started.kind == RunKind::Session;
    }

    fn run_ended(&mut self, ended: &RunEnded) {
        self.end_attempt();
        let digest = Digest {
            run: &self.run,
            ended,
            commits: self.commits.as_ref(),
            files: self.options.files.as_deref(),
        };
        let has_more_to_say = has_more_to_say(ended);
        let rows = digest.render(self.options.has_colours);
        match &ended.message {
            Some(message) if ended.reason.is_failure(ended.exit_code) => self.error_text(message),
            Some(message) if has_more_to_say => {
                self.push_rows(&self.look.rows(Style::Warning, "Notice", message));
            }
            Some(_) | None => {}
        }
        self.push_rows(&rows);
    }

    /// A newer version wrote it.
    pub(super) fn unknown_event(&mut self, event: &UnknownEvent) {
        let text = format!("unknown record `{}`", event.type_name);
        self.push_rows(&self.look.rows(Style::Faint, "Notice", &text));
    }

    fn warned(&mut self, warned: &Warned) {
        // It may name a file of the agent, which must look the same as in the row of the call.
        let message = visible(&warned.message);
        let row = self.look.rows(Style::Warning, "Warning", &message);
        if warned.kind == WarningKind::UnreadableLines {
            // Once per run, and on stderr, because it is not part of the agent's output.
            self.push_stderr("Warning", &message);
            if self.options.is_stderr_shared {
                self.push_rows(&row);
            }
        } else {
            self.push_rows(&row);
        }
    }
}
