//! `system` lines: session start, status, tasks, retries, hooks.

use claude_code::Event as WireEvent;
use claude_code::event::{Init, SessionState, Status as WireStatus, StatusKind, System, TaskStatus};
use serde_json::json;

use super::dialect_extras::AnswerRetry;
use super::mapper::ClaudeMapper;
use crate::backends::vendor_error::class_of_status;
use crate::emitter::Emitter;
use crate::event::{
    Body, Denial, DiscardReason, ErrorClass, ErrorInfo, ItemDiscarded, ItemId, Json, Notice, Retry,
    SessionStarted, SessionUpdated, Severity, Status, StatusChanged, Task, TaskState,
};

impl ClaudeMapper {
    pub(super) fn map_system(&mut self, wire: &WireEvent, system: &System, events: &mut Emitter) {
        match system {
            System::Init(init) => self.map_init(wire, init, events),
            System::Status(status) => map_status(status, events),
            System::ApiRetry(retry) => {
                let status = retry.error_status.and_then(|status| u16::try_from(status).ok());
                // None is a connection that broke.
                let class = status.map_or(ErrorClass::Network, class_of_status);
                let code = retry.error.as_deref().unwrap_or("api_error");
                let mut error = ErrorInfo::new(class, code, format!("the API failed: {code}"));
                error.http_status = status;
                error.is_retryable = true;
                events.emit(Body::RetryScheduled(Box::new(Retry {
                    attempt: retry.attempt.and_then(|count| u32::try_from(count).ok()),
                    max_attempts: retry.max_retries.and_then(|count| u32::try_from(count).ok()),
                    delay_ms: retry.retry_delay_ms.map(|delay| delay as u64),
                    error,
                })));
            }
            System::PermissionDenied(denied) => {
                let item = denied.tool_use_id.as_deref().map(ItemId::new);
                if let Some(item) = &item {
                    self.items.deny(item.clone());
                }
                let reason = denied.message.as_deref().or(denied.decision_reason.as_deref());
                events.emit(Body::PermissionDenied(Box::new(Denial {
                    item,
                    tool: denied.tool_name.as_deref().map(str::to_owned).unwrap_or_default(),
                    reason: reason.map(str::to_owned),
                })));
            }
            System::ThinkingTokens(_) => status(Status::Thinking, events),
            System::TaskStarted(_)
            | System::TaskProgress(_)
            | System::TaskUpdated(_)
            | System::TaskNotification(_) => map_task(system, events),
            System::BackgroundTasksChanged(changed) => {
                let message = format!("{} in the background", changed.tasks.len());
                events.notice(Severity::Debug, "background_tasks", &message);
            }
            System::CompactBoundary(boundary) => {
                let figures = boundary.compact_metadata.as_ref();
                let before = figures.and_then(|figures| figures.pre_tokens);
                let after = figures.and_then(|figures| figures.post_tokens);
                let trigger = figures.and_then(|figures| figures.trigger.as_deref());
                let data = json!({"trigger": trigger, "before_tokens": before, "after_tokens": after});
                let message = "the conversation was replaced by a summary";
                let mut notice = Notice::new(Severity::Info, "compacted", message);
                notice.data = Some(Json::from(&data));
                events.emit(Body::Notice(Box::new(notice)));
            }
            System::HookStarted(hook) => {
                let name = hook.hook_name.as_deref().unwrap_or_default();
                events.notice(Severity::Debug, "hook_started", name);
            }
            System::HookResponse(hook) => {
                let name = hook.hook_name.as_deref().unwrap_or_default();
                let has_failed = hook.outcome.as_deref() == Some("error");
                let severity = if has_failed {
                    Severity::Warning
                } else {
                    Severity::Debug
                };
                events.notice(severity, "hook_finished", name);
            }
            System::Informational(line) => {
                let severity = match line.level.as_deref() {
                    Some("error") => Severity::Error,
                    Some("warning" | "warn") => Severity::Warning,
                    _ => Severity::Info,
                };
                events.notice(
                    severity,
                    "informational",
                    line.content.as_deref().unwrap_or_default(),
                );
            }
            System::Notification(line) => {
                events.notice(
                    Severity::Info,
                    "notification",
                    line.text.as_deref().unwrap_or_default(),
                );
            }
            System::ModelFallback(change) => {
                self.model = change.fallback_model.as_deref().map(str::to_owned);
                events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
                    model: self.model.clone(),
                    ..SessionUpdated::default()
                })));
                let text = change.content.as_deref().unwrap_or("another model takes over");
                events.notice(Severity::Warning, "model_fallback", text);
            }
            System::ModelRefusalNoFallback(refusal) | System::ModelRefusalFallback(refusal) => {
                let text = refusal.content.as_deref().unwrap_or("the model refused");
                events.notice(Severity::Warning, "model_refusal", text);
            }
            System::SessionStateChanged(changed) => match &changed.state {
                Some(SessionState::Running) => status(Status::Running, events),
                Some(SessionState::Idle) => status(Status::Idle, events),
                Some(SessionState::RequiresAction) => status(Status::Waiting, events),
                _ => {}
            },
            System::SessionTitleChanged(changed) => {
                events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
                    title: changed.title.as_deref().map(str::to_owned),
                    ..SessionUpdated::default()
                })));
            }
            System::SessionWritesLost | System::MirrorError => {
                let code = system.subtype().unwrap_or_default();
                events.notice(
                    Severity::Warning,
                    code,
                    "the session may not be resumable as it is",
                );
            }
            System::UiInvalidate(_)
            | System::CommandsChanged
            | System::LocalCommandOutput
            | System::HookProgress
            | System::PluginInstall
            | System::MemoryRecall
            | System::FilesPersisted
            | System::ElicitationComplete
            | System::ControlRequestProgress
            | System::WorkerShuttingDown => {
                let code = system.subtype().unwrap_or_default();
                events.notice(Severity::Debug, code, "");
            }
            _ => {
                let read = self.setup.extras.read_answer_retry;
                if let Some(retry) = read.and_then(|read| read(wire)) {
                    return self.map_answer_retry(retry, events);
                }
                let subtype = system.subtype().unwrap_or_default();
                events.unknown(Some(&format!("system/{subtype}")));
            }
        }
    }

    fn map_answer_retry(&mut self, retry: AnswerRetry, events: &mut Emitter) {
        if retry.discards_text {
            for item in self.items.take_answer() {
                let reason = DiscardReason::Retry;
                events.emit(Body::ItemDiscarded(ItemDiscarded { item, reason }));
            }
        }
        let mut error = ErrorInfo::new(
            crate::event::ErrorClass::Network,
            "answer_retry",
            "the answer broke off; the agent requests it again",
        );
        error.is_retryable = true;
        events.emit(Body::RetryScheduled(Box::new(Retry {
            attempt: retry.attempt,
            max_attempts: retry.max_attempts,
            delay_ms: retry.delay_ms,
            error,
        })));
    }

    fn map_init(&mut self, wire: &WireEvent, init: &Init, events: &mut Emitter) {
        let text = |text: &Option<claude_code::Text>| text.as_deref().map(str::to_owned);
        let session_id = wire.session_id().map(std::borrow::Cow::into_owned);
        let model = text(&init.model);
        let mode = init.permission_mode.as_ref().map(|mode| mode.as_str().to_owned());
        if !std::mem::replace(&mut self.has_session, true) {
            events.emit(Body::SessionStarted(Box::new(SessionStarted {
                session_id: session_id.clone(),
                model: model.clone(),
                cwd: text(&init.cwd),
                agent_version: text(&init.claude_code_version).or_else(|| {
                    let version = wire.field(self.setup.extras.version_key?)?;
                    serde_json::from_slice(version.as_bytes()).ok()
                }),
                permission_mode: mode,
                tools: init
                    .tools
                    .to_vec()
                    .iter()
                    .map(|tool| str::to_owned(tool))
                    .collect(),
                mcp_servers: init
                    .mcp_servers
                    .iter()
                    .map(|server| {
                        let name = server.name.as_deref().unwrap_or_default();
                        format!("{name}: {}", server.status.as_deref().unwrap_or("unknown"))
                    })
                    .collect(),
            })));
        } else if session_id != self.session_id || model != self.model {
            let changed =
                |now: &Option<String>, before: &Option<String>| now.clone().filter(|_| now != before);
            events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
                session_id: changed(&session_id, &self.session_id),
                model: changed(&model, &self.model),
                ..SessionUpdated::default()
            })));
        }
        self.session_id = session_id;
        self.model = model;
        self.begin_turn(events);
    }
}

