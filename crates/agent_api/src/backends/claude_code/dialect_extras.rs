//! `DialectExtras`: what other speakers of Claude's dialect write beyond Claude's own shapes. Their backends supply it.

use claude_code::Event as WireEvent;

/// How to read the lines and members that only this speaker writes. Claude itself has none.
#[derive(Debug, Clone, Copy, Default)]
pub struct DialectExtras {
    /// The member of `init` that holds the agent's version.
    pub version_key: Option<&'static str>,
    /// Reads a `system` line of unknown subtype as the announcement that an answer is requested again.
    pub read_answer_retry: Option<fn(&WireEvent) -> Option<AnswerRetry>>,
    /// Reads why a turn failed from a `result` line without text.
    pub read_turn_error: Option<fn(&WireEvent) -> Option<String>>,
    /// The error of a turn that was interrupted.
    pub interrupt_error: Option<&'static str>,
    /// The result of an edit does not name the file, so that the call's arguments have to.
    pub changes_in_input: bool,
}

/// A broken answer that the agent requests again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnswerRetry {
    /// Counts from 1.
    pub attempt: Option<u32>,
    /// The agent gives up after this many.
    pub max_attempts: Option<u32>,
    /// How long it waits.
    pub delay_ms: Option<u64>,
    /// Whether the new answer replaces the text of the broken one instead of continuing it.
    pub discards_text: bool,
}
