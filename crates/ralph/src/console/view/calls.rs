//! `Calls`: the open tool calls, so that each is shown once, with its outcome.

use agent_api::{ItemId, ToolKind, ToolStarted, ToolState};
use jiff::{SignedDuration, Timestamp};

/// A call that ends sooner is shown in one row with its outcome.
const HOLD_TIME: SignedDuration = SignedDuration::from_secs(1);

/// Open tool calls, the latest last.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) item: ItemId,
    pub(super) label: String,
    pub(super) kind: ToolKind,
    /// Whether a subagent makes it.
    pub(super) is_inner: bool,
    pub(super) started_at: Timestamp,
    /// When the console learned that it runs.
    ready_at: Option<Timestamp>,
    pub(super) is_shown: bool,
}

/// When something happened, and when the console learned of it. They differ where a journal is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) at: Timestamp,
    pub(super) now: Timestamp,
}

impl Moment {
    /// A clock that was set back gives 0.
    pub(super) fn milliseconds_since(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.at.duration_since(earlier).as_millis()).unwrap_or(0)
    }
}

impl Calls {
    /// A call begins, or more is known about it.
    pub(super) fn start(&mut self, tool: &ToolStarted, label: String, is_inner: bool, moment: Moment) {
        // A to-do list is shown by its `PlanUpdated`.
        let is_ready =
            tool.state == ToolState::Running && (tool.kind != ToolKind::Plan || tool.subject.is_some());
        let ready_at = is_ready.then_some(moment.now);
        match self.0.iter_mut().find(|call| call.item == tool.item) {
            Some(call) => {
                if call.ready_at.is_none() {
                    call.started_at = moment.at;
                }
                call.label = label;
                call.ready_at = call.ready_at.or(ready_at);
            }
            None => self.0.push(Call {
                item: tool.item.clone(),
                label,
                kind: tool.kind,
                is_inner,
                started_at: moment.at,
                ready_at,
                is_shown: false,
            }),
        }
    }

    /// The running calls that have no row yet, which they get now. With a time, only those that have run for a while by
    /// then.
    pub(super) fn take_held(&mut self, now: Option<Timestamp>) -> Vec<Call> {
        let is_due = |call: &Call| match (call.ready_at, now) {
            (None, _) => false,
            (Some(_), None) => true,
            // A clock that was set back must not hide a call.
            (Some(ready_at), Some(now)) => now.duration_since(ready_at).abs() >= HOLD_TIME,
        };
        let mut held = Vec::new();
        for call in self.0.iter_mut().filter(|call| !call.is_shown) {
            if is_due(call) {
                call.is_shown = true;
                held.push(call.clone());
            }
        }
        held
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

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn finish(&mut self, item: &ItemId) -> Option<Call> {
        let place = self.0.iter().position(|call| call.item == *item)?;
        Some(self.0.remove(place))
    }
}

impl Call {
    pub(super) fn is_ready(&self) -> bool {
        self.ready_at.is_some()
    }
}
