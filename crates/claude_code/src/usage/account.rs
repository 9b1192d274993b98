//! The account of one process.

use std::collections::HashMap;

use super::tokens::TokenCount;
use crate::event::{Event, Kind, Models, StreamBody, System, TurnResult, Usage};
use crate::money::MicroUsd;
use crate::version::Version;

/// From this version on, `total_cost_usd` and `modelUsage` of a resumed session include its earlier runs.
const CUMULATIVE_SINCE: Version = Version::new(2, 1, 277);

/// What was known before the process started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CostBasis {
    /// A new session: it starts at nothing.
    #[default]
    NewSession,
    /// A resumed, continued or forked session whose total so far is known ([`CostAccount::session_total`] of its
    /// last run).
    Resumed {
        /// The last total that the session reported.
        session_total: MicroUsd,
    },
    /// A resumed, continued or forked session about which nothing is known.
    ResumedUnknown,
}

/// Adds up what one process used and cost. Feed it every event.
///
/// - `assistant` events repeat the usage of their message once per block, with the counts at its start: they are
///   kept per message id, never added up, and only bridge the time until a `result`.
/// - `model_usage_since_last_result` (2.1.309 and later) is this turn's part; the parts are added up.
/// - Without it, `total_cost_usd` counts for the process, and since 2.1.277 for the whole session: the session's last
///   known total is taken off.
#[derive(Debug, Default)]
pub struct CostAccount {
    basis: CostBasis,
    version: Option<Version>,
    /// Sum of the parts, while every result had one.
    parts: MicroUsd,
    part_tokens: TokenCount,
    last_total: Option<MicroUsd>,
    last_models: Models,
    turn_tokens: TokenCount,
    result_count: u32,
    results_with_part: u32,
    /// Per message id, since the last result.
    messages: HashMap<String, TokenCount>,
    streamed_message: Option<String>,
}

impl CostAccount {
    /// An account for a process that starts from `basis`.
    #[must_use]
    pub fn new(basis: CostBasis) -> Self {
        Self {
            basis,
            ..Self::default()
        }
    }

    /// The CLI's version, for those that do not tell it themselves (before 2.1.9).
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// Takes the next event into account.
    pub fn apply(&mut self, event: &Event) {
        match event.kind() {
            Kind::System(System::Init(init)) => {
                let version = init.claude_code_version.as_deref().and_then(Version::find);
                self.version = version.or(self.version);
            }
            Kind::Assistant(assistant) => {
                let message = assistant.message.as_ref();
                let counted =
                    message.and_then(|message| Some((message.id.as_ref()?, message.usage.as_ref()?)));
                if let Some((id, usage)) = counted {
                    self.note_message(id, usage);
                }
            }
            Kind::StreamEvent(stream) => match &stream.body {
                StreamBody::MessageStart { message } => {
                    self.streamed_message = message.id.as_ref().map(ToString::to_string);
                    if let (Some(id), Some(usage)) = (&message.id, &message.usage) {
                        self.note_message(id, usage);
                    }
                }
                StreamBody::MessageDelta {
                    usage: Some(usage), ..
                } => {
                    if let Some(id) = self.streamed_message.clone() {
                        self.note_message(&id, usage);
                    }
                }
                _ => {}
            },
            Kind::Result(result) => self.note_result(result),
            _ => {}
        }
    }

    /// What this process cost so far, by its results; `None` before the first one that says.
    #[must_use]
    pub fn cost(&self) -> Option<MicroUsd> {
        if self.has_all_parts() {
            return Some(self.parts);
        }
        let total = self.last_total?;
        Some(match self.basis {
            CostBasis::Resumed { session_total } if self.is_cumulative(total, session_total) => {
                total.saturating_sub(session_total)
            }
            _ => total,
        })
    }

    /// Whether [`CostAccount::cost`] may include earlier runs of the session, because nothing tells them apart.
    #[must_use]
    pub fn may_include_earlier_runs(&self) -> bool {
        let is_old = self.version.is_some_and(|version| version < CUMULATIVE_SINCE);
        self.basis == CostBasis::ResumedUnknown && self.result_count > 0 && !self.has_all_parts() && !is_old
    }

    /// The session's total as the CLI reports it: to be kept, and given as [`CostBasis::Resumed`] to the next run.
    #[must_use]
    pub fn session_total(&self) -> Option<MicroUsd> {
        self.last_total
    }

    /// Tokens of this process by its results, subagents included where the CLI counts them.
    #[must_use]
    pub fn tokens(&self) -> TokenCount {
        if self.has_all_parts() {
            return self.part_tokens;
        }
        let is_own = self.basis == CostBasis::NewSession
            || self.version.is_some_and(|version| version < CUMULATIVE_SINCE);
        if is_own && self.last_models.is_present() {
            return sum(&self.last_models).0;
        }
        // Leaves subagents out, but never counts an earlier run.
        self.turn_tokens
    }

    /// Tokens of messages that no result has accounted for yet: a low estimate, because counts at the start of a
    /// message do not know its output.
    #[must_use]
    pub fn unsettled_tokens(&self) -> TokenCount {
        self.messages
            .values()
            .fold(TokenCount::default(), |sum, tokens| sum + *tokens)
    }

    fn note_message(&mut self, id: &str, usage: &Usage) {
        let tokens = TokenCount::from(usage);
        match self.messages.get_mut(id) {
            // The end of a message knows more than its start, whatever comes first, but may say less.
            Some(known) => *known = known.max_of_each(tokens),
            None => {
                self.messages.insert(id.to_owned(), tokens);
            }
        }
    }

    fn note_result(&mut self, result: &TurnResult) {
        self.result_count += 1;
        self.messages.clear();
        self.streamed_message = None;
        if result.model_usage_since_last_result.is_present() {
            self.results_with_part += 1;
            let (tokens, cost) = sum(&result.model_usage_since_last_result);
            self.part_tokens += tokens;
            self.parts += cost;
        }
        self.last_total = result.total_cost.or(self.last_total);
        if result.model_usage.is_present() {
            self.last_models = result.model_usage.clone();
        }
        self.turn_tokens += result.usage.as_ref().map(TokenCount::from).unwrap_or_default();
    }

    fn has_all_parts(&self) -> bool {
        self.result_count > 0 && self.results_with_part == self.result_count
    }

    /// A total below the session's last one cannot include it.
    fn is_cumulative(&self, total: MicroUsd, session_total: MicroUsd) -> bool {
        self.version.is_none_or(|version| version >= CUMULATIVE_SINCE) && total >= session_total
    }
}

fn sum(models: &Models) -> (TokenCount, MicroUsd) {
    let mut tokens = TokenCount::default();
    let mut cost = MicroUsd::ZERO;
    for (_, usage) in models.to_vec() {
        tokens += TokenCount::from(&usage);
        cost += usage.cost.unwrap_or_default();
    }
    (tokens, cost)
}