fn status(status: Status, events: &mut Emitter) {
    events.emit(Body::StatusChanged(StatusChanged { status }));
}

fn map_status(change: &WireStatus, events: &mut Emitter) {
    match &change.status {
        Some(StatusKind::Requesting) => status(Status::Requesting, events),
        Some(StatusKind::Compacting) => status(Status::Compacting, events),
        _ => {}
    }
    if let Some(mode) = &change.permission_mode {
        events.emit(Body::SessionUpdated(Box::new(SessionUpdated {
            permission_mode: Some(mode.as_str().to_owned()),
            ..SessionUpdated::default()
        })));
    }
    if let Some(error) = &change.compact_error {
        let message = format!(
            "the conversation could not be compacted: {}",
            compact_error(error)
        );
        events.notice(Severity::Warning, "compact_failed", &message);
    } else if let Some(result) = &change.compact_result {
        events.notice(Severity::Debug, "compact_result", &**result);
    }
}

/// The CLI's own names for people.
fn compact_error(error: &str) -> &str {
    match error {
        "too_few_groups" => "it is too short, so the prompt itself is too long",
        error => error,
    }
}

fn map_task(system: &System, events: &mut Emitter) {
    let text = |text: &Option<claude_code::Text>| text.as_deref().map(str::to_owned);
    let item = |id: &Option<claude_code::Text>| id.as_deref().map(ItemId::new);
    let new = |id, state| Task::new(text(id).unwrap_or_default(), state);
    let task = match system {
        System::TaskStarted(task) => Task {
            item: item(&task.tool_use_id),
            title: text(&task.description),
            ..new(&task.task_id, TaskState::Running)
        },
        System::TaskProgress(task) => Task {
            item: item(&task.tool_use_id),
            title: text(&task.description),
            ..new(&task.task_id, TaskState::Running)
        },
        System::TaskUpdated(task) => {
            let patch = task.patch.as_ref();
            let status = patch.and_then(|patch| patch.status.as_ref());
            Task {
                summary: patch.and_then(|patch| text(&patch.error)),
                ..new(&task.task_id, task_state(status, TaskState::Running))
            }
        }
        System::TaskNotification(task) => Task {
            item: item(&task.tool_use_id),
            summary: text(&task.summary),
            ..new(
                &task.task_id,
                task_state(task.status.as_ref(), TaskState::Completed),
            )
        },
        _ => return,
    };
    events.emit(Body::TaskUpdated(Box::new(task)));
}

fn task_state(status: Option<&TaskStatus>, otherwise: TaskState) -> TaskState {
    match status {
        Some(TaskStatus::Completed) => TaskState::Completed,
        Some(TaskStatus::Failed) => TaskState::Failed,
        Some(TaskStatus::Stopped | TaskStatus::Killed) => TaskState::Stopped,
        Some(_) => TaskState::Running,
        None => otherwise,
    }
}
