//! `CostAccount`: tokens and cost of one process, from the events of its stream.

use std::collections::HashMap;

use agent_client::{CostBasis, MicroUsd, Tokens, Version};

use crate::dialect::Dialect;
use crate::event::{Event, Kind, Models, StreamBody, System, TurnResult, Usage};

/// From this version on, `total_cost_usd` and `modelUsage` of a resumed session include its earlier runs.
const CUMULATIVE_SINCE: Version = Version::new(2, 1, 277);

/// Adds up what one process used and cost. Feed it every event.
///
/// - `assistant` events repeat the usage of their message once per block, with the counts at its start: they are
///   kept per message id, never added up, and only bridge the time until a `result`.
/// - `model_usage_since_last_result` (2.1.309 and later) is this turn's part; the parts are added up.
/// - Without it, `total_cost_usd` counts for the process, and since 2.1.277 for the whole session: the session's last
///   known total is taken off.
/// - `/clear` starts a new session in the same process, and the totals start again at zero: what was counted before
///   is kept. The same happens whenever a total is lower than the one before it, so the cost never decreases.
/// - In a [`Dialect`] whose results count for the whole session, what earlier runs used is taken off likewise.
#[derive(Debug, Default)]
pub struct CostAccount {
    basis: CostBasis,
    dialect: Dialect,
    earlier_tokens: Option<Tokens>,
    version: Option<Version>,
    /// Sum of the parts, while every result had one.
    parts: MicroUsd,
    part_tokens: Tokens,
    last_total: Option<MicroUsd>,
    last_models: Models,
    /// What the totals had counted when they started again at zero.
    earlier_totals: EarlierTotals,
    /// By the results' own usage: of all turns, or of the session.
    turn_tokens: Tokens,
    result_count: u32,
    results_with_part: u32,
    /// Per message id, since the last result.
    messages: HashMap<String, Tokens>,
    /// Their sum, which is asked for with every message.
    unsettled: Tokens,
    streamed_message: Option<String>,
}

#[derive(Debug, Default)]
struct EarlierTotals {
    cost: Option<MicroUsd>,
    tokens: Tokens,
    may_include_earlier_runs: bool,
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

    /// The CLI's version, for versions that do not report it (before 2.1.9).
    #[must_use]
    pub fn with_version(mut self, version: Version) -> Self {
        self.version = Some(version);
        self
    }

