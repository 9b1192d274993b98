//! Rows about the run itself: iterations, verify commands, messages, the summary.

use agent_api::{ExitInfo, MicroUsd, Outcome};
use jiff::Timestamp;
use ralph_run::model::{Message, MessageState};
use ralph_run::{
    AttemptEnded, BudgetAwaited, CommandReceived, CooldownCause, CooldownStarted, LimitKind, LimitRaised,
    SessionForked, Totals, VerifyFinished,
};

use super::digest::describe_verify;
use super::figures::{format_cost, format_duration};
use super::one_line::one_line;
use super::rows::Look;
use super::sanitise::sanitise;
use super::style::{Style, paint};
use crate::keyboard::ProposedTopUp;

/// How many lines of a failed verify command are shown.
const VERIFY_LINES: usize = 20;

/// `--- Iteration 2 of 50: review ---`.
pub(super) fn render_iteration(look: Look, number: u32, most: u32, role: Option<&str>) -> String {
    let role = role.map_or_else(String::new, |role| {
        format!(": {}", one_line(role, look.columns / 2))
    });
    match most {
        0 => heading(look, &format!("Iteration {number}{role}")),
        _ => heading(look, &format!("Iteration {number} of {most}{role}")),
    }
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

pub(super) fn describe_exit(exit: &ExitInfo) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) if exit.was_stopped => "stopped by ralph".to_owned(),
        (None, None) => "no exit status".to_owned(),
    }
}

/// Why an attempt is repeated.
pub(super) fn render_attempt_retry(look: Look, ended: &AttemptEnded) -> String {
    let what = match ended.outcome.known() {
        Some(Outcome::NoResult) => "the agent ended without a result",
        Some(Outcome::Crashed) => "the agent's process died",
        _ => "the agent failed",
    };
    let text = format!("{what} ({}), trying once more", describe_exit(&ended.exit));
    look.row(Style::Warning, "Retry", &text)
}

/// A pause that takes longer than the one between iterations; empty for that one.
pub(super) fn render_cooldown(look: Look, cooldown: &CooldownStarted, at: Timestamp, run: &str) -> String {
    let left = u64::try_from(cooldown.until.duration_since(at).as_millis()).unwrap_or(0);
    let left = format_duration(left);
    let text = match cooldown.cause {
        CooldownCause::Pause => return String::new(),
        CooldownCause::Backoff => format!("the agent failed; trying again in {left}"),
        CooldownCause::UsageLimit if cooldown.is_retry => format!(
            "the agent's service is overloaded or limits its use; trying again at {} (in {left}); stop with \
             `ralph stop {run}`",
            clock_time(cooldown.until, at)
        ),
        CooldownCause::UsageLimit => format!(
            "usage limit reached; continuing at {} (in {left}); stop with `ralph stop {run}`",
            clock_time(cooldown.until, at)
        ),
    };
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
    let to = raised.to;
    let text = match raised.limit.known() {
        Some(LimitKind::Cost) => format!("cost limit raised to {}", format_cost(MicroUsd::new(to))),
        Some(LimitKind::Tokens) => format!("token limit raised to {to}"),
        Some(LimitKind::Iterations) => format!("iteration limit raised to {to}"),
        Some(LimitKind::Runtime) => format!(
            "time limit raised to {}",
            format_duration(to.saturating_mul(1_000))
        ),
        Some(LimitKind::IterationTimeout | LimitKind::Turns | LimitKind::Usage) | None => {
            format!("a limit was raised to {to}")
        }
    };
    look.row(Style::Good, "Limit", &text)
}

/// `14:05 UTC`, with the date if it is another day.
fn clock_time(moment: Timestamp, now: Timestamp) -> String {
    let day = |moment: Timestamp| moment.strftime("%Y-%m-%d").to_string();
    match day(moment) == day(now) {
        true => moment.strftime("%H:%M UTC").to_string(),
        false => moment.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    }
}

pub(super) fn render_forked(look: Look, forked: &SessionForked) -> String {
    let text = format!(
        "the agent continued in session {} instead of {}",
        forked.actual, forked.asked
    );
    look.row(Style::Warning, "Warning", &text)
}

