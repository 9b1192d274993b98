//! `render_header()`: what the run is, how far it is and what it is doing.

use ralph_run::model::{RunModel, RunState, WaitingFor};
use ralph_run::{EndReason, Open, short_run_id};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use run_view::{
    Activity, context_share, cost_of_limit, elapsed_seconds, format_seconds, iteration_of_limit, one_line,
    permission_mode_words, width,
};

use crate::app::Now;
use crate::theme::{Role, Theme};
use crate::widgets::{put, put_spans, render_bar};

const MODE_COLUMNS: usize = 16;
const BAR_COLUMNS: usize = 12;
/// From here on the figures have a row of their own.
const TALL_ROWS: u16 = 20;

/// How many rows the header takes on a screen of this height.
pub(super) fn header_rows(screen_rows: u16) -> u16 {
    if screen_rows < TALL_ROWS { 3 } else { 4 }
}

/// Whether the run is loaded and has a runner. Its records do not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Loading,
    Live,
    /// The runner is gone without an end in the journal.
    Lost,
}

/// What a run is called: by its id, and by its task or prompt if it is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunName<'a> {
    pub(super) subject: Option<&'a str>,
    pub(super) id: &'a str,
}

pub(super) fn render_header(
    run: &RunModel,
    name: RunName<'_>,
    presence: Presence,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
    now: Now,
) {
    let columns = usize::from(area.width);
    let is_tall = area.height >= 4;
    render_title(run, name, presence, area, buffer, theme, now);
    let state = state_line(run, presence, now);
    let style = theme.style(state_role(run, presence));
    if is_tall {
        put_spans(buffer, area, 1, &figures(run, columns, FigureSize::Full, theme));
        put(buffer, area, 2, &one_line(&state, columns), style);
    } else {
        // What the run is doing counts more than the figures.
        let fits = |figures: &Line<'_>| width(&state) + 2 + figures.width() <= columns;
        let figures = [FigureSize::Short, FigureSize::Shortest]
            .map(|size| figures(run, columns, size, theme))
            .into_iter()
            .find(fits)
            .unwrap_or_else(|| figures(run, columns, FigureSize::Shortest, theme));
        let room = columns.saturating_sub(figures.width() + 2);
        put(buffer, area, 1, &one_line(&state, room), style);
        let figures_columns = u16::try_from(figures.width()).unwrap_or(0).min(area.width);
        let place = Rect::new(
            area.right() - figures_columns,
            area.y,
            figures_columns,
            area.height,
        );
        put_spans(buffer, place, 1, &figures);
    }
    let ruler = "─".repeat(columns);
    put(
        buffer,
        area,
        area.height.saturating_sub(1),
        &ruler,
        theme.style(Role::Frame),
    );
}

/// The title, backend, model and role; at the right the permission mode and the time, which nothing at the left can push
/// away.
fn render_title(
    run: &RunModel,
    name: RunName<'_>,
    presence: Presence,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
    now: Now,
) {
    let columns = usize::from(area.width);
    let elapsed = match presence {
        Presence::Lost => Some(run.totals().duration_ms / 1_000),
        Presence::Loading | Presence::Live => elapsed_seconds(run, now.at),
    };
    let clock = elapsed.map(format_seconds).unwrap_or_default();
    // What the agent may do is never cut.
    let mode = run.permission_mode().map(permission_mode_words);
    let mode = mode.map(|mode| one_line(mode, MODE_COLUMNS)).unwrap_or_default();
    let mode_role = match &*mode {
        "bypass" => Role::Bad,
        "accept edits" => Role::Warning,
        _ => Role::Faint,
    };
    let dot = if mode.is_empty() || clock.is_empty() {
        ""
    } else {
        " · "
    };
    let right = width(&mode) + width(dot) + width(&clock);
    let room = columns.saturating_sub(right + 2);
    let mut about = Vec::new();
    if let Some(started) = run.started() {
        about.extend(name.subject.and(folder_of(run)).map(str::to_owned));
        about.push(started.display_name.clone());
    }
    about.extend(run.model().map(str::to_owned));
    let role = run
        .iterations()
        .back()
        .and_then(|iteration| iteration.role.clone());
    about.extend(role.or_else(|| run.started()?.mode.clone()));
    let about = about.join(" · ");
    // Half of the room is for what the run is about, if it needs as much.
    let full_title = run_title(run, name);
    let title_room = room.saturating_sub(width(&about).min(room / 2) + 3);
    let title = one_line(&full_title, title_room);
    let about = match room.saturating_sub(width(&title) + 3) {
        0..6 => String::new(),
        room => one_line(&about, room),
    };
    let about = if about.is_empty() {
        about
    } else {
        format!(" · {about}")
    };
    let left = Line::from(vec![
        Span::styled(title, theme.style(Role::Strong)),
        Span::raw(about),
    ]);
    let right = Line::from(vec![
        Span::styled(mode, theme.style(mode_role)),
        Span::styled(dot, theme.style(Role::Faint)),
        Span::styled(clock, theme.style(Role::Faint)),
    ]);
    let right_columns = u16::try_from(right.width()).unwrap_or(u16::MAX).min(area.width);
    let place = Rect {
        x: area.right() - right_columns,
        width: right_columns,
        ..area
    };
    put_spans(buffer, place, 0, &right);
    let room = Rect {
        width: area.width.saturating_sub(right_columns + 1),
        ..area
    };
    put_spans(buffer, room, 0, &left);
}

