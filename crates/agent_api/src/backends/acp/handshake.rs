//! From `initialize` to the first prompt: opens the session, sets model and mode, and fails the run with a reason where
//! that is not possible.

use json_lines::Value;
use serde_json::json;

use super::errors::error_info;
use super::mapper::{AcpMapper, Sent, Setting, Stage};
use super::quirks::{Quirks, ReplayOrder};
use crate::backend::Mapper as _;
use crate::capability;
use crate::emitter::Emitter;
use crate::event::{
    Body, ErrorClass, ErrorInfo, MessageState, Outcome, SessionStarted, SessionUpdated, Severity,
};
use crate::request::Attachment;
use agent_client::{PermissionMode, SessionChoice};

impl AcpMapper {
    /// The answer to one of our requests.
    pub(super) fn map_answer(&mut self, id: &Value, outcome: Result<&Value, &Value>, events: &mut Emitter) {
        let sent = if self.is_recording {
            self.inferred(outcome)
        } else {
            id.as_u64().and_then(|id| self.sent.remove(&id))
        };
        let Some(sent) = sent else {
            let text = "the agent answered a request that was not sent, or answered it twice";
            return events.notice(Severity::Warning, "unexpected_answer", text);
        };
        let is_setup = !matches!(sent, Sent::Prompt | Sent::Setting { .. });
        let is_over = matches!(self.stage, Stage::Failed | Stage::Cancelled);
        if is_over && is_setup && !self.is_recording {
            let text = "the agent answered a request of the setup after the run was over";
            return events.notice(Severity::Debug, "late_answer", text);
        }
        match (sent, outcome) {
            (Sent::Initialize, Ok(answer)) => self.initialized(answer, events),
            (Sent::ListSessions, Ok(answer)) => self.sessions_listed(answer, events),
            (Sent::OpenSession { id }, Ok(answer)) => self.session_opened(id, answer, events),
            (Sent::Setting { setting, command_id }, Ok(answer)) => {
                self.config.read(answer);
                self.setting_changed(&setting, command_id, events);
            }
            (Sent::Setting { setting, command_id }, Err(error)) => {
                self.setting_refused(&setting, command_id, error, events);
            }
            (Sent::Prompt, Ok(answer)) => self.prompt_answered(answer, events),
            (Sent::Prompt, Err(error)) => self.prompt_failed(error, events),
            (Sent::OpenSession { id: Some(_) }, Err(error)) => {
                let mut info = error_info(error, self.setup.login_hint);
                if info.class == ErrorClass::Vendor {
                    info.class = ErrorClass::InvalidRequest;
                    "no_such_session".clone_into(&mut info.code);
                    info.is_retryable = false;
                }
                info.message = format!("the session could not be continued: {}", info.message);
                self.fail_setup(info, events);
            }
            (Sent::Initialize | Sent::ListSessions | Sent::OpenSession { id: None }, Err(error)) => {
                let info = error_info(error, self.setup.login_hint);
                self.fail_setup(info, events);
            }
        }
    }

    /// Which request a recorded answer belongs to.
    fn inferred(&self, outcome: Result<&Value, &Value>) -> Option<Sent> {
        let Ok(answer) = outcome else {
            return Some(match self.stage {
                Stage::Initializing => Sent::Initialize,
                Stage::SettingUp if self.session_id.is_none() => Sent::OpenSession { id: None },
                Stage::SettingUp | Stage::Ready | Stage::Failed | Stage::Cancelled => Sent::Prompt,
            });
        };
        let has = |key| answer.get(key).is_some();
        if has("protocolVersion") {
            Some(Sent::Initialize)
        } else if has("stopReason") {
            Some(Sent::Prompt)
        } else if has("sessions") {
            None
        } else if has("sessionId") || self.stage == Stage::SettingUp {
            Some(Sent::OpenSession { id: None })
        } else {
            None
        }
    }