pub(super) fn render_command(look: Look, command: &CommandReceived) -> String {
    let name = describe_command(&command.command);
    if let Some(refused) = &command.refused {
        let text = format!("{name} refused: {refused}");
        return look.rows(Style::Warning, "Command", &text);
    }
    let value = match (&command.model, command.permission_mode) {
        (Some(model), _) => Some(model.clone()),
        (None, Some(mode)) => serde_json::to_value(mode)
            .ok()
            .and_then(|mode| mode.as_str().map(str::to_owned)),
        (None, None) => None,
    };
    match (&command.text, value) {
        // The state of the message or the request shows what became of it.
        _ if command.message_id.is_some() || command.request.is_some() => String::new(),
        (Some(text), _) => look.row(Style::Tool, "Message", text),
        (None, Some(value)) => look.row(Style::Tool, "Command", &format!("{name}: {value}")),
        // The raised limit has a row of its own.
        (None, None) if command.command == "top_up" => String::new(),
        (None, None) => look.row(Style::Tool, "Command", name),
    }
}

/// A command of the control socket in words.
fn describe_command(name: &str) -> &str {
    match name {
        "send" => "message",
        "edit_message" => "change of a message",
        "withdraw_message" => "withdrawal of a message",
        "close_input" => "end of the conversation",
        "top_up" => "higher limit",
        "set_model" => "model",
        "set_permission_mode" => "permission mode",
        // Words already, or of a newer version.
        other => other,
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
    Some(match (message.state, wait) {
        (MessageState::Queued, MessageWait::None) => look.row(Style::Tool, "Message", &message.text),
        (MessageState::Queued, MessageWait::Queue) => look.row(Style::Tool, "Message queued", &message.text),
        (MessageState::Sent, MessageWait::Queue) => look.row(Style::Tool, "Message delivered", &message.text),
        (MessageState::Sent, MessageWait::None) | (MessageState::Delivered, _) => return None,
        (MessageState::Withdrawn, _) => look.row(Style::Tool, "Message withdrawn", &message.text),
        (MessageState::Lost, _) => look.row(Style::Warning, "Message not delivered", &message.text),
    })
}

/// `--- Iteration 2 complete ---` and its totals.
pub(super) fn render_iteration_end(look: Look, number: u32, totals: &Totals) -> String {
    let mut rows = heading(look, &format!("Iteration {number} complete"));
    push_totals(&mut rows, totals);
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

/// `Duration: 1.2s | Cost: $0.0096 | Turns: 3`.
pub(super) fn push_totals(out: &mut String, totals: &Totals) {
    let cost = match totals.cost.map(format_cost) {
        Some(cost) if totals.is_estimate => format!("about {cost}"),
        Some(cost) => cost,
        None => "unknown".to_owned(),
    };
    out.push_str(&format!(
        "Duration: {} | Cost: {cost} | Turns: {}\n",
        format_duration(totals.duration_ms),
        totals.turns
    ));
}

#[cfg(test)]
mod tests {
    use agent_api::MicroUsd;
    use jiff::{SignedDuration, Timestamp};
    use ralph_run::{CooldownCause, CooldownStarted, Totals};

    use super::super::rows::Look;
    use super::{push_totals, render_cooldown};

    #[test]
    fn a_wait_that_is_only_another_try_is_not_called_a_reset() {
        let look = Look {
            has_colours: false,
            columns: 200,
            wraps: false,
        };
        for (is_retry, told) in [
            (true, "overloaded or limits its use; trying again at "),
            (false, "usage limit reached; continuing at "),
        ] {
            let cooldown = CooldownStarted {
                until: Timestamp::UNIX_EPOCH + SignedDuration::from_mins(2),
                cause: CooldownCause::UsageLimit,
                is_retry,
            };
            let row = render_cooldown(look, &cooldown, Timestamp::UNIX_EPOCH, "run-1");
            assert!(row.contains(told), "{row}");
        }
    }

    #[test]
    fn a_cost_is_known_estimated_or_unknown_and_never_two_of_them() {
        for (cost, is_estimate, told) in [
            (Some(9_600), false, "Cost: $0.0096 |"),
            (Some(9_600), true, "Cost: about $0.0096 |"),
            (None, false, "Cost: unknown |"),
            (None, true, "Cost: unknown |"),
        ] {
            let totals = Totals {
                cost: cost.map(MicroUsd::new),
                is_estimate,
                ..Totals::default()
            };
            let mut row = String::new();
            push_totals(&mut row, &totals);
            assert!(row.contains(told), "{row}");
        }
    }
}
