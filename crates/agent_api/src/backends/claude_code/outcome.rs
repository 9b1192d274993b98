//! `result` lines: the outcome of a turn.

use claude_code::event::{ResultSubtype, StopReason, TerminalReason, TurnResult};
use claude_code::{Event as WireEvent, TurnChange};

use super::api_error::turn_error;
use super::mapper::ClaudeMapper;
use super::messages::json;
use crate::emitter::Emitter;
use crate::event::{Body, Denial, ItemId, Limit, Outcome, Severity, TurnFinished};

impl ClaudeMapper {
    pub(super) fn map_result(
        &mut self,
        wire: &WireEvent,
        change: TurnChange,
        result: &TurnResult,
        events: &mut Emitter,
    ) {
        if change == TurnChange::SpuriousResult {
            events.notice(
                Severity::Warning,
                "spurious_result",
                "a result that no turn belongs to was ignored",
            );
            return;
        }
        let number = self.end_turn(events);
        self.items.keep_answer();
        events.emit(self.account.result(result));
        if let Some(total) = self.account.session_total() {
            events.note_session_total(total);
        }
        let mut outcome = outcome(result);
        let extras = self.setup.extras;
        let said = extras.read_turn_error.filter(|_| !outcome.is_success());
        let said = said.and_then(|read| read(wire));
        if said.is_some() && said.as_deref() == extras.interrupt_error {
            outcome = Outcome::Interrupted;
        }
        let denials = result.permission_denials.iter().map(|denial| Denial {
            item: denial.tool_use_id.as_deref().map(ItemId::new),
            tool: denial.tool_name.as_deref().map(str::to_owned).unwrap_or_default(),
            reason: None,
        });
        let stop_reason = match (&result.terminal_reason, &result.stop_reason) {
            (Some(reason), _) if *reason != TerminalReason::Completed => Some(reason.as_str().to_owned()),
            (_, Some(reason)) => Some(reason.as_str().to_owned()),
            (Some(reason), None) => Some(reason.as_str().to_owned()),
            (None, None) => None,
        };
        events.emit(Body::TurnFinished(Box::new(TurnFinished {
            number,
            outcome,
            text: result
                .result
                .as_deref()
                .filter(|_| outcome.is_success())
                .map(str::to_owned),
            error: (!outcome.is_success()).then(|| turn_error(result, said)),
            stop_reason,
            duration_ms: result.duration_ms,
            api_duration_ms: result.duration_api_ms,
            steps: steps(result),
            denials: denials.collect(),
            structured_output: result.structured_output.as_ref().and_then(json),
        })));
    }
}

/// The turns of the model. The CLI counts the one that the limit did not allow, too.
fn steps(result: &TurnResult) -> Option<u64> {
    let steps = result.num_turns?;
    match result.subtype {
        Some(ResultSubtype::ErrorMaxTurns) => Some(steps.saturating_sub(1).max(1)),
        _ => Some(steps),
    }
}

fn outcome(result: &TurnResult) -> Outcome {
    if result.is_success() {
        return Outcome::Succeeded;
    }
    match (&result.subtype, &result.terminal_reason, &result.stop_reason) {
        (Some(ResultSubtype::ErrorMaxTurns), ..) => Outcome::LimitReached(Limit::Turns),
        (Some(ResultSubtype::ErrorMaxBudget), ..) => Outcome::LimitReached(Limit::Budget),
        (_, Some(TerminalReason::AbortedStreaming | TerminalReason::AbortedTools), _) => Outcome::Interrupted,
        (_, Some(TerminalReason::PromptTooLong), _) | (_, _, Some(StopReason::MaxTokens)) => {
            Outcome::LimitReached(Limit::Tokens)
        }
        (_, _, Some(StopReason::Refusal)) => Outcome::Refused,
        _ => Outcome::Failed,
    }
}
