//! Events to changes.

use std::collections::HashMap;

use super::change::Change;
use super::lane::Lane;
use crate::event::{Block, Event, Kind, System};
use crate::text::Text;

/// Turns events into changes without doubling anything. Holds little: one message per speaker.
#[derive(Debug)]
pub struct Reconciler {
    main: Lane,
    subagents: HashMap<String, Lane>,
}

impl Default for Reconciler {
    fn default() -> Self {
        Self {
            main: Lane::new(None),
            subagents: HashMap::new(),
        }
    }
}

impl Reconciler {
    /// A reconciler for one process.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the event changes, in order; often nothing.
    pub fn apply(&mut self, event: &Event) -> Vec<Change> {
        let mut changes = Vec::new();
        match event.kind() {
            Kind::StreamEvent(stream) => self.lane(event).stream(stream, &mut changes),
            Kind::Assistant(assistant) => {
                if let Some(message) = &assistant.message {
                    let fallback_id = event.uuid().map(|uuid| Text::from(uuid.into_owned()));
                    self.lane(event)
                        .complete(message, fallback_id.as_ref(), &mut changes);
                }
            }
            Kind::User(user) => {
                for block in user.message.iter().flat_map(|message| message.content.blocks()) {
                    if let Block::ToolResult(result) = block {
                        self.forget(Some(&result.tool_use_id));
                    }
                }
            }
            Kind::System(System::TaskNotification(task)) => self.forget(task.tool_use_id.as_deref()),
            _ => {}
        }
        changes
    }

    fn lane(&mut self, event: &Event) -> &mut Lane {
        match event.parent_tool_use_id() {
            None => &mut self.main,
            Some(id) => self
                .subagents
                .entry(id.into_owned())
                .or_insert_with_key(|id| Lane::new(Some(Text::from(id.clone())))),
        }
    }

    /// The subagent has ended.
    fn forget(&mut self, tool_use_id: Option<&str>) {
        if let Some(id) = tool_use_id {
            self.subagents.remove(id);
        }
    }
}
