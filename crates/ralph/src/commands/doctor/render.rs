//! The report, for people.

use super::check::{Check, Level};
use super::execute::Report;
use crate::console::one_line;

/// Where the words begin.
const SUBJECT: usize = 12;

pub(super) fn render(report: &Report) -> String {
    let mut text = format!("ralph {}\n", report.ralph_version);
    for agent in &report.agents {
        section(&mut text, agent.name, &agent.checks);
    }
    section(&mut text, "Protection", &report.protection);
    section(&mut text, "Directories", &report.directories);
    section(&mut text, "Settings", &report.settings);
    text.push_str(if report.is_ready {
        "\nA run can start.\n"
    } else if report.agents.iter().any(|agent| agent.is_usable && agent.is_real) {
        "\nNo run can start before what is marked with `failed` is put right.\n"
    } else {
        "\nNo agent is installed. `ralph demo` shows what a run looks like without one.\n"
    });
    text
}

fn section(text: &mut String, title: &str, checks: &[Check]) {
    text.push_str(&format!("\n{title}\n"));
    for check in checks {
        let mark = match check.level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Missing => "missing",
            Level::Failed => "failed",
        };
        let found = one_line(&check.found, usize::MAX);
        text.push_str(&format!("  {mark:8}{:SUBJECT$}{found}\n", check.subject));
        if let Some(advice) = &check.advice {
            let advice = one_line(advice, usize::MAX);
            text.push_str(&format!("  {:8}{:SUBJECT$}→ {advice}\n", "", ""));
        }
    }
}
