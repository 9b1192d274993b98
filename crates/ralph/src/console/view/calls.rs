//! `Calls`: the open tool calls, so that each is shown once.

use agent_api::{ItemId, ToolKind, ToolStarted, ToolState};

/// Open tool calls, the latest last. Each is shown once, as soon as its subject is known.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
pub(super) struct Call {
    item: ItemId,
    pub(super) label: String,
    pub(super) is_shown: bool,
}

impl Call {
    /// The tool's name, which the label begins with.
    pub(super) fn tool(&self) -> &str {
        self.label.split(": ").next().unwrap_or_default()
    }
}

impl Calls {
    /// A call begins, or more is known about it. Gives the label if it should be shown now.
    pub(super) fn start(&mut self, tool: &ToolStarted, label: String) -> Option<String> {
        // A to-do list is shown by its `PlanUpdated`.
        let is_ready =
            tool.state == ToolState::Running && (tool.kind != ToolKind::Plan || tool.subject.is_some());
        let known = self.0.iter_mut().find(|call| call.item == tool.item);
        let was_shown = known.as_ref().is_some_and(|call| call.is_shown);
        let is_shown = was_shown || is_ready;
        match known {
            Some(call) => (call.label, call.is_shown) = (label.clone(), is_shown),
            None => self.0.push(Call {
                item: tool.item.clone(),
                label: label.clone(),
                is_shown,
            }),
        }
        (is_ready && !was_shown).then_some(label)
    }

    /// The label of a call that was not shown yet, and is now.
    pub(super) fn show(&mut self, item: &ItemId) -> Option<String> {
        let call = self
            .0
            .iter_mut()
            .find(|call| call.item == *item && !call.is_shown)?;
        call.is_shown = true;
        Some(call.label.clone())
    }

    /// A call was discarded. Whether it was shown.
    pub(super) fn discard(&mut self, item: &ItemId) -> bool {
        self.finish(item).is_some_and(|call| call.is_shown)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn finish(&mut self, item: &ItemId) -> Option<Call> {
        let place = self.0.iter().position(|call| call.item == *item)?;
        Some(self.0.remove(place))
    }
}
