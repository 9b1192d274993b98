//! `ToolTimes`: how long tool calls take, for `/metrics`.

use std::collections::HashMap;
use std::time::Duration;

use agent_api::ItemId;
use jiff::Timestamp;
use ralph_run::RecordHead;
use serde::Deserialize;

use crate::metrics::Metrics;

/// More calls at once than any agent makes; what is beyond is not measured.
const MAX_OPEN: usize = 1024;

/// When the calls that go on began.
#[derive(Debug, Default)]
pub(super) struct ToolTimes {
    open: HashMap<ItemId, Timestamp>,
}

#[derive(Deserialize)]
struct Named {
    item: ItemId,
}

impl ToolTimes {
    /// Looks at a record. Most are told by their bytes: only those about tools are read.
    pub(super) fn observe(&mut self, line: &[u8], metrics: &Metrics) {
        if let Some(took) = self.took(line) {
            metrics.observe_tool(took);
        }
    }

    fn took(&mut self, line: &[u8]) -> Option<Duration> {
        let begins = has(line, br#""type":"tool_started""#);
        if !begins && !has(line, br#""type":"tool_finished""#) {
            return None;
        }
        let head = RecordHead::parse(line)?;
        let item = head.data::<Named>()?.item;
        match &*head.event.kind {
            "tool_started" if self.open.len() < MAX_OPEN => {
                self.open.entry(item).or_insert_with(|| head.at());
                None
            }
            "tool_finished" => {
                let began = self.open.remove(&item)?;
                Duration::try_from(head.at().duration_since(began)).ok()
            }
            _ => None,
        }
    }
}

fn has(line: &[u8], part: &[u8]) -> bool {
    // The kind stands before the data, and before it there is only the stamp.
    let head = line.get(..line.len().min(512)).unwrap_or_default();
    memchr::memmem::find(head, part).is_some()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ToolTimes;

    fn line(second: u32, kind: &str) -> String {
        format!(
            r#"{{"seq":1,"at":"2026-01-01T00:00:{second:02}Z","iteration":1,"attempt":1,"event":{{"agent_kind":"demo","type":"{kind}","data":{{"item":"a"}}}}}}"#
        )
    }

    #[test]
    fn a_call_takes_from_its_start_to_its_end() {
        let mut tools = ToolTimes::default();
        assert_eq!(tools.took(line(1, "tool_started").as_bytes()), None);
        assert_eq!(tools.took(line(2, "tool_started").as_bytes()), None);
        assert_eq!(tools.took(line(3, "text_block").as_bytes()), None);
        assert_eq!(
            tools.took(line(5, "tool_finished").as_bytes()),
            Some(Duration::from_secs(4))
        );
        assert_eq!(tools.took(line(6, "tool_finished").as_bytes()), None);
    }
}
