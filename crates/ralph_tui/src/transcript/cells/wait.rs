//! What the run waits for, with a countdown.

use jiff::Timestamp;
use run_view::{describe_cooldown, format_seconds};

use super::super::cell::{Wait, WaitCell};
use super::super::fold_agent::milliseconds;
use super::super::sheet::Sheet;
use crate::theme::Role;

pub(in crate::transcript) fn build(wait: &WaitCell, sheet: &mut Sheet, now: Timestamp) {
    let left = wait.what.until().filter(|until| !wait.is_over && *until > now);
    let left = left.map(|until| format_seconds(milliseconds(now, until).div_ceil(1_000)));
    let (label, role, text) = match &wait.what {
        Wait::Cooldown(cooldown) => {
            // The time that is left does not change after its end.
            let moment = if wait.is_over { cooldown.until } else { now };
            let text = describe_cooldown(cooldown, moment).unwrap_or_default();
            ("Waiting", Role::Warning, text)
        }
        Wait::Budget(awaited) => {
            let text = match left {
                Some(left) => format!("{}; the run ends in {left}", awaited.message),
                None => awaited.message.clone(),
            };
            let role = if wait.is_over {
                Role::Warning
            } else {
                Role::NeedsPerson
            };
            ("Waiting", role, text)
        }
        Wait::Retry { text, .. } => {
            let text = match left {
                Some(left) => format!("{text} ({left} left)"),
                None => text.clone(),
            };
            ("Retry", Role::Warning, text)
        }
    };
    super::labeled::push_labeled(sheet, label, role, &text);
}
