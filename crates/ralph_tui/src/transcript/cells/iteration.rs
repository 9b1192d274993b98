//! The heading of an iteration: role, outcome, cost. Unfolded, with its prompt.

use ralph_run::{IterationEnded, IterationOutcome};
use run_view::{describe_cost, describe_iteration, format_duration};

use super::super::cell::IterationCell;
use super::super::layout::Setting;
use super::super::line::{Line, Look, Overflow};
use super::super::sheet::Sheet;
use crate::theme::Role;

const LEAD: &str = "── ";
const SEPARATOR: &str = " · ";
const MIN_HEADING_COLUMNS: usize = 12;

fn figures_of(end: &IterationEnded) -> String {
    let mut figures = vec![format_duration(end.totals.duration_ms)];
    figures.extend(describe_cost(&end.totals));
    figures.join(SEPARATOR)
}

pub(in crate::transcript) fn build(iteration: &IterationCell, sheet: &mut Sheet, setting: &Setting) {
    let role = iteration.role.as_deref().map(|role| run_view::one_line(role, 40));
    let text = describe_iteration(iteration.number, iteration.most, role.as_deref());
    // Outcome and cost say more than the end of a long role.
    let end_columns = iteration.end.as_ref().map_or(0, |end| {
        let outcome = run_view::width(&end.outcome.describe());
        outcome + run_view::width(&figures_of(end)) + 2 * run_view::width(SEPARATOR)
    });
    let room = sheet.width.saturating_sub(run_view::width(LEAD) + end_columns);
    let text = run_view::one_line(&text, room.max(MIN_HEADING_COLUMNS));
    let mut line = Line::of(&text, Look::of(Role::Strong))
        .led_by(LEAD, Look::of(Role::Frame))
        .overflowing(Overflow::Cut);
    if let Some(end) = &iteration.end {
        let role = match end.outcome.known() {
            Some(IterationOutcome::Completed) => Role::Good,
            Some(IterationOutcome::VerifyFailed | IterationOutcome::Failed) => Role::Bad,
            Some(IterationOutcome::TimedOut) => Role::Warning,
            Some(IterationOutcome::Continues | IterationOutcome::Ended) | None => Role::Faint,
        };
        line.push(SEPARATOR, Look::of(Role::Faint));
        line.push(&end.outcome.describe(), Look::of(role));
        line.push(&format!("{SEPARATOR}{}", figures_of(end)), Look::of(Role::Faint));
    }
    line.has_rule = true;
    sheet.push(line);
    if !setting.is_folded {
        for content in run_view::sanitise(iteration.prompt.trim()).lines() {
            sheet.push(Line::of(content, Look::PLAIN).led_by("│ ", Look::of(Role::Message)));
        }
    }
}
