//! A verify command, and the end of its output if it failed.

use jiff::Timestamp;
use run_view::{describe_verify, format_seconds};

use super::super::cell::VerifyCell;
use super::super::fold_agent::milliseconds;
use super::super::layout::Setting;
use super::super::line::{Line, Look};
use super::super::sheet::Sheet;
use super::output::{FOLDED_LINES, Part, push_output};
use crate::theme::Role;

pub(in crate::transcript) fn build(
    verify: &VerifyCell,
    sheet: &mut Sheet,
    setting: &Setting,
    now: Timestamp,
) {
    let Some(end) = &verify.end else {
        let mut line = Line::of("Verify: ", Look::of(Role::Strong));
        line.push(&run_view::one_line(&verify.command, 400), Look::PLAIN);
        if verify.is_over {
            line.push("  stopped", Look::of(Role::Faint));
        } else {
            let seconds = milliseconds(verify.started_at, now) / 1_000;
            line.push(&format!("  {}", format_seconds(seconds)), Look::of(Role::Faint));
        }
        sheet.push(line);
        return;
    };
    let role = match end.is_ok {
        true => Role::Good,
        false if end.exit.was_stopped && end.timed_out_after_ms.is_none() => Role::Warning,
        false => Role::Bad,
    };
    super::labeled::push_labeled(sheet, "Verify", role, &describe_verify(end));
    match (setting.is_folded, end.is_ok) {
        (true, true) => {}
        (true, false) => push_output(&end.output, Part::Tail(FOLDED_LINES), sheet),
        (false, _) => push_output(&end.output, Part::All, sheet),
    }
}
