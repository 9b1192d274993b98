//! `Reconciler`: turns events into changes of blocks.

use json_lines::Text;
use std::collections::{HashMap, HashSet};

use super::change::Change;
use super::speaker::Speaker;
use crate::event::{Block, Event, Kind, System, TaskStatus, User};

/// Turns events into changes, so that every text is there once. It keeps only the states of the blocks of the last few
/// messages per speaker.
#[derive(Debug)]
pub struct Reconciler {
    main: Speaker,
    subagents: HashMap<String, Speaker>,
    /// Calls whose subagent continues after their result, which only reports the launch.
    background_calls: HashSet<String>,
}

impl Default for Reconciler {
    fn default() -> Self {
        Self {
            main: Speaker::new(None),
            subagents: HashMap::new(),
            background_calls: HashSet::new(),
        }
    }
}

impl Reconciler {
    /// A reconciler for one process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The changes of an event, in order; often none.
    pub fn apply(&mut self, event: &Event) -> Vec<Change> {
        let mut changes = Vec::new();
        self.apply_to(event, &mut changes);
        changes
    }

    /// [`Self::apply`] into a list that can be reused. The changes are appended.
    pub fn apply_to(&mut self, event: &Event, changes: &mut Vec<Change>) {
        match event.kind() {
            Kind::StreamEvent(stream) => self.speaker(event).stream(stream, changes),
            Kind::Assistant(assistant) => {
                if let Some(message) = &assistant.message {
                    let fallback_id = match message.id {
                        Some(_) => None,
                        None => event.uuid().map(|uuid| Text::from(uuid.into_owned())),
                    };
                    self.speaker(event)
                        .complete(message, fallback_id.as_ref(), changes);
                }
            }
            Kind::User(user) => self.note_results(user),
            Kind::System(System::TaskStarted(task)) if task.is_backgrounded == Some(true) => {
                self.background_calls
                    .extend(task.tool_use_id.as_ref().map(ToString::to_string));
            }
            Kind::System(System::TaskNotification(task)) if task.status != Some(TaskStatus::Running) => {
                if let Some(id) = &task.tool_use_id {
                    self.background_calls.remove(&**id);
                    self.subagents.remove(&**id);
                }
            }
            _ => {}
        }
    }

    fn speaker(&mut self, event: &Event) -> &mut Speaker {
        match event.parent_tool_use_id() {
            None => &mut self.main,
            Some(id) => self
                .subagents
                .entry(id.into_owned())
                .or_insert_with_key(|id| Speaker::new(Some(Text::from(id.clone())))),
        }
    }

    /// A subagent ends with the result of its call, unless it runs in the background.
    fn note_results(&mut self, user: &User) {
        for block in user.message.iter().flat_map(|message| message.content.blocks()) {
            let Block::ToolResult(result) = block else {
                continue;
            };
            let id = &*result.tool_use_id;
            // Looked at last: it may hold whole files.
            if self.subagents.contains_key(id) && !self.background_calls.contains(id) && !is_launch(user) {
                self.subagents.remove(id);
            }
        }
    }
}

/// Whether a call's result only says that its subagent was launched.
fn is_launch(user: &User) -> bool {
    let status = user
        .tool_use_result
        .as_ref()
        .and_then(|result| result.get("status"));
    status
        .and_then(|status| status.text())
        .is_some_and(|status| &*status == "async_launched")
}
