//! The end of a run: why, and what it took.

use run_view::{describe_totals, format_tokens, has_more_to_say};

use super::super::cell::EndCell;
use super::super::line::{Line, Look, Overflow};
use super::super::sheet::Sheet;
use crate::theme::Role;

pub(in crate::transcript) fn build(end: &EndCell, sheet: &mut Sheet) {
    let role = if end.ended.exit_code == 0 {
        Role::Good
    } else {
        Role::Bad
    };
    let mut heading = Line::of(&end.heading, Look::of(role))
        .led_by("── ", Look::of(Role::Frame))
        .overflowing(Overflow::Cut);
    heading.has_rule = true;
    sheet.push(heading);
    sheet.push(Line::of(&describe_totals(&end.ended.totals), Look::PLAIN));
    let figures = format!(
        "Iterations: {} | Tokens: {}",
        end.ended.iterations,
        format_tokens(&end.ended.totals.tokens)
    );
    sheet.push(Line::of(&figures, Look::PLAIN));
    if let Some(message) = &end.ended.message
        && !end.ended.reason.is_failure(end.ended.exit_code)
        && has_more_to_say(&end.ended)
    {
        super::labeled::push_labeled(sheet, "Notice", Role::Warning, message);
    }
}
