//! Renders the report of `ralph doctor` as text.

use super::Report;
use super::check::{Check, Level};
use crate::commands::listing::columns;
use run_view::{one_line, wrap};

/// The width of the subject column, and where the text begins.
const SUBJECT: usize = 12;
const INDENT: usize = 10 + SUBJECT;

pub(super) fn render(report: &Report) -> String {
    let mut text = format!("ralph {}\n", report.ralph_version);
    let (usable, missing): (Vec<_>, Vec<_>) = report.agents.iter().partition(|agent| agent.is_usable);
    for agent in usable {
        section(&mut text, agent.name, &agent.checks);
    }
    if !missing.is_empty() {
        text.push_str("\nNot installed\n");
        for agent in missing {
            checks(&mut text, &agent.checks, |_| &agent.backend);
        }
    }
    section(&mut text, "Protection", &report.protection);
    section(&mut text, "Directories", &report.directories);
    section(&mut text, "Settings", &report.settings);
    let is_usable = |name: &str| {
        let mut agents = report.agents.iter();
        agents.any(|agent| agent.is_usable && agent.backend == name)
    };
    let mut settings = report.settings.iter();
    let has_broken_settings = settings.any(|check| check.level == Level::Failed);
    let verdict = match &report.backend {
        _ if report.is_ready => "A run can start.".to_owned(),
        Some(backend) if !is_usable(backend) => {
            format!("A run cannot start: the settings choose the backend `{backend}`, which is missing.")
        }
        // Which agent runs is not known before the settings can be used.
        None if !has_broken_settings
            && !report.agents.iter().any(|agent| agent.is_usable && agent.is_real) =>
        {
            "No agent is installed. `ralph demo` shows what a run looks like without one.".to_owned()
        }
        _ => match &report.start_error {
            Some(error) => format!("A run cannot start: {}", one_line(error, usize::MAX)),
            None => "A run cannot start: fix what is marked `failed` first.".to_owned(),
        },
    };
    text.push_str(&format!("\n{}\n", wrap(&verdict, 0, columns())));
    text
}

fn section(text: &mut String, title: &str, checks: &[Check]) {
    text.push_str(&format!("\n{title}\n"));
    self::checks(text, checks, |check| &check.subject);
}

fn checks<'a>(text: &mut String, checks: &'a [Check], subject: impl Fn(&'a Check) -> &'a String) {
    for check in checks {
        let mark = match check.level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Missing => "missing",
            Level::Failed => "failed",
        };
        let found = wrap(&one_line(&check.found, usize::MAX), INDENT, columns());
        text.push_str(&format!("  {mark:8}{:SUBJECT$}{found}\n", subject(check)));
        if let Some(advice) = &check.advice {
            let advice = wrap(&one_line(advice, usize::MAX), INDENT + 2, columns());
            text.push_str(&format!("{:INDENT$}→ {advice}\n", ""));
        }
    }
}
