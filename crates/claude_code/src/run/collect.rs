//! `Collector`: gathers from the events of a run what its `Response` says.

use agent_client::{CostBasis, Tokens, Version};

use super::response::RunWarning;
use crate::event::{Event, Kind, PermissionDenial, System, TurnResult};
use crate::reconcile::TextCollector;
use crate::turn_tracker::{TurnChange, TurnTracker};
use crate::usage::CostAccount;
use json_lines::LineError;

#[derive(Debug, Default)]
pub(super) struct Collector {
    pub(super) session_id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) version: Option<String>,
    pub(super) text: TextCollector,
    /// The text of the turn that `result` ended.
    pub(super) result_text: String,
    pub(super) account: CostAccount,
    pub(super) turns: TurnTracker,
    /// The last result that ends a turn. It decides.
    pub(super) result: Option<Box<TurnResult>>,
    pub(super) earlier_results: Vec<TurnResult>,
    pub(super) permission_denials: Vec<PermissionDenial>,
    spurious_results: u32,
    broken_lines: u64,
}

impl Collector {
    /// `version` is the CLI's, if it is known already.
    pub(super) fn new(basis: CostBasis, version: Option<Version>) -> Self {
        let account = CostAccount::new(basis);
        Self {
            version: version.map(|version| version.to_string()),
            account: match version {
                Some(version) => account.with_version(version),
                None => account,
            },
            ..Self::default()
        }
    }

    pub(super) fn observe(&mut self, item: &Result<Event, LineError>) {
        let Ok(event) = item else {
            self.broken_lines += 1;
            return;
        };
        if self.turns.observe(event) == TurnChange::SpuriousResult {
            self.spurious_results += 1;
            return;
        }
        // The last one counts: commands such as `/clear` continue under another id.
        if let Some(session_id) = event.session_id()
            && self.session_id.as_deref() != Some(&*session_id)
        {
            self.session_id = Some(session_id.into_owned());
        }
        self.text.apply(event);
        self.account.apply(event);
        match event.kind() {
            Kind::System(System::Init(init)) => {
                self.text.begin_turn();
                if let Some(model) = &init.model {
                    self.model = Some(model.to_string());
                }
                if let Some(version) = &init.claude_code_version {
                    self.version = Some(version.to_string());
                }
            }
            Kind::Result(result) => {
                self.result_text = self.text.turn_text();
                self.add_denials(&result.permission_denials);
                let earlier = self.result.replace(result.clone());
                self.earlier_results.extend(earlier.map(|result| *result));
            }
            _ => {}
        }
    }

    /// A later result may repeat the denials of an earlier one.
    fn add_denials(&mut self, denials: &[PermissionDenial]) {
        for denial in denials {
            let is_known = self
                .permission_denials
                .iter()
                .any(|known| known.tool_use_id == denial.tool_use_id);
            if !is_known || denial.tool_use_id.is_none() {
                self.permission_denials.push(denial.clone());
            }
        }
    }

    /// For a turn without a result this is a low estimate.
    pub(super) fn tokens(&self) -> Tokens {
        self.account.tokens() + self.account.unsettled_tokens()
    }

    /// Warnings about the output itself.
    pub(super) fn warnings(&self) -> impl Iterator<Item = RunWarning> {
        let broken = (self.broken_lines > 0).then_some(RunWarning::BrokenLines(self.broken_lines));
        let cost = self.account.may_include_earlier_runs();
        let spurious = self.spurious_results;
        broken
            .into_iter()
            .chain(cost.then_some(RunWarning::CostMayIncludeEarlierRuns))
            .chain((spurious > 0).then_some(RunWarning::SpuriousResults(spurious)))
    }
}

#[cfg(test)]
mod tests {
    use super::Collector;
    use crate::parse_line;

    const INIT: &str = r#"{"type":"system","subtype":"init"}"#;
    const SAID: &str = r#"{"type":"assistant","message":{"content":[]},"parent_tool_use_id":null}"#;
    const SUBAGENT_SAID: &str =
        r#"{"type":"assistant","message":{"content":[]},"parent_tool_use_id":"toolu_1"}"#;

    fn result(text: &str) -> String {
        format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"{text}"}}"#)
    }

    /// The text of the result that counts, and how many were ignored.
    fn counted(lines: &[&str]) -> (Option<String>, u32) {
        let mut collector = Collector::default();
        for line in lines {
            collector.observe(&parse_line(line.as_bytes()));
        }
        let text = collector.result.and_then(|result| result.result);
        (text.map(|text| text.to_string()), collector.spurious_results)
    }

    #[test]
    fn the_last_result_with_a_turn_counts() {
        let (one, two) = (result("one"), result("two"));
        for (lines, expected, what) in [
            (vec![INIT, SAID, &one], Some("one"), "one turn"),
            (vec![INIT, SAID, &one, INIT, SAID, &two], Some("two"), "two turns"),
            (
                vec![INIT, SAID, INIT, SAID, &one, &two],
                Some("two"),
                "both at the end",
            ),
            (
                vec![INIT, SAID, &one, SAID, &two],
                Some("two"),
                "a turn without init",
            ),
            (vec![&one], Some("one"), "nothing to resume"),
            (vec![INIT, SAID], None, "no result"),
        ] {
            assert_eq!(counted(&lines), (expected.map(str::to_owned), 0), "{what}");
        }
    }

    #[test]
    fn a_result_without_a_turn_is_ignored_and_counted() {
        let (one, two) = (result("one"), result("two"));
        for lines in [
            vec![INIT, SAID, &one, &two],
            vec![INIT, SAID, &one, SUBAGENT_SAID, &two],
        ] {
            assert_eq!(counted(&lines), (Some("one".to_owned()), 1));
        }
    }
}
