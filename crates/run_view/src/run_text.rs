//! What happens in a run around the agent, in one line each: verify commands, pauses, limits, messages, its end. Not
//! sanitised.

use agent_api::{ExitInfo, MicroUsd, Outcome};
use jiff::Timestamp;
use ralph_run::model::MessageState;
use ralph_run::{
    AttemptEnded, CommandReceived, Continued, CooldownCause, CooldownStarted, EndReason, LimitKind,
    LimitRaised, RunEnded, SessionForked, Suspended, Totals, VerifyFinished,
};

use crate::figures::{format_cost, format_duration};
use crate::one_line::one_line;

const MAX_COMMAND_COLUMNS: usize = 60;

/// `Iteration 2 of 50: review`.
#[must_use]
pub fn describe_iteration(number: u32, most: u32, role: Option<&str>) -> String {
    let role = role.map_or_else(String::new, |role| format!(": {role}"));
    match most {
        0 => format!("Iteration {number}{role}"),
        _ => format!("Iteration {number} of {most}{role}"),
    }
}

/// `cargo test: ok (1.5s)`.
#[must_use]
pub fn describe_verify(verify: &VerifyFinished) -> String {
    let command = one_line(&verify.command, MAX_COMMAND_COLUMNS);
    let took = format_duration(verify.duration_ms);
    match verify.timed_out_after_ms {
        _ if verify.is_ok => format!("{command}: ok ({took})"),
        Some(limit) => format!("{command}: failed, timed out after {}", format_duration(limit)),
        // By the end of the run: that says nothing about the work.
        None if verify.exit.was_stopped => format!("{command}: stopped"),
        None => format!("{command}: failed, {} ({took})", describe_exit(&verify.exit)),
    }
}

/// `exit code 1`.
#[must_use]
pub fn describe_exit(exit: &ExitInfo) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) if exit.was_stopped => "stopped by ralph".to_owned(),
        (None, None) => "no exit status".to_owned(),
    }
}

/// Why an attempt is repeated.
#[must_use]
pub fn describe_attempt_retry(ended: &AttemptEnded) -> String {
    let what = match ended.outcome.known() {
        Some(Outcome::NoResult) => "the agent ended without a result",
        Some(Outcome::Crashed) => "the agent's process died",
        _ => "the agent failed",
    };
    format!("{what} ({}), trying once more", describe_exit(&ended.exit))
}

/// A pause that takes longer than the one between iterations; `None` for that one.
#[must_use]
pub fn describe_cooldown(cooldown: &CooldownStarted, now: Timestamp) -> Option<String> {
    let left = u64::try_from(cooldown.until.duration_since(now).as_millis()).unwrap_or(0);
    let left = format_duration(left);
    match cooldown.cause {
        CooldownCause::Pause => None,
        CooldownCause::Backoff => Some(format!("the agent failed; trying again in {left}")),
        CooldownCause::UsageLimit if cooldown.is_retry => Some(format!(
            "the agent's service is overloaded or limits its use; trying again at {} (in {left})",
            clock_time(cooldown.until, now)
        )),
        CooldownCause::UsageLimit => Some(format!(
            "usage limit reached; continuing at {} (in {left})",
            clock_time(cooldown.until, now)
        )),
    }
}

/// `cost limit raised to $20.00`.
#[must_use]
pub fn describe_limit_raised(raised: &LimitRaised) -> String {
    let to = raised.to;
    match raised.limit.known() {
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
    }
}

/// `14:05 UTC`, with the date if it is another day.
#[must_use]
pub fn clock_time(moment: Timestamp, now: Timestamp) -> String {
    let day = |moment: Timestamp| moment.strftime("%Y-%m-%d").to_string();
    match day(moment) == day(now) {
        true => moment.strftime("%H:%M UTC").to_string(),
        false => moment.strftime("%Y-%m-%d %H:%M UTC").to_string(),
    }
}

#[must_use]
pub fn describe_suspended(suspended: &Suspended) -> String {
    let pid = suspended.pid;
    format!("suspended with everything it started; `fg` or `kill -CONT {pid}` continues it")
}

#[must_use]
pub fn describe_continued(continued: &Continued) -> String {
    format!(
        "continued; suspended for {}",
        format_duration(continued.suspended_ms)
    )
}

#[must_use]
pub fn describe_forked(forked: &SessionForked) -> String {
    format!(
        "the agent continued in session {} instead of {}",
        forked.actual, forked.asked
    )
}

