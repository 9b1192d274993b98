//! A run as a row of the list: the text of its columns.

use agent_api::MicroUsd;
use jiff::Timestamp;
use ralph_run::model::RunState;
use ralph_run::{EndReason, Open, RunFile, short_run_id};
use ratatui::text::{Line, Span};
use run_view::{end_of_path, format_cents, format_seconds, one_line, seconds_between, state_word};

use super::columns::{Column, Columns};
use super::run_filter::StateGroup;
use crate::input::RunSummary;
use crate::theme::{Role, Theme};
use crate::widgets::{pad, render_bar, sparkline};

/// Longer figures are cut: they are untrusted, too.
const MAX_COLUMNS: usize = 200;

/// A run's state in one word.
pub(super) fn state_of(run: &RunSummary) -> &'static str {
    if run.file.is_ended() {
        state_word(&run.file.status.state)
    } else if run.is_lost {
        "lost"
    } else if run.is_suspended {
        "suspended"
    } else {
        state_word(&run.file.status.state)
    }
}

/// The task or the prompt, not sanitised.
pub(super) fn title_of(file: &RunFile) -> &str {
    let task = file.task.as_deref().filter(|task| !task.trim().is_empty());
    task.unwrap_or(&file.prompt)
}

/// How a dialog names a run: `g4k7m2xq (Fix the parser)`.
pub(super) fn name_of(file: &RunFile, columns: usize) -> String {
    let id = one_line(short_run_id(&file.run_id), 24);
    match one_line(title_of(file), columns) {
        title if title.is_empty() => id,
        title => format!("{id} ({title})"),
    }
}

/// What a run is doing or why it ended, with a tool's running time; nothing if the state says it. Not sanitised.
pub(super) fn activity_of(run: &RunSummary, now: Timestamp) -> Option<String> {
    let status = &run.file.status;
    if !run.file.is_ended() && (run.is_lost || run.is_suspended) {
        return None;
    }
    match &status.state {
        RunState::Starting
        | RunState::Stopping
        | RunState::Verifying
        | RunState::Ended {
            reason: Open::Known(EndReason::Completed | EndReason::Interrupted | EndReason::Stopped),
        } => None,
        RunState::Ended { reason } => Some(reason.describe()),
        RunState::Tool { name, subject } => {
            let time = status
                .state_since
                .map(|since| format!(" {}", format_seconds(seconds_between(since, now))))
                .unwrap_or_default();
            let subject = subject
                .as_deref()
                .map(|subject| format!(": {subject}"))
                .unwrap_or_default();
            Some(format!("{name}{time}{subject}"))
        }
        state @ (RunState::Thinking
        | RunState::Responding
        | RunState::Waiting { .. }
        | RunState::Cooling { .. }) => Some(state.to_string()),
    }
}

/// Since when the age counts: the wait of a run that waits, the end of one that ended, else the start.
fn age_from(run: &RunSummary) -> Timestamp {
    let file = &run.file;
    match StateGroup::of(run) {
        StateGroup::NeedsPerson => file.status.state_since.unwrap_or(file.started_at),
        StateGroup::Active => file.started_at,
        StateGroup::Ended => file.ended_at.unwrap_or(file.started_at),
    }
}

/// In one unit: `12s`, `5m`, `3h`, `9d`.
fn format_age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", (seconds / 86_400).min(999)),
    }
}

/// After how many seconds the row looks different although nothing happened.
pub(super) fn next_change_seconds(run: &RunSummary, now: Timestamp) -> u64 {
    if matches!(run.file.status.state, RunState::Tool { .. }) && !run.is_lost && !run.is_suspended {
        return 1;
    }
    let age = seconds_between(age_from(run), now);
    match age {
        0..60 => 1,
        60..3_600 => 60 - age % 60,
        3_600..86_400 => 3_600 - age % 3_600,
        _ => 86_400 - age % 86_400,
    }
}

fn role_of(run: &RunSummary) -> Role {
    if run.is_lost && !run.file.is_ended() {
        return Role::Bad;
    }
    match (StateGroup::of(run), &run.file.status.state) {
        (StateGroup::NeedsPerson, _) => Role::NeedsPerson,
        (_, RunState::Ended { reason }) => match reason {
            Open::Known(EndReason::Completed) => Role::Good,
            Open::Known(EndReason::Limit(_)) => Role::Warning,
            Open::Known(reason) if reason.is_failure() => Role::Bad,
            Open::Known(_) | Open::Unknown(_) => Role::Faint,
        },
        (StateGroup::Active, state) if state.is_working() && !run.is_suspended => Role::Strong,
        (StateGroup::Active | StateGroup::Ended, _) => Role::Faint,
    }
}