/// The run's id, and its task or prompt; without one, its workspace. Not sanitised.
pub(super) fn run_title(run: &RunModel, name: RunName<'_>) -> String {
    let id = short_run_id(name.id);
    if run.started().is_none() {
        return format!("run {id}");
    }
    match name.subject.or(folder_of(run)) {
        Some(name) => format!("{id} {name}"),
        None => format!("run {id}"),
    }
}

fn folder_of(run: &RunModel) -> Option<&str> {
    let workspace = run.started()?.workspace.trim_end_matches('/');
    workspace.rsplit('/').next().filter(|name| !name.is_empty())
}

/// How much is said about iteration, cost and context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FigureSize {
    Full,
    Short,
    Shortest,
}

/// Iteration, cost and context. Bars only where there is room.
fn figures(run: &RunModel, columns: usize, size: FigureSize, theme: Theme) -> Line<'static> {
    let is_tall = size == FigureSize::Full;
    let has_bars = is_tall && columns >= 80;
    let mut spans = Vec::new();
    let mut push = |text: String, bar: Option<Line<'static>>| {
        if !spans.is_empty() {
            spans.push(Span::styled(" · ", theme.style(Role::Faint)));
        }
        spans.push(Span::raw(text));
        if let Some(bar) = bar.filter(|_| has_bars) {
            spans.push(Span::raw(" "));
            spans.extend(bar.spans);
        }
    };
    if let Some(iteration) = iteration_of_limit(run) {
        let short = iteration.trim_start_matches("iteration ").to_owned();
        push(if is_tall { iteration } else { short }, None);
    }
    if let Some(cost) = cost_of_limit(run) {
        let limit = run.started().and_then(|started| started.max_cost);
        let used = run.spent_of_limit().as_micro_usd();
        let bar = limit
            .map(|limit| limit.as_micro_usd())
            .filter(|limit| *limit > 0)
            .map(|limit| render_bar(used, limit, BAR_COLUMNS, theme));
        let short = cost.split(" of ").next().unwrap_or_default().to_owned();
        push(if size == FigureSize::Shortest { short } else { cost }, bar);
    }
    if let Some(context) =
        context_share(run).filter(|_| is_tall || (columns >= 72 && size == FigureSize::Short))
    {
        let bar = run
            .context()
            .and_then(|context| Some(render_bar(context.used, context.size?, BAR_COLUMNS, theme)));
        push(context, bar);
    }
    Line::from(spans)
}

/// What the run is doing, in words.
fn state_line(run: &RunModel, presence: Presence, now: Now) -> String {
    match presence {
        Presence::Loading if run.seq() == 0 => return "loading…".to_owned(),
        Presence::Lost => return "the run was cut off; how it ended is not recorded".to_owned(),
        Presence::Loading | Presence::Live => {}
    }
    if let Some(ended) = run.ended() {
        let words = run.state().to_string();
        return match &ended.message {
            Some(message) => format!("{words} · {message}"),
            None => words,
        };
    }
    let activity = Activity::of(run, now.at);
    if let RunState::Waiting {
        what: WaitingFor::Message,
    } = run.state()
    {
        return format!("{}: press m to write one", activity.head);
    }
    if let RunState::Waiting {
        what: WaitingFor::Budget,
    } = run.state()
    {
        return format!("{}: press + to raise it", activity.head);
    }
    match activity.subject {
        Some(subject) => format!("{}: {subject}", activity.head),
        None => activity.head,
    }
}

fn state_role(run: &RunModel, presence: Presence) -> Role {
    if presence == Presence::Lost {
        return Role::Bad;
    }
    match run.state() {
        state if state.needs_person() => Role::NeedsPerson,
        RunState::Tool { .. } => Role::Tool,
        RunState::Starting | RunState::Thinking | RunState::Responding | RunState::Verifying => Role::Strong,
        RunState::Waiting { .. } | RunState::Cooling { .. } | RunState::Stopping => Role::Warning,
        RunState::Ended { reason } => match reason {
            Open::Known(EndReason::Completed) => Role::Good,
            Open::Known(reason) if reason.is_failure() => Role::Bad,
            Open::Known(_) | Open::Unknown(_) => Role::Warning,
        },
    }
}