/// `set_model: opus`, `stop refused: …`; `None` for a command whose message or request shows what became of it.
#[must_use]
pub fn describe_command(command: &CommandReceived) -> Option<String> {
    let name = command_words(&command.command);
    if let Some(refused) = &command.refused {
        return Some(format!("{name} refused: {refused}"));
    }
    if command.message_id.is_some() || command.request.is_some() {
        return None;
    }
    let value = match (&command.model, command.permission_mode) {
        (Some(model), _) => Some(model.clone()),
        (None, Some(mode)) => serde_json::to_value(mode)
            .ok()
            .and_then(|mode| mode.as_str().map(str::to_owned)),
        (None, None) => None,
    };
    match value {
        Some(value) => Some(format!("{name}: {value}")),
        // The raised limit has a row of its own.
        None if command.command == "top_up" => None,
        None => Some(name.to_owned()),
    }
}

/// A command of the control socket in words.
fn command_words(name: &str) -> &str {
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

/// `Message queued`.
#[must_use]
pub fn message_label(state: MessageState) -> &'static str {
    match state {
        MessageState::Queued => "Message queued",
        MessageState::Sent | MessageState::Delivered => "Message delivered",
        MessageState::Withdrawn => "Message withdrawn",
        MessageState::Lost => "Message not delivered",
    }
}

/// Where a message is on its way, in one word.
#[must_use]
pub fn message_state_word(state: MessageState) -> &'static str {
    match state {
        MessageState::Queued => "queued",
        MessageState::Sent => "sent",
        MessageState::Delivered => "delivered",
        MessageState::Withdrawn => "withdrawn",
        MessageState::Lost => "lost",
    }
}

/// `Duration: 1.2s | Cost: $0.0096 | Turns: 3`.
#[must_use]
pub fn describe_totals(totals: &Totals) -> String {
    format!(
        "Duration: {} | Cost: {} | Turns: {}",
        format_duration(totals.duration_ms),
        describe_cost(totals).as_deref().unwrap_or("unknown"),
        totals.turns
    )
}

/// `$0.0096`, `about $0.0096`; `None` if it is unknown.
#[must_use]
pub fn describe_cost(totals: &Totals) -> Option<String> {
    let cost = totals.cost.map(format_cost)?;
    Some(match totals.is_estimate {
        true => format!("about {cost}"),
        false => cost,
    })
}

/// `Run complete`, `Stopped at the cost limit: $10.02 of $10.00`, or why it ended.
#[must_use]
pub fn describe_end(ended: &RunEnded, max_iterations: u32) -> String {
    let Some(reason) = ended.reason.known() else {
        return format!("Run ended: {}", ended.reason.describe());
    };
    match reason {
        EndReason::Completed => "Run complete".to_owned(),
        EndReason::Limit(limit) => {
            let name = match limit {
                LimitKind::Iterations => "iteration limit",
                LimitKind::Runtime => "time limit",
                LimitKind::IterationTimeout => "iteration timeout",
                LimitKind::Cost => "cost limit",
                LimitKind::Turns => "turn limit",
                LimitKind::Tokens => "token limit",
                LimitKind::Usage => "usage limit",
            };
            match limit_figures(ended, *limit, max_iterations) {
                Some(figures) => format!("Stopped at the {name}: {figures}"),
                None => format!("Stopped at the {name}"),
            }
        }
        other => format!("Run ended: {}", other.describe()),
    }
}

/// Whether the message of an end has more than its heading says.
#[must_use]
pub fn has_more_to_say(ended: &RunEnded) -> bool {
    let message = ended.message.as_deref().unwrap_or_default();
    let is_limit = matches!(ended.reason.known(), Some(EndReason::Limit(_)));
    !is_limit || used_of_limit(message).is_none() || message.contains("earlier runs")
}

fn limit_figures(ended: &RunEnded, limit: LimitKind, max_iterations: u32) -> Option<String> {
    // Earlier runs of the task count, and only the message has them.
    let figures = ended.message.as_deref().and_then(used_of_limit);
    figures.or_else(|| match limit {
        LimitKind::Iterations => {
            (max_iterations > 0).then(|| format!("{} of {max_iterations}", ended.iterations))
        }
        LimitKind::Runtime => Some(format_duration(ended.totals.duration_ms)),
        LimitKind::Cost
        | LimitKind::Tokens
        | LimitKind::IterationTimeout
        | LimitKind::Turns
        | LimitKind::Usage => None,
    })
}

/// `$10.02 of $10.00` in a message such as `used $10.021 of $10.00; raise …`.
fn used_of_limit(message: &str) -> Option<String> {
    let figures = message.strip_prefix("used ")?.split([',', ';']).next()?;
    Some(figures.split(' ').map(to_cents).collect::<Vec<_>>().join(" "))
}

/// `$10.02` of `$10.023456`; other words stay.
fn to_cents(word: &str) -> String {
    match word.split_once('.') {
        Some((dollars, decimals)) if dollars.starts_with('$') && decimals.len() > 2 => {
            format!("{dollars}.{}", &decimals[..decimals.floor_char_boundary(2)])
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use agent_api::MicroUsd;
    use ralph_run::Totals;

    use super::describe_totals;

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
            let row = describe_totals(&totals);
            assert!(row.contains(told), "{row}");
        }
    }
}