/// A run in the columns of the list.
pub(super) fn render_row(
    run: &RunSummary,
    is_snoozed: bool,
    columns: &Columns,
    theme: Theme,
    now: Timestamp,
) -> Line<'static> {
    let row = Row {
        run,
        is_snoozed,
        has_now: columns.has(Column::Now),
        now,
    };
    let mut spans = Vec::new();
    for (column, width) in columns.iter() {
        if !spans.is_empty() {
            spans.push(Span::raw(" "));
        }
        match column {
            Column::CostBar => spans.extend(row.cost_bar(width, theme)),
            _ => {
                let text = row.text(column, width);
                let text = match column.is_right_aligned() {
                    true => format!(
                        "{}{text}",
                        " ".repeat(width.saturating_sub(run_view::width(&text)))
                    ),
                    false => pad(&text, width),
                };
                spans.push(match row.role(column) {
                    Some(role) => Span::styled(text, theme.style(role)),
                    None => Span::raw(text),
                });
            }
        }
    }
    Line::from(spans)
}

struct Row<'a> {
    run: &'a RunSummary,
    is_snoozed: bool,
    has_now: bool,
    now: Timestamp,
}

impl Row<'_> {
    fn text(&self, column: Column, width: usize) -> String {
        let file = &self.run.file;
        let text = match column {
            Column::State if self.is_snoozed => "snoozed".to_owned(),
            Column::State => state_of(self.run).to_owned(),
            Column::Id => short_run_id(&file.run_id).to_owned(),
            Column::Title => self.title(),
            Column::Now => activity_of(self.run, self.now).unwrap_or_default(),
            Column::Workspace => return end_of_path(&file.workspace, width),
            Column::Agent => match &file.model {
                Some(model) => format!("{} {model}", file.display_name),
                None => file.display_name.clone(),
            },
            Column::Iteration => self.iteration(),
            Column::Cost => self.cost(),
            Column::CostBar => String::new(),
            Column::Activity => return sparkline(&self.run.activity, width),
            Column::Warnings => match file.status.warnings {
                0 => String::new(),
                count @ 1..100 => format!("!{count}"),
                _ => "!99".to_owned(),
            },
            Column::Age => format_age(seconds_between(age_from(self.run), self.now)),
        };
        one_line(&text, width.min(MAX_COLUMNS))
    }

    fn role(&self, column: Column) -> Option<Role> {
        match column {
            Column::State if self.is_snoozed => Some(Role::Faint),
            Column::State => Some(role_of(self.run)),
            Column::Id | Column::Workspace | Column::Agent | Column::Age => Some(Role::Faint),
            Column::Now => Some(Role::Tool),
            Column::Activity => Some(Role::BarFilled),
            Column::Warnings => Some(Role::Warning),
            Column::Title | Column::Iteration | Column::Cost | Column::CostBar => None,
        }
    }

    fn title(&self) -> String {
        let title = title_of(&self.run.file);
        let activity = match &self.run.file.status.state {
            // The state says that it waits.
            RunState::Waiting { what } if !self.run.is_suspended && !self.run.is_lost => {
                Some(format!("for {what}"))
            }
            _ => activity_of(self.run, self.now),
        };
        match activity {
            Some(activity) if !self.has_now && title.trim().is_empty() => activity,
            Some(activity) if !self.has_now => format!("{activity} · {title}"),
            _ => title.to_owned(),
        }
    }

    fn iteration(&self) -> String {
        let status = &self.run.file.status;
        match (status.iteration, status.max_iterations) {
            (0, _) => String::new(),
            (iteration, Some(max)) if max > 0 => format!("{iteration}/{max}"),
            (iteration, _) => iteration.to_string(),
        }
    }

    fn cost(&self) -> String {
        let totals = &self.run.file.status.totals;
        let estimate = if totals.is_estimate { "~" } else { "" };
        let cost = totals
            .cost
            .map(|cost| format!("{estimate}{}", format_cents(cost)));
        cost.unwrap_or_default()
    }

    fn cost_bar(&self, columns: usize, theme: Theme) -> Vec<Span<'static>> {
        let status = &self.run.file.status;
        match status.max_cost.map(MicroUsd::as_micro_usd) {
            Some(limit) if limit > 0 => {
                let used = status.spent_of_limit().as_micro_usd();
                render_bar(used, limit, columns, theme).spans
            }
            _ => vec![Span::raw(" ".repeat(columns))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::format_age;

    #[test]
    fn an_age_has_one_unit() {
        let shown = [0, 59, 60, 3_599, 3_600, 86_399, 86_400, u64::MAX].map(format_age);
        assert_eq!(shown, ["0s", "59s", "1m", "59m", "1h", "23h", "1d", "999d"]);
    }
}
