//! Tool calls that have not ended.

use agent_api::{ItemId, ToolKind, ToolStarted, ToolState};

/// Tool calls that have not ended, the latest last. Each is shown once, as soon as it is known what it is about.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    item: ItemId,
    label: String,
    is_shown: bool,
}

impl Calls {
    /// A call begins, or more is known about it. Gives the label if it is to be shown now.
    pub(super) fn start(&mut self, tool: &ToolStarted, label: String) -> Option<String> {
        // A list of things to do is shown when it is read.
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

    /// The label of a call that was not shown yet; it counts as shown from now on.
    pub(super) fn show(&mut self, item: &ItemId) -> Option<String> {
        let call = self
            .0
            .iter_mut()
            .find(|call| call.item == *item && !call.is_shown)?;
        call.is_shown = true;
        Some(call.label.clone())
    }

    /// A call has ended. Gives the label if it was never shown.
    pub(super) fn finish(&mut self, item: &ItemId) -> Option<String> {
        self.remove(item)
            .filter(|call| !call.is_shown)
            .map(|call| call.label)
    }

    /// A call does not count. Whether it was shown.
    pub(super) fn discard(&mut self, item: &ItemId) -> bool {
        self.remove(item).is_some_and(|call| call.is_shown)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn remove(&mut self, item: &ItemId) -> Option<Call> {
        let place = self.0.iter().position(|call| call.item == *item)?;
        Some(self.0.remove(place))
    }
}