    fn initialized(&mut self, answer: &Value, events: &mut Emitter) {
        let info = answer.get("agentInfo").unwrap_or(&Value::Null);
        let name = info.text("name").unwrap_or_default();
        self.quirks = Quirks::of(name);
        self.agent_version = info.text("version").map(str::to_owned);
        let text = format!("{name} {}", info.text("version").unwrap_or_default());
        events.notice(Severity::Debug, "initialized", text.trim());
        let version = answer.count("protocolVersion");
        let capabilities = answer.get("agentCapabilities").unwrap_or(&Value::Null);
        // Some agents answer with a newer version and still speak version 1.
        if version.is_some_and(|version| version > 1) && !capabilities.is_object() {
            let text = "the agent does not speak version 1 of the Agent Client Protocol: install another version of it";
            let error = ErrorInfo::new(ErrorClass::Protocol, "protocol_version", text);
            return self.fail_setup(error, events);
        }
        let takes = |name: &str| {
            let prompt = capabilities.get("promptCapabilities");
            prompt
                .and_then(|prompt| prompt.get(name))
                .and_then(Value::as_bool)
                == Some(true)
        };
        self.takes.extend(takes("image").then_some(capability::IMAGES));
        self.takes
            .extend(takes("embeddedContext").then_some(capability::DOCUMENTS));
        if let Some(missing) = self.missing(&self.setup.attachments) {
            let error = ErrorInfo::new(ErrorClass::Config, "attachment_unsupported", missing);
            return self.fail_setup(error, events);
        }
        self.refuse_attachments(events);
        self.stage = Stage::SettingUp;
        if !self.is_recording {
            self.open_session(capabilities, events);
        }
    }

    /// Refuses messages that were sent before it was known what the agent takes.
    fn refuse_attachments(&mut self, events: &mut Emitter) {
        for message in std::mem::take(&mut self.queue) {
            match (self.missing(&message.attachments), &message.id) {
                (Some(missing), Some(id)) => {
                    events.command_answered(id, Some(missing.to_owned()));
                    events.message_updated(id, MessageState::Cancelled);
                }
                _ => self.queue.push_back(message),
            }
        }
    }

