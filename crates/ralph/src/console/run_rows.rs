//! Rows about the run itself: iterations, verify commands, messages, the summary.

use jiff::Timestamp;
use ralph_run::model::{Message, MessageState};
use ralph_run::{
    AttemptEnded, BudgetAwaited, CommandReceived, CooldownCause, CooldownStarted, LimitRaised, SessionForked,
    Totals, VerifyFinished,
};
use run_view::{
    describe_attempt_retry, describe_command, describe_cooldown, describe_forked, describe_iteration,
    describe_limit_raised, describe_totals, describe_verify, message_label, one_line, sanitise,
};

use super::rows::Look;
use super::style::{Style, paint};
use crate::keyboard::ProposedTopUp;

/// How many lines of a failed verify command are shown.
const VERIFY_LINES: usize = 20;

/// `--- Iteration 2 of 50: review ---`.
pub(super) fn render_iteration(look: Look, number: u32, most: u32, role: Option<&str>) -> String {
    let role = role.map(|role| one_line(role, look.columns / 2));
    heading(look, &describe_iteration(number, most, role.as_deref()))
}

pub(super) fn render_verify(look: Look, verify: &VerifyFinished) -> String {
    let style = match verify.is_ok {
        true => Style::Good,
        false if verify.exit.was_stopped && verify.timed_out_after_ms.is_none() => Style::Warning,
        false => Style::Error,
    };
    let mut rows = look.rows(style, "Verify", &describe_verify(verify));
    if verify.is_ok {
        return rows;
    }
    let output = sanitise(&verify.output);
    let lines: Vec<&str> = output.trim_end().lines().collect();
    for line in &lines[lines.len().saturating_sub(VERIFY_LINES)..] {
        rows.push_str("  ");
        rows.push_str(line.trim_end());
        rows.push('\n');
    }
    rows
}

/// Why an attempt is repeated.
pub(super) fn render_attempt_retry(look: Look, ended: &AttemptEnded) -> String {
    look.row(Style::Warning, "Retry", &describe_attempt_retry(ended))
}

/// A pause that takes longer than the one between iterations; empty for that one.
pub(super) fn render_cooldown(look: Look, cooldown: &CooldownStarted, at: Timestamp, run: &str) -> String {
    let Some(mut text) = describe_cooldown(cooldown, at) else {
        return String::new();
    };
    if cooldown.cause == CooldownCause::UsageLimit {
        text.push_str(&format!("; stop with `ralph stop {run}`"));
    }
    look.rows(Style::Warning, "Waiting", &text)
}

/// A limit that is reached, and how to raise it.
pub(super) fn render_budget_awaited(
    look: Look,
    awaited: &BudgetAwaited,
    run: &str,
    has_keyboard: bool,
) -> String {
    let ProposedTopUp { option, amount } = ProposedTopUp::new(awaited);
    let key = if has_keyboard { "press t, or " } else { "" };
    let text = format!(
        "{}; {key}continue with `ralph top-up {run} {option} {amount}`, or stop with `ralph stop {run}`",
        awaited.message
    );
    look.rows(Style::Warning, "Waiting", &text)
}

pub(super) fn render_limit_raised(look: Look, raised: &LimitRaised) -> String {
    look.row(Style::Good, "Limit", &describe_limit_raised(raised))
}

pub(super) fn render_forked(look: Look, forked: &SessionForked) -> String {
    look.row(Style::Warning, "Warning", &describe_forked(forked))
}

pub(super) fn render_command(look: Look, command: &CommandReceived) -> String {
    let is_shown_by_its_message = command.message_id.is_some() || command.request.is_some();
    match (&command.text, describe_command(command)) {
        (_, Some(text)) if command.refused.is_some() => look.rows(Style::Warning, "Command", &text),
        (Some(text), _) if !is_shown_by_its_message => look.row(Style::Tool, "Message", text),
        (_, Some(text)) => look.row(Style::Tool, "Command", &text),
        (_, None) => String::new(),
    }
}

/// Whether a message waits until it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageWait {
    /// It is sent at once, so one row is enough.
    None,
    Queue,
}

/// The state of a message to the agent; `None` if it is not shown.
pub(super) fn render_message(look: Look, message: &Message, wait: MessageWait) -> Option<String> {
    let label = match (message.state, wait) {
        (MessageState::Queued, MessageWait::None) => "Message",
        (MessageState::Sent, MessageWait::None) | (MessageState::Delivered, _) => return None,
        (state, _) => message_label(state),
    };
    let style = match message.state {
        MessageState::Lost => Style::Warning,
        MessageState::Queued | MessageState::Sent | MessageState::Delivered | MessageState::Withdrawn => {
            Style::Tool
        }
    };
    Some(look.row(style, label, &message.text))
}

/// `--- Iteration 2 complete ---` and its totals.
pub(super) fn render_iteration_end(look: Look, number: u32, totals: &Totals) -> String {
    let mut rows = heading(look, &format!("Iteration {number} complete"));
    rows.push_str(&describe_totals(totals));
    rows.push('\n');
    rows
}

fn heading(look: Look, text: &str) -> String {
    let mut row = String::new();
    paint(
        &mut row,
        look.has_colours,
        Style::Strong,
        &format!("--- {text} ---"),
    );
    row.push('\n');
    row
}
