//! Events → what a response says.

use super::response::Remark;
use super::turns::{Left, Results, Turns};
use crate::event::{Event, Init, Kind, PermissionDenial, System, TurnResult};
use crate::line_error::LineError;
use crate::money::MicroUsd;
use crate::reconcile::TextCollector;
use crate::turns::Noticed;
use crate::usage::{CostAccount, CostBasis, TokenCount};
use crate::version::Version;

/// Collects what a response says, event by event.
#[derive(Debug)]
pub(super) struct Collector {
    session_id: Option<String>,
    model: Option<String>,
    version: Option<String>,
    text: TextCollector,
    /// Of the turn that the last result ended.
    result_text: String,
    account: CostAccount,
    turns: Turns,
    permission_denials: Vec<PermissionDenial>,
    broken_lines: u64,
}

/// All that was collected.
pub(super) struct Collected {
    pub(super) session_id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) version: Option<String>,
    pub(super) stream_text: String,
    /// What was said in the turn that the result ended.
    pub(super) result_text: String,
    pub(super) tokens: TokenCount,
    pub(super) total_cost: Option<MicroUsd>,
    pub(super) session_total: Option<MicroUsd>,
    pub(super) permission_denials: Vec<PermissionDenial>,
    pub(super) result: Option<Box<TurnResult>>,
    pub(super) earlier_results: Vec<TurnResult>,
    /// What was not finished.
    pub(super) left: Left,
    pub(super) remarks: Vec<Remark>,
}

impl Collector {
    /// For a CLI whose version may be known already.
    pub(super) fn new(basis: CostBasis, version: Option<Version>) -> Self {
        let account = match version {
            Some(version) => CostAccount::new(basis).with_version(version),
            None => CostAccount::new(basis),
        };
        Self {
            session_id: None,
            model: None,
            version: version.map(|version| version.to_string()),
            text: TextCollector::new(),
            result_text: String::new(),
            account,
            turns: Turns::default(),
            permission_denials: Vec::new(),
            broken_lines: 0,
        }
    }

    /// Takes the next item of the stream into account.
    pub(super) fn notice(&mut self, item: &Result<Event, LineError>) {
        let Ok(event) = item else {
            self.broken_lines += 1;
            return;
        };
        if self.turns.notice(event) == Noticed::SpuriousResult {
            return;
        }
        // The last one counts: `/clear` and the like go on under another id.
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
                self.notice_init(init);
            }
            Kind::Result(result) => {
                self.result_text = self.text.turn_text();
                self.notice_denials(&result.permission_denials);
            }
            _ => {}
        }
    }

    fn notice_init(&mut self, init: &Init) {
        self.model = init
            .model
            .as_ref()
            .map(ToString::to_string)
            .or_else(|| self.model.take());
        let version = init.claude_code_version.as_ref().map(ToString::to_string);
        self.version = version.or_else(|| self.version.take());
    }

    /// Later results may repeat what earlier ones said.
    fn notice_denials(&mut self, denials: &[PermissionDenial]) {
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

    /// Whether the process has nothing left to do.
    pub(super) fn is_idle(&self) -> bool {
        self.turns.is_idle()
    }

    pub(super) fn finish(self) -> Collected {
        let mut remarks = Vec::new();
        if self.broken_lines > 0 {
            remarks.push(Remark::BrokenLines(self.broken_lines));
        }
        if self.account.may_include_earlier_runs() {
            remarks.push(Remark::CostMayIncludeEarlierRuns);
        }
        let Results {
            counted,
            earlier,
            spurious,
            left,
        } = self.turns.into_results();
        if spurious > 0 {
            remarks.push(Remark::SpuriousResults(spurious));
        }
        Collected {
            session_id: self.session_id,
            model: self.model,
            version: self.version,
            stream_text: self.text.text(),
            result_text: self.result_text,
            // What a turn without a result used is known only roughly.
            tokens: self.account.tokens() + self.account.unsettled_tokens(),
            total_cost: self.account.cost(),
            session_total: self.account.session_total(),
            permission_denials: self.permission_denials,
            result: counted,
            earlier_results: earlier,
            left,
            remarks,
        }
    }
}
