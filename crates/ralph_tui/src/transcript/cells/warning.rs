//! A warning of the watchdog or the run, and the records that show it.

use ralph_run::Warned;

use super::super::layout::Setting;
use super::super::line::{Line, Look, Overflow};
use super::super::sheet::Sheet;
use crate::theme::Role;

const FOLDED_EVIDENCE: usize = 3;

pub(in crate::transcript) fn build(warned: &Warned, sheet: &mut Sheet, setting: &Setting) {
    super::labeled::push_labeled(sheet, "Warning", Role::Warning, &warned.message);
    let count = warned.evidence.len();
    // The latest say most.
    let hidden = if setting.is_folded {
        count.saturating_sub(FOLDED_EVIDENCE)
    } else {
        0
    };
    if hidden > 0 {
        super::labeled::push_more(sheet, hidden, "earlier");
    }
    for evidence in warned.evidence.iter().skip(hidden) {
        let mut line = Line::of(&format!("#{} ", evidence.seq), Look::of(Role::Faint));
        line.push(&evidence.text, Look::PLAIN);
        sheet.push(
            line.led_by(super::labeled::INDENT, Look::PLAIN)
                .overflowing(Overflow::Cut),
        );
    }
}
