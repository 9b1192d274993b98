//! `render_side_list()`: the iterations of a run and the files that it changed, beside the transcript.

use ralph_run::model::{Iteration, RunModel};
use ralph_run::{IterationOutcome, Open};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use run_view::{end_of_path, format_cents, in_workspace, one_line, width};

use crate::theme::{Role, Theme};
use crate::widgets::{pad, put, put_spans};

/// The list needs this many columns of the screen.
pub(super) const MIN_SCREEN_COLUMNS: u16 = 110;
pub(super) const COLUMNS: u16 = 38;

/// Draws the list. Gives the iteration of each row, for clicks.
pub(super) fn render_side_list(
    run: &RunModel,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
) -> Vec<Option<u32>> {
    for row in 0..area.height {
        put(buffer, area, row, "│", theme.style(Role::Frame));
    }
    let inner = Rect::new(area.x + 2, area.y, area.width.saturating_sub(2), area.height);
    let columns = usize::from(inner.width);
    let rows = usize::from(inner.height);
    // Files get what iterations leave, and at least half of the room they need.
    let file_rows = (run.files().iter().len() + 2).min(rows / 2);
    let iteration_rows = rows.saturating_sub(file_rows + 1);
    let mut lines = vec![(heading("Iterations", theme), None)];
    let skipped = run.iterations().len().saturating_sub(iteration_rows);
    for iteration in run.iterations().iter().skip(skipped) {
        lines.push((iteration_line(iteration, columns, theme), Some(iteration.number)));
    }
    lines.push((Line::default(), None));
    lines.extend(
        file_lines(run, columns, rows, theme)
            .into_iter()
            .map(|line| (line, None)),
    );
    let mut targets = Vec::new();
    for (row, (line, target)) in (0..inner.height).zip(lines) {
        put_spans(buffer, inner, row, &line);
        targets.push(target);
    }
    targets
}

fn heading(text: &'static str, theme: Theme) -> Line<'static> {
    Line::from(Span::styled(text, theme.style(Role::Strong)))
}

/// `12 builder completed    $0.12`.
fn iteration_line(iteration: &Iteration, columns: usize, theme: Theme) -> Line<'static> {
    let (outcome, role) = match &iteration.outcome {
        None => ("running", Role::Strong),
        Some(Open::Unknown(_)) => ("ended", Role::Warning),
        Some(Open::Known(outcome)) => (
            outcome.describe(),
            match outcome {
                IterationOutcome::Completed => Role::Good,
                IterationOutcome::Continues => Role::Faint,
                IterationOutcome::VerifyFailed | IterationOutcome::TimedOut | IterationOutcome::Ended => {
                    Role::Warning
                }
                IterationOutcome::Failed => Role::Bad,
            },
        ),
    };
    let number = format!("{:>3} ", iteration.number);
    let cost = iteration.totals.cost.map(format_cents).unwrap_or_default();
    let room = columns.saturating_sub(width(&number) + width(&cost) + 1);
    let name = iteration
        .role
        .as_deref()
        .map(|name| format!("{} ", one_line(name, 12)));
    let name = name.unwrap_or_default();
    let outcome = pad(outcome, room.saturating_sub(width(&name)));
    Line::from(vec![
        Span::styled(number, theme.style(Role::Faint)),
        Span::raw(name),
        Span::styled(outcome, theme.style(role)),
        Span::raw(" "),
        Span::raw(cost),
    ])
}

fn file_lines(run: &RunModel, columns: usize, rows: usize, theme: Theme) -> Vec<Line<'static>> {
    let files = run.files();
    if files.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![heading("Files changed", theme)];
    let workspace = run.started().map_or("", |started| started.workspace.as_str());
    // The newest are at the end.
    for file in files.iter().rev().take(rows) {
        let (added, removed) = (format!("+{}", file.added), format!("−{}", file.removed));
        let room = columns.saturating_sub(width(&added) + width(&removed) + 2);
        let path = pad(&end_of_path(in_workspace(&file.path, workspace), room), room);
        lines.push(Line::from(vec![
            Span::raw(path),
            Span::styled(format!(" {added}"), theme.style(Role::Added)),
            Span::styled(format!(" {removed}"), theme.style(Role::Removed)),
        ]));
    }
    if files.omitted() > 0 {
        let text = format!("… {} more changes", files.omitted());
        lines.push(Line::from(Span::styled(text, theme.style(Role::Faint))));
    }
    lines
}