    /// The dialect, if it is not Claude Code's own.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// What a resumed session had used before ([`CostAccount::session_tokens`] of its last run), for a dialect whose
    /// results count for the whole session.
    #[must_use]
    pub fn with_earlier_tokens(mut self, tokens: Tokens) -> Self {
        self.earlier_tokens = Some(tokens);
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
            Kind::ConversationReset(_) => self.restart_totals(),
            _ => {}
        }
    }

    /// What this process cost so far, by its results; `None` before the first one that says.
    #[must_use]
    pub fn cost(&self) -> Option<MicroUsd> {
        if self.has_all_parts() {
            return Some(self.parts);
        }
        self.cost_by_totals()
    }

    fn cost_by_totals(&self) -> Option<MicroUsd> {
        let since_restart = self.last_total.map(|total| match self.basis {
            CostBasis::Resumed { session_total } if self.is_cumulative(total, session_total) => {
                total.saturating_sub(session_total)
            }
            _ => total,
        });
        match (self.earlier_totals.cost, since_restart) {
            (Some(earlier), Some(cost)) => Some(earlier + cost),
            (earlier, cost) => earlier.or(cost),
        }
    }

    /// Whether [`CostAccount::cost`] may include earlier runs of the session, because the stream does not separate them. The same
    /// holds for the tokens of a dialect that counts for the whole session.
    #[must_use]
    pub fn may_include_earlier_runs(&self) -> bool {
        self.result_count > 0 && !self.has_all_parts() && self.may_totals_include_earlier_runs()
    }

    fn may_totals_include_earlier_runs(&self) -> bool {
        let is_told_apart = match self.dialect.usage_is_cumulative {
            true => self.earlier_tokens.is_some(),
            false => self.version.is_some_and(|version| version < CUMULATIVE_SINCE),
        };
        let is_resumed = self.basis == CostBasis::ResumedUnknown;
        self.earlier_totals.may_include_earlier_runs || (is_resumed && !is_told_apart)
    }

    /// The session's total as the CLI reports it: to be kept, and given as [`CostBasis::Resumed`] to the next run.
    #[must_use]
    pub fn session_total(&self) -> Option<MicroUsd> {
        self.last_total
    }

    /// The session's tokens as the agent reports them, in a dialect whose results count for the whole session: to be
    /// kept, and given to [`CostAccount::with_earlier_tokens`] in the next run.
    #[must_use]
    pub fn session_tokens(&self) -> Option<Tokens> {
        let is_told = self.dialect.usage_is_cumulative && self.result_count > 0;
        is_told.then(|| {
            self.turn_tokens
                .max_of_each(self.earlier_tokens.unwrap_or_default())
        })
    }

    /// Tokens of this process by its results, subagents included where the CLI counts them.
    #[must_use]
    pub fn tokens(&self) -> Tokens {
        if self.has_all_parts() {
            return self.part_tokens;
        }
        if self.dialect.usage_is_cumulative {
            return self.turn_tokens.since(self.earlier_tokens.unwrap_or_default());
        }
        self.tokens_by_totals()
    }

    fn tokens_by_totals(&self) -> Tokens {
        let is_own = self.basis == CostBasis::NewSession
            || self.version.is_some_and(|version| version < CUMULATIVE_SINCE);
        if is_own && self.last_models.is_present() {
            return self.earlier_totals.tokens + sum(&self.last_models).0;
        }
        // May leave subagents out, but never counts an earlier run.
        self.turn_tokens
    }

    /// Tokens of messages that no result has accounted for yet: a low estimate, because counts at the start of a
    /// message do not know its output.
    #[must_use]
    pub fn unsettled_tokens(&self) -> Tokens {
        self.unsettled
    }

    fn note_message(&mut self, id: &str, usage: &Usage) {
        let tokens = self.dialect.tokens(usage);
        match self.messages.get_mut(id) {
            // The end of a message knows more than its start, whatever comes first, but may say less.
            Some(known) => {
                let now = known.max_of_each(tokens);
                self.unsettled += now.since(*known);
                *known = now;
            }
            None => {
                self.unsettled += tokens;
                self.messages.insert(id.to_owned(), tokens);
            }
        }
    }

    fn note_result(&mut self, result: &TurnResult) {
        self.result_count += 1;
        let messages = std::mem::take(&mut self.unsettled);
        self.messages.clear();
        self.streamed_message = None;
        if result.model_usage_since_last_result.is_present() {
            self.results_with_part += 1;
            let (tokens, cost) = sum(&result.model_usage_since_last_result);
            self.part_tokens += tokens;
            self.parts += cost;
        }
        if let (Some(total), Some(last)) = (result.total_cost, self.last_total)
            && total < last
        {
            self.restart_totals();
        }
        self.last_total = result.total_cost.or(self.last_total);
        if result.model_usage.is_present() {
            self.last_models = result.model_usage.clone();
        }
        let tokens = result.usage.as_ref().map(|usage| self.dialect.tokens(usage));
        let tokens = tokens.unwrap_or_default();
        if self.dialect.usage_is_cumulative {
            // A turn that failed before the model answered reports nothing, which takes nothing back.
            self.turn_tokens = self.turn_tokens.max_of_each(tokens);
        } else {
            // 1.0.108 reports the last message only.
            self.turn_tokens += tokens.max_of_each(messages);
        }
    }

    /// Keeps what was counted so far. From here on, totals are those of a new session.
    fn restart_totals(&mut self) {
        self.earlier_totals = EarlierTotals {
            cost: self.cost_by_totals(),
            tokens: self.tokens_by_totals(),
            may_include_earlier_runs: self.last_total.is_some() && self.may_totals_include_earlier_runs(),
        };
        self.last_total = None;
        self.last_models = Models::default();
        self.basis = CostBasis::NewSession;
    }

    fn has_all_parts(&self) -> bool {
        self.result_count > 0 && self.results_with_part == self.result_count
    }

    /// A total below the session's last one cannot include it.
    fn is_cumulative(&self, total: MicroUsd, session_total: MicroUsd) -> bool {
        self.version.is_none_or(|version| version >= CUMULATIVE_SINCE) && total >= session_total
    }
}

fn sum(models: &Models) -> (Tokens, MicroUsd) {
    let mut tokens = Tokens::default();
    let mut cost = MicroUsd::ZERO;
    for (_, usage) in models.to_vec() {
        tokens += Tokens::from(&usage);
        cost += usage.cost.unwrap_or_default();
    }
    (tokens, cost)
}