    /// Why a message with these attachments cannot be sent.
    pub(super) fn missing(&self, attachments: &[Attachment]) -> Option<&'static str> {
        let mut wanted = attachments.iter().map(Attachment::capability);
        let missing = wanted.find(|wanted| !self.takes.contains(wanted))?;
        Some(if missing == capability::IMAGES {
            "this agent takes no images: leave them out, or choose another agent"
        } else {
            "this agent takes no documents: leave them out, or name a file that it can read"
        })
    }

    fn open_session(&mut self, capabilities: &Value, events: &mut Emitter) {
        let offers = |name: &str| {
            let offer = capabilities.at(&["sessionCapabilities", name]);
            offer.is_some_and(|value| !value.is_null())
        };
        let loads = capabilities.flag("loadSession") == Some(true);
        let resume = if offers("resume") {
            Some("session/resume")
        } else {
            loads.then_some("session/load")
        };
        self.can_resume = resume.is_some();
        let fork = offers("fork").then_some("session/fork");
        let (method, id) = match &self.setup.session {
            SessionChoice::New | SessionChoice::NewWithId(_) => (Some("session/new"), None),
            SessionChoice::Resume(id) => (resume, Some(id.clone())),
            SessionChoice::Fork { id, .. } => (fork, Some(id.clone())),
            SessionChoice::Last => (resume.filter(|_| offers("list")), None),
            SessionChoice::ForkLast { .. } => (fork.filter(|_| offers("list")), None),
        };
        let Some(method) = method else {
            let text = "this agent cannot continue an earlier session in this way: start a new one";
            let error = ErrorInfo::new(ErrorClass::InvalidRequest, "cannot_resume", text);
            return self.fail_setup(error, events);
        };
        if id.is_none() && method != "session/new" {
            let params = json!({"cwd": self.setup.cwd});
            let line = self.request("session/list", &params, Sent::ListSessions);
            self.resume_method = Some(method);
            return events.reply(line);
        }
        self.send_open_session(method, id, events);
    }

    fn send_open_session(&mut self, method: &'static str, id: Option<String>, events: &mut Emitter) {
        let mut params = json!({"cwd": self.setup.cwd, "mcpServers": []});
        if let Some(id) = &id {
            params["sessionId"] = json!(id);
        }
        self.is_replaying = method == "session/load";
        // A fork gets an id of its own in the answer.
        let id = id.filter(|_| method != "session/fork");
        let line = self.request(method, &params, Sent::OpenSession { id });
        events.reply(line);
    }

    fn sessions_listed(&mut self, answer: &Value, events: &mut Emitter) {
        // Some agents list the sessions of other directories too.
        let is_here = |session: &&Value| {
            session
                .text("cwd")
                .is_none_or(|cwd| self.setup.workspace.is_at(cwd))
        };
        // Of several that are equally old the first counts: lists begin with what was used last.
        let sessions = answer.list("sessions").iter().rev().filter(is_here);
        let latest = sessions.max_by_key(|session| session.text("updatedAt").unwrap_or_default());
        let id = latest.and_then(|session| session.text("sessionId"));
        match (id, self.resume_method.take()) {
            (Some(id), Some(method)) => self.send_open_session(method, Some(id.to_owned()), events),
            _ => {
                let text = "the agent has no earlier session for this directory: start a new one";
                let error = ErrorInfo::new(ErrorClass::InvalidRequest, "no_such_session", text);
                self.fail_setup(error, events);
            }
        }
    }

    fn session_opened(&mut self, id: Option<String>, answer: &Value, events: &mut Emitter) {
        let new_id = answer.text("sessionId").map(str::to_owned);
        let is_loaded = new_id.is_none();
        self.session_id = new_id.or(id).or(self.session_id.take());
        if self.session_id.is_none() && !self.is_recording {
            let text = "the agent opened a session without an id";
            let error = ErrorInfo::new(ErrorClass::Protocol, "no_session_id", text);
            return self.fail_setup(error, events);
        }
        self.config.read(answer);
        events.emit(Body::SessionStarted(Box::new(SessionStarted {
            // Only an id by which the session can be resumed.
            session_id: self.session_id.clone().filter(|_| self.can_resume),
            model: self.config.current_model(),
            cwd: Some(self.setup.cwd.clone()).filter(|cwd| !cwd.is_empty()),
            agent_version: self.agent_version.clone(),
            permission_mode: self.config.current_mode(),
            tools: Vec::new(),
            mcp_servers: Vec::new(),
        })));
        if self.is_recording {
            // A replay that continues after the answer ends before the list of commands.
            self.is_replaying = is_loaded && self.quirks.replay == ReplayOrder::AfterAnswer;
            self.stage = if self.is_replaying {
                Stage::SettingUp
            } else {
                Stage::Ready
            };
            return;
        }
        if let Err(error) = self.plan_settings(events) {
            return self.fail_setup(error, events);
        }
        self.continue_setup(events);
    }

    /// The settings that the run needs before its first prompt.
    fn plan_settings(&mut self, events: &mut Emitter) -> Result<(), ErrorInfo> {
        if let Some(model) = &self.setup.model
            && self.config.current_model().as_ref() != Some(model)
        {
            if self.config.model.is_none() {
                let text = "this agent offers no choice of models: choose the model in its own settings";
                return Err(ErrorInfo::new(ErrorClass::Config, "no_model_choice", text));
            }
            self.settings.push_back(Setting::Model(model.clone()));
        }
        if let Some(mode) = self.setup.policy.mode {
            let id = self.needed_mode(mode)?;
            if let Some(id) = id.filter(|id| self.config.current_mode().as_ref() != Some(id)) {
                self.settings.push_back(Setting::Mode {
                    id,
                    // This client can allow everything in the agent's place, but not make it ask.
                    is_required: mode != PermissionMode::Bypass,
                    answers_by: Some(mode),
                });
            }
            if self.config.mode.is_none() && asks(mode) && !self.quirks.has_other_modes {
                let text = "the agent reports no permission modes: whether it asks before it acts is up to its own \
                            settings";
                events.notice(Severity::Warning, "no_modes", text);
            }
        }
        let needs_barrier = self.is_replaying && self.quirks.replay == ReplayOrder::AfterAnswer;
        if needs_barrier
            && self.settings.is_empty()
            && let Some(id) = self.config.current_mode()
        {
            // Changes nothing; its answer comes after the replay.
            let (is_required, answers_by) = (false, None);
            self.settings.push_back(Setting::Mode {
                id,
                is_required,
                answers_by,
            });
        }
        Ok(())
    }

    /// The mode that the agent must be put into; `None` if this client's answers to its requests are enough.
    ///
    /// # Errors
    /// When the agent offers no mode in which it asks, or none in which it only plans: it would act unasked. When it
    /// offers no mode in which it decides by itself, or plans and offers no mode in which it acts.
    pub(super) fn needed_mode(&self, mode: PermissionMode) -> Result<Option<String>, ErrorInfo> {
        let offered = self.config.mode.as_ref();
        let mut ids = self.quirks.mode_ids(mode);
        let id = offered.and_then(|offered| ids.find(|id| offered.offers(id)));
        if id.is_some() {
            return Ok(id.map(str::to_owned));
        }
        let missing = match mode {
            PermissionMode::Plan => Some(("no_plan_mode", "this agent offers no plan mode")),
            PermissionMode::Auto => Some((
                "no_auto_mode",
                "this agent offers no mode in which it decides by itself what is safe",
            )),
            PermissionMode::Ask
            | PermissionMode::AcceptEdits
            | PermissionMode::Refuse
            | PermissionMode::Bypass => None,
        };
        if let Some((code, what)) = missing {
            let text = format!("{what}: choose another permission mode");
            return Err(ErrorInfo::new(ErrorClass::Config, code, text));
        }
        // Whoever answers its requests, an agent in its plan mode does nothing that it would ask for.
        let is_current = |id: &str| offered.is_some_and(|offered| offered.current.as_deref() == Some(id));
        if self.quirks.mode_ids(PermissionMode::Plan).any(is_current) {
            let mut ids = self
                .quirks
                .mode_ids(PermissionMode::Ask)
                .chain(self.quirks.acting_mode);
            let id = offered.and_then(|offered| ids.find(|id| offered.offers(id)));
            let text = "this agent is in its plan mode and offers no known mode in which it acts: start another session";
            return match id {
                Some(id) => Ok(Some(id.to_owned())),
                None => Err(ErrorInfo::new(ErrorClass::Config, "no_acting_mode", text)),
            };
        }
        match offered {
            Some(offered) if asks(mode) && !self.quirks.has_other_modes => {
                let names: Vec<String> = offered
                    .values
                    .iter()
                    .take(20)
                    .map(|id| format!("`{id}`"))
                    .collect();
                let text = format!(
                    "this agent offers no mode in which it asks before it acts, only {}: choose another permission mode",
                    names.join(", ")
                );
                Err(ErrorInfo::new(ErrorClass::Config, "no_asking_mode", text))
            }
            _ => Ok(None),
        }
    }

    /// The request for a setting; `None` if the agent offers no such choice.
    pub(super) fn setting_line(
        &mut self,
        setting: Setting,
        command_id: Option<String>,
    ) -> Option<bytes::Bytes> {
        let session_id = self.session_id.as_deref().unwrap_or_default();
        let (method, params) = match &setting {
            Setting::Model(model) => self.config.model.as_ref()?.request(session_id, model),
            Setting::Mode { id, .. } => self.config.mode.as_ref()?.request(session_id, id),
        };
        Some(self.request(method, &params, Sent::Setting { setting, command_id }))
    }

    /// Sends the next setting, or the first prompt.
    fn continue_setup(&mut self, events: &mut Emitter) {
        while let Some(setting) = self.settings.pop_front() {
            if let Some(line) = self.setting_line(setting, None) {
                return events.reply(line);
            }
        }
        self.is_replaying = false;
        self.stage = Stage::Ready;
        if let Some(line) = self.next_prompt(events) {
            events.reply(line);
        }
    }

    fn setting_changed(&mut self, setting: &Setting, command_id: Option<String>, events: &mut Emitter) {
        let mut updated = SessionUpdated::default();
        let choice = match setting {
            Setting::Model(model) => {
                updated.model = Some(model.clone());
                self.config.model.as_mut().zip(updated.model.clone())
            }
            Setting::Mode { id, answers_by, .. } => {
                self.setup.policy.mode = answers_by.or(self.setup.policy.mode);
                updated.permission_mode = Some(id.clone());
                self.config.mode.as_mut().zip(updated.permission_mode.clone())
            }
        };
        if let Some((choice, value)) = choice {
            choice.current = Some(value);
        }
        events.emit(Body::SessionUpdated(Box::new(updated)));
        match command_id {
            Some(command_id) => events.command_answered(command_id, None),
            None => self.continue_setup(events),
        }
    }

    fn setting_refused(
        &mut self,
        setting: &Setting,
        command_id: Option<String>,
        error: &Value,
        events: &mut Emitter,
    ) {
        let mut info = error_info(error, self.setup.login_hint);
        if let Some(command_id) = command_id {
            return events.command_answered(command_id, Some(info.message));
        }
        match setting {
            Setting::Mode {
                is_required: false,
                id,
                ..
            } => {
                let text = format!("the agent refused the session mode `{id}`: {}", info.message);
                events.notice(Severity::Warning, "mode_refused", text);
                self.continue_setup(events);
            }
            Setting::Mode { id, .. } => {
                info.message = format!("the agent refused the session mode `{id}`: {}", info.message);
                self.fail_setup(info, events);
            }
            Setting::Model(model) => {
                if info.class == ErrorClass::Vendor {
                    info.class = ErrorClass::ModelNotFound;
                    "model_refused".clone_into(&mut info.code);
                }
                info.message = format!("the agent refused the model `{model}`: {}", info.message);
                self.fail_setup(info, events);
            }
        }
    }

    pub(super) fn fail_setup_by_deadline(&mut self, events: &mut Emitter) {
        let limit = self.deadline().unwrap_or_default().as_secs();
        let what = match self.stage {
            Stage::Initializing => "`initialize`",
            Stage::SettingUp | Stage::Ready | Stage::Failed | Stage::Cancelled => "the request for a session",
        };
        let text = format!(
            "the agent did not answer {what} within {limit} s{}: check that the command speaks the Agent Client \
             Protocol and run it in a terminal to see whether it waits for a login or an update",
            self.prose.quote()
        );
        let error = ErrorInfo::new(ErrorClass::Process, "no_answer", text);
        self.fail_setup(error, events);
    }

    /// The program ended its output, and all that it wrote was text.
    pub(super) fn fail_setup_by_text(&mut self, events: &mut Emitter) {
        let text = format!(
            "the agent ended its output before it answered `initialize`{}: check that the command speaks the Agent \
             Client Protocol",
            self.prose.quote()
        );
        let error = ErrorInfo::new(ErrorClass::Process, "not_acp", text);
        self.fail_setup(error, events);
    }

    /// Ends the run with an error: a turn that failed, because the prompt never ran.
    pub(super) fn fail_setup(&mut self, error: ErrorInfo, events: &mut Emitter) {
        self.stage = Stage::Failed;
        self.text.complete(true, events);
        let message = self.queue.pop_front();
        self.begin_turn(message.and_then(|message| message.id), events);
        self.end_turn(Outcome::Failed, None, Some(error), events);
        self.drop_queue(events);
    }
}

/// Whether the agent must ask in this mode.
fn asks(mode: PermissionMode) -> bool {
    match mode {
        PermissionMode::Ask | PermissionMode::AcceptEdits | PermissionMode::Auto | PermissionMode::Refuse => {
            true
        }
        PermissionMode::Plan | PermissionMode::Bypass => false,
    }
}
