//! What happens in the run around the agent.

use ralph_run::{Record, RunBody, RunEnded, RunKind, RunStarted, Warned, WarningKind};

use super::state::View;
use crate::console::run_rows::{
    render_attempt_retry, render_command, render_forked, render_iteration, render_session_end,
    render_summary, render_verify,
};
use crate::console::status::{Activity, Status};
use crate::console::style::Style;

impl View {
    pub(super) fn run_event(&mut self, record: &Record, body: &RunBody) {
        let look = self.look;
        match body {
            RunBody::RunStarted(started) => self.run_started(record, started),
            RunBody::IterationStarted(started) => {
                self.end_attempt();
                self.shown_errors.clear();
                self.status.iteration = started.number;
                self.status.activity = Activity::Starting;
                self.status.context = None;
                if self.status.max_iterations != 1 {
                    let heading = render_iteration(look, started.number, self.status.max_iterations);
                    self.page.push_rows(&heading);
                }
            }
            RunBody::AttemptStarted(_) => self.end_attempt(),
            RunBody::AttemptEnded(ended) => {
                self.end_attempt();
                self.status.open_cost = None;
                self.status.settled_cost += ended.totals.cost.unwrap_or_default();
                self.status.is_settled_estimate |= ended.totals.is_estimate && ended.totals.cost.is_some();
                self.outcome_error(ended.outcome, ended.error.as_ref());
                if ended.will_retry {
                    self.page.push_rows(&render_attempt_retry(look, ended));
                }
            }
            RunBody::VerifyStarted(verify) => {
                self.status.activity = Activity::Call(format!("verify: {}", verify.command));
            }
            RunBody::VerifyFinished(verify) => self.page.push_rows(&render_verify(look, verify)),
            RunBody::IterationEnded(ended) => {
                self.end_attempt();
                if self.options.is_verbose() {
                    self.page.push_rows(&render_session_end(look, &ended.totals));
                }
            }
            RunBody::Warned(warned) => self.warned(warned),
            RunBody::SessionForked(forked) => self.page.push_rows(&render_forked(look, forked)),
            RunBody::CommandReceived(command) => self.page.push_rows(&render_command(look, command)),
            RunBody::MessageSent(_) => {}
            RunBody::MessageAwaited(_) => self.await_message(),
            RunBody::RunEnded(ended) => self.run_ended(ended),
        }
    }

    /// A session waits. Where to say something is told once; the line at the bottom keeps telling it.
    pub(super) fn await_message(&mut self) {
        self.status.activity = Activity::Message(format!("ralph send {} TEXT", self.run_id));
        if !std::mem::replace(&mut self.has_told_how_to_send, true) {
            let run = &self.run_id;
            let text = format!("waits for a message: `ralph send {run} TEXT`; `ralph stop {run}` ends it");
            let row = self.look.row(Style::Warning, "Notice", &text);
            self.page.push_rows(&row);
        }
    }

    fn run_started(&mut self, record: &Record, started: &RunStarted) {
        self.set_speaker(&started.display_name);
        self.workspace.clone_from(&started.workspace);
        self.run_id.clone_from(&started.run_id);
        self.model.clone_from(&started.model);
        self.is_session = started.kind == RunKind::Session;
        self.status = Status {
            started_at: Some(record.at),
            max_iterations: started.max_iterations,
            max_cost: started.max_cost,
            ..Status::default()
        };
    }

    fn run_ended(&mut self, ended: &RunEnded) {
        self.end_attempt();
        match &ended.message {
            Some(message) if ended.reason.is_failure() => self.error_text(message),
            Some(message) => self
                .page
                .push_rows(&self.look.rows(Style::Warning, "Notice", message)),
            None => {}
        }
        let files = self.options.files.as_deref();
        let summary = render_summary(ended, files, self.options.has_colours);
        self.page.push_rows(&summary);
    }

    fn warned(&mut self, warned: &Warned) {
        let row = self.look.rows(Style::Warning, "Warning", &warned.message);
        if warned.kind == WarningKind::UnreadableLines {
            // Not part of what the agent says: once per run, and beside it.
            self.push_stderr("Warning", &warned.message);
            if self.options.is_stderr_shared {
                self.page.push_rows(&row);
            }
        } else {
            self.page.push_rows(&row);
        }
    }
}
