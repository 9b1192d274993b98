//! What the run learns from the agent's events.

use agent_api::{Body, Event, Part, ToolState};
use jiff::Timestamp;

use super::run::Driver;
use crate::budget::BudgetAlert;
use crate::lock::{Lock, LockError, LockInfo};
use crate::machine::{Effect, Input};
use crate::reason::LimitKind;
use crate::record::{RunBody, SessionForked, WarningKind};

/// What has to be done after an event.
pub(super) struct EventEffects {
    effects: Vec<Effect>,
    alert: Option<BudgetAlert>,
}

impl Driver<'_> {
    /// Learns from an event and keeps it. Gives what has to be done then, which is nothing for nearly all.
    pub(super) fn take_event(&mut self, event: Event) -> Option<EventEffects> {
        self.learn(&event);
        let is_delta = matches!(event.body, Body::Delta(_));
        let alerts_possible = matches!(event.body, Body::Usage(_) | Body::TurnFinished(_));
        let effects = match is_delta {
            true => Vec::new(),
            false => self.machine.step(Input::Event(&event)),
        };
        self.keeper.event(event);
        let alert = match alerts_possible {
            true => self.budget.check(),
            false => None,
        };
        (!effects.is_empty() || alert.is_some()).then_some(EventEffects { effects, alert })
    }

    /// Does what follows from an event.
    pub(super) async fn follow_event(&mut self, follows: EventEffects) {
        self.perform_all(follows.effects).await;
        let mut next = follows.alert;
        while let Some(alert) = next {
            match alert {
                BudgetAlert::Near(LimitKind::Cost) => {
                    let message = format!(
                        "80 % of the money is spent: {} of {}",
                        self.budget.spent(),
                        self.spec.limits.cost.unwrap_or_default()
                    );
                    self.warn(WarningKind::CostNearLimit, message);
                }
                BudgetAlert::Near(_) => {
                    self.warn(WarningKind::TokensNearLimit, "80 % of a limit is used".to_owned());
                }
                BudgetAlert::Reached(limit) => self.step(Input::Limit(limit)).await,
            }
            next = self.budget.check();
        }
    }

    fn learn(&mut self, event: &Event) {
        if event.parent.is_none()
            && let Some(attempt) = &mut self.attempt
        {
            attempt.note_text(&event.body);
        }
        match &event.body {
            Body::SessionStarted(session) => {
                let file = &mut self.run_file;
                file.model = session.model.clone().or(file.model.take());
                file.agent_version.clone_from(&session.agent_version);
                file.permission_mode = session.permission_mode.clone().or(file.permission_mode.take());
                file.cwd.clone_from(&session.cwd);
                file.tools.clone_from(&session.tools);
                file.mcp_servers.clone_from(&session.mcp_servers);
                self.is_file_stale = true;
                if let Some(model) = &session.model {
                    self.budget.set_model(model);
                }
                if let Some(id) = &session.session_id {
                    self.on_session(id);
                }
                self.check_directory(session.cwd.as_deref());
            }
            Body::SessionUpdated(session) => {
                if let Some(model) = &session.model {
                    self.run_file.model = Some(model.clone());
                    self.budget.set_model(model);
                    self.is_file_stale = true;
                }
                if session.permission_mode.is_some() {
                    self.run_file.permission_mode.clone_from(&session.permission_mode);
                    self.is_file_stale = true;
                }
                if let Some(id) = &session.session_id {
                    self.on_session(id);
                }
            }
            Body::CommandAnswered(answered) => self.on_answered(answered),
            Body::Usage(usage) => {
                self.budget.apply(usage);
                self.run_file.status.totals = self.budget.run();
                self.is_file_stale = true;
            }
            Body::TurnFinished(_) => self.budget.add_turns(1),
            Body::ToolStarted(tool) if tool.state == ToolState::Running => {
                let subject = tool.subject.as_deref().unwrap_or_default();
                let activity = format!("{}: {subject}", tool.name);
                let cut = self
                    .spec
                    .redactor
                    .redact(&activity)
                    .chars()
                    .take(120)
                    .collect::<String>();
                self.set_activity(&cut);
            }
            Body::TextBlock(_) => self.set_activity("responding"),
            Body::ThinkingBlock(_) => self.set_activity("thinking"),
            Body::Delta(delta) if self.run_file.status.activity.is_none() => {
                let what = match delta.part {
                    Part::Thinking => "thinking",
                    Part::Text | Part::ToolInput | Part::ToolOutput => "responding",
                };
                self.set_activity(what);
            }
            Body::PermissionRequested(_) | Body::QuestionAsked(_) | Body::PlanProposed(_) => {
                self.set_activity("waiting for an answer");
            }
            _ => {}
        }
    }

    fn set_activity(&mut self, activity: &str) {
        if self.run_file.status.activity.as_deref() != Some(activity) {
            self.run_file.status.activity = Some(activity.to_owned());
            self.is_file_stale = true;
        }
    }

    /// The agent tells its conversation.
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
        self.sessions.note(id);
    }

    /// Nobody else goes on with a conversation while we have it. If somebody has it already, it is too late to do
    /// anything but say so; and where nothing can be locked, that is no reason not to run.
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
        match Lock::session(&self.spec.home, id, &info) {
            Ok(lock) => self.session_lock = Some(lock),
            Err(LockError::Held(held)) => {
                // One that we were asked to go on with was locked before we began.
                let is_ours = held
                    .holder
                    .as_ref()
                    .is_some_and(|holder| holder.run_id == info.run_id);
                if !is_ours {
                    self.warn(
                        WarningKind::Degraded,
                        format!("two runs go on with one conversation: {held}"),
                    );
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
