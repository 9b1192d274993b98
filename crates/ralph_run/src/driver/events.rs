//! Takes the agent's events: records each one, gives it to the machine, and keeps `run.json` up to date.

use agent_api::{Body, Event};
use jiff::Timestamp;

use super::run::Driver;
use crate::lock::{Lock, LockError, LockInfo};
use crate::machine::{Effect, Input};
use crate::record::{RunBody, SessionForked, WarningKind};

impl Driver {
    /// Records an event. Returns what follows from it, which is nothing for nearly all.
    pub(super) fn take_event(&mut self, event: Event) -> Vec<Effect> {
        self.learn(&event);
        let effects = match event.body {
            Body::Delta(_) => Vec::new(),
            _ => {
                let now = self.moment();
                self.machine.step(Input::Event(&event), now)
            }
        };
        if matches!(event.body, Body::Usage(_)) {
            self.run_file.status.totals = self.machine.budget().account().totals();
            self.is_file_stale = true;
        }
        self.keeper.event(event);
        effects
    }

    fn learn(&mut self, event: &Event) {
        if event.parent.is_none()
            && let Some(attempt) = &mut self.attempt
        {
            attempt.note_text(&event.body);
        }
        match &event.body {
            Body::SessionStarted(session) => {
                // An agent can put anything into these, and `run.json` is shown as it is.
                let redact = |text: &String| self.spec.redactor.redact(text).into_owned();
                let file = &mut self.run_file;
                file.model = session.model.as_ref().map(redact).or(file.model.take());
                file.agent_version = session.agent_version.as_ref().map(redact);
                file.permission_mode = session
                    .permission_mode
                    .as_ref()
                    .map(redact)
                    .or(file.permission_mode.take());
                file.cwd = session.cwd.as_ref().map(redact);
                file.tools = session.tools.iter().map(redact).collect();
                file.mcp_servers = session.mcp_servers.iter().map(redact).collect();
                self.is_file_stale = true;
                if let Some(id) = &session.session_id {
                    self.on_session(id);
                }
                self.check_directory(session.cwd.as_deref());
            }
            Body::SessionUpdated(session) => {
                let redact = |text: &String| self.spec.redactor.redact(text).into_owned();
                if let Some(model) = &session.model {
                    self.run_file.model = Some(redact(model));
                    self.is_file_stale = true;
                }
                if let Some(mode) = &session.permission_mode {
                    self.run_file.permission_mode = Some(redact(mode));
                    self.is_file_stale = true;
                }
                if let Some(id) = &session.session_id {
                    self.on_session(id);
                }
            }
            Body::CommandAnswered(answered) => self.on_answered(answered),
            Body::ToolFinished(finished) => {
                for change in &finished.changes {
                    self.spec.task.note_change(&self.spec.workspace, &change.path);
                }
            }
            Body::Error(error) => {
                if let Some(position) = error.position {
                    tracing::debug!(
                        line = position.line,
                        column = position.column,
                        code = %error.code,
                        "a line of the agent's output could not be read"
                    );
                }
            }
            _ => {}
        }
    }

    fn on_session(&mut self, id: &str) {
        let asked = self
            .attempt
            .as_mut()
            .and_then(|attempt| attempt.asked_session.take());
        if let Some(asked) = asked.filter(|asked| asked != id) {
            self.keeper.body(RunBody::SessionForked(SessionForked {
                asked,
                actual: id.to_owned(),
            }));
        }
        if !self.run_file.session_ids.iter().any(|known| known == id) {
            self.run_file.session_ids.push(id.to_owned());
        }
        self.lock_session(id);
        if !self.spec.started.is_ephemeral {
            self.workspace.set_session(id);
        }
    }

    /// Keeps other runs from continuing this session meanwhile. If another run has it already, it is too late for more
    /// than a warning. The loop does not wait for the lock.
    pub(super) fn lock_session(&mut self, id: &str) {
        if self.locked_session.as_deref() == Some(id) {
            return;
        }
        self.locked_session = Some(id.to_owned());
        let info = LockInfo {
            run_id: self.spec.directory.id().to_owned(),
            pid: std::process::id(),
            since: Timestamp::now(),
        };
        match Lock::try_session(&self.spec.home, id, &info) {
            Ok(lock) => self.session_lock = Some(lock),
            Err(LockError::Held(held)) => {
                // A session that is resumed is locked before the run begins.
                let is_ours = held
                    .holder
                    .as_ref()
                    .is_some_and(|holder| holder.run_id == info.run_id);
                if !is_ours {
                    self.warn(WarningKind::Degraded, held.to_string());
                }
            }
            Err(error) => tracing::warn!(%error, "the session could not be locked"),
        }
    }

    fn check_directory(&mut self, cwd: Option<&str>) {
        let (Some(cwd), Some(attempt)) = (cwd, &mut self.attempt) else {
            return;
        };
        if attempt.told_directory.as_deref() == Some(cwd) {
            return;
        }
        attempt.told_directory = Some(cwd.to_owned());
        let is_same = std::fs::canonicalize(cwd).ok() == std::fs::canonicalize(&self.spec.workspace).ok();
        if !is_same {
            let message = format!(
                "the agent works in `{cwd}`, not in `{}`",
                self.spec.workspace.display()
            );
            self.warn(WarningKind::OtherDirectory, message);
        }
    }
}
