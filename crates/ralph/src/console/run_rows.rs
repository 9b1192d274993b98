//! Rows about the run itself: iterations, verify commands, messages, the summary.

use agent_api::{ExitInfo, Outcome};
use ralph_run::model::{Message, MessageState};
use ralph_run::{AttemptEnded, CommandReceived, RunEnded, SessionForked, Totals, VerifyFinished};

use super::figures::{format_cost, format_duration, format_tokens};
use super::one_line::one_line;
use super::rows::Look;
use super::sanitise::sanitise;
use super::style::{Style, paint};

/// How many lines of a failed verify command are shown.
const VERIFY_LINES: usize = 20;

/// `--- Iteration 2 of 50 ---`.
pub(super) fn render_iteration(look: Look, number: u32, most: u32) -> String {
    match most {
        0 => heading(look, &format!("Iteration {number}")),
        _ => heading(look, &format!("Iteration {number} of {most}")),
    }
}

pub(super) fn render_verify(look: Look, verify: &VerifyFinished) -> String {
    let took = format_duration(verify.duration_ms);
    let command = one_line(&verify.command, look.columns / 2);
    if verify.is_ok {
        return look.row(Style::Good, "Verify", &format!("{command}: ok ({took})"));
    }
    let mut rows = look.row(
        Style::Error,
        "Verify",
        &format!("{command}: failed, {} ({took})", describe_exit(&verify.exit)),
    );
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

pub(super) fn render_forked(look: Look, forked: &SessionForked) -> String {
    let text = format!(
        "the agent continued in session {} instead of {}",
        forked.actual, forked.asked
    );
    look.row(Style::Warning, "Warning", &text)
}

pub(super) fn render_command(look: Look, command: &CommandReceived) -> String {
    if let Some(refused) = &command.refused {
        return look.row(
            Style::Warning,
            "Command",
            &format!("{} refused: {refused}", command.command),
        );
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
        (Some(text), _) => look.rows(Style::Tool, "Message", text),
        (None, Some(value)) => look.row(Style::Tool, "Command", &format!("{}: {value}", command.command)),
        (None, None) => look.row(Style::Tool, "Command", &command.command),
    }
}

/// The state of a message to the agent; `None` if it is not shown.
pub(super) fn render_message(look: Look, message: &Message) -> Option<String> {
    Some(match message.state {
        MessageState::Queued => look.rows(Style::Tool, "Message queued", &message.text),
        MessageState::Sent => look.row(Style::Tool, "Message delivered", &message.text),
        MessageState::Delivered => return None,
        MessageState::Withdrawn => look.row(Style::Tool, "Message withdrawn", &message.text),
        MessageState::Lost => look.row(Style::Warning, "Message not delivered", &message.text),
    })
}

/// `--- Iteration 2 complete ---` and its totals.
pub(super) fn render_iteration_end(look: Look, number: u32, totals: &Totals) -> String {
    let mut rows = heading(look, &format!("Iteration {number} complete"));
    push_totals(&mut rows, totals);
    rows
}

/// `--- Run ended: completed ---`, its totals and where its files are.
pub fn render_summary(ended: &RunEnded, files: Option<&str>, has_colours: bool) -> String {
    let look = Look {
        has_colours,
        columns: usize::MAX,
    };
    let mut rows = String::new();
    let style = if ended.exit_code == 0 {
        Style::Good
    } else {
        Style::Error
    };
    let heading = format!("--- Run ended: {} ---", one_line(&ended.reason.describe(), 80));
    paint(&mut rows, look.has_colours, style, &heading);
    rows.push('\n');
    push_totals(&mut rows, &ended.totals);
    rows.push_str(&format!(
        "Iterations: {} | Tokens: {}\n",
        ended.iterations,
        format_tokens(&ended.totals.tokens)
    ));
    if let Some(files) = files {
        rows.push_str("Files: ");
        rows.push_str(&one_line(files, usize::MAX));
        rows.push('\n');
    }
    rows
}

fn heading(look: Look, text: &str) -> String {
    let mut row = String::new();
    paint(
        &mut row,
        look.has_colours,
        Style::Heading,
        &format!("--- {text} ---"),
    );
    row.push('\n');
    row
}

/// `Duration: 1234ms | Cost: $0.0096 | Turns: 3`.
fn push_totals(out: &mut String, totals: &Totals) {
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
    use ralph_run::Totals;

    use super::push_totals;

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
