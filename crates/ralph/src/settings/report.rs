//! The settings of a run as `ralph run --dry-run` prints them: one line per setting, from the table.

use std::fmt::Write as _;

use ralph_run::RunKind;
use serde::Serialize;

use super::layer::Origin;
use super::resolved::{SessionStart, Settings};
use super::table::SETTINGS;

/// A setting, its value and the layer that decided it.
#[derive(Debug, Serialize)]
pub struct ReportedSetting<'a> {
    pub name: &'static str,
    pub value: Option<&'a str>,
    pub origin: Origin,
}

/// Every setting with its value. Values of environment variables for the agent are not shown.
pub fn report_settings(settings: &Settings) -> Vec<ReportedSetting<'_>> {
    let reported = SETTINGS.iter().map(|setting| {
        let name = setting.name();
        let value = settings.shown.get(name).map(String::as_str);
        let reported = ReportedSetting {
            name,
            value,
            origin: settings.origins.get(name).copied().unwrap_or(Origin::Default),
        };
        (reported, setting.is_shown_if_set)
    });
    reported
        .filter(|(reported, is_shown_if_set)| reported.value.is_some() || !is_shown_if_set)
        .map(|(reported, _)| reported)
        .collect()
}

/// One line per setting: its name, its value and the layer that decided it.
pub fn render_settings(settings: &Settings) -> String {
    let mut text = format!("workspace: {}\n", settings.workspace.display());
    for ReportedSetting { name, value, origin } in report_settings(settings) {
        let name = name.trim_start_matches('-');
        let value = value.filter(|value| !value.is_empty()).unwrap_or("-");
        let _ = writeln!(text, "{name}: {value}  ({origin})");
    }
    let _ = writeln!(text, "once: {}", settings.once);
    if settings.kind == RunKind::Session {
        text.push_str("interactive: true\n");
    }
    if settings.ephemeral {
        text.push_str("ephemeral: true\n");
    }
    let _ = writeln!(text, "task: {}", settings.task.as_deref().unwrap_or("-"));
    let forked = |fork: bool| if fork { " (forked)" } else { "" };
    let session = match &settings.session {
        SessionStart::Fresh => "new".to_owned(),
        SessionStart::Continue { fork } => format!("the last one{}", forked(*fork)),
        SessionStart::Resume { id, fork } => format!("{id}{}", forked(*fork)),
    };
    let _ = writeln!(text, "session: {session}");
    text
}
