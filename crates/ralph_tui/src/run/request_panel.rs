//! `render_request()`: a request of the agent in a frame at the bottom of the transcript. Nothing in it is hidden, because
//! a person decides about it.

use ralph_run::control::PendingRequest;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use run_view::{
    DetailKind, DetailRow, describe_permission, escape_hidden, one_line, request_detail, visible, width,
};

use super::request_prompt::{RequestPrompt, Stage};
use crate::app::Now;
use crate::bindings::{Action, Context, footer_hints};
use crate::dialog::{Anchor, BoxFrame, render_rows};
use crate::theme::{Role, Theme};
use crate::widgets::{put, rows_of};

const FIELD_ROWS: u16 = 3;

/// What is asked, in one line.
pub(super) fn request_title(prompt: &RequestPrompt, columns: usize) -> String {
    let text = match prompt.request() {
        PendingRequest::Permission(asked) => format!("Allow {}?", describe_permission(asked)),
        PendingRequest::Plan(_) => "Approve the plan?".to_owned(),
        PendingRequest::Question(_) => prompt
            .question()
            .map(|(question, ..)| visible(&question.text))
            .unwrap_or_default(),
    };
    one_line(&text, columns)
}

/// How many rows the panel would like to have.
pub(super) fn panel_rows(prompt: &mut RequestPrompt, columns: u16) -> usize {
    let field = usize::from(prompt.is_typing()) * usize::from(FIELD_ROWS + 1);
    let remark = usize::from(prompt.remark.is_some());
    detail_rows(prompt, columns).len() + option_rows(prompt) + field + remark + 2
}

fn option_rows(prompt: &RequestPrompt) -> usize {
    prompt.question().map_or(0, |(question, ..)| {
        let described = question
            .options
            .iter()
            .filter(|option| option.description.is_some());
        question.options.len() + described.count()
    })
}

/// Draws the request. `waiting` is how many others wait behind it.
pub(super) fn render_request(
    prompt: &mut RequestPrompt,
    waiting: usize,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
    now: Now,
) -> Option<Position> {
    let mut title = match prompt.request() {
        PendingRequest::Permission(_) => "Waiting for permission".to_owned(),
        PendingRequest::Plan(_) => "Waiting for plan approval".to_owned(),
        PendingRequest::Question(_) => match prompt.question() {
            Some((_, number, total @ 2..)) => format!("Question {number} of {total}"),
            Some(_) | None => "Question".to_owned(),
        },
    };
    if waiting > 0 {
        title.push_str(&format!(" · {waiting} more waiting"));
    }
    let keys = match prompt.is_armed(now.instant) {
        true => request_keys(prompt),
        false => String::new(),
    };
    let frame = BoxFrame {
        title: &title,
        keys: &keys,
        anchor: Anchor::Bottom,
        columns: usize::from(area.width),
        rows: usize::from(area.height).saturating_sub(2),
    };
    let mut inner = frame.render(area, buffer, theme);
    let cursor = render_field(prompt, &mut inner, buffer, theme);
    if let Some(remark) = prompt.remark.as_deref().filter(|_| inner.height > 1) {
        let remark = one_line(remark, usize::from(inner.width));
        inner.height -= 1;
        let place = Rect::new(inner.x, inner.bottom(), inner.width, 1);
        put(buffer, place, 0, &remark, theme.style(Role::Warning));
    }
    let options = option_lines(prompt, usize::from(inner.width), theme);
    detail_rows(prompt, area.width);
    let detail = prompt.rows.as_ref().map_or(&[][..], |(_, rows)| rows);
    let row = |index: usize| match detail.get(index) {
        Some(row) => styled(row, theme),
        None => options.get(index - detail.len()).cloned().unwrap_or_default(),
    };
    let count = detail.len() + options.len();
    render_rows(count, &mut prompt.scroll, None, inner, buffer, theme, row);
    cursor
}

/// The keys that work now, from the table of keys.
fn request_keys(prompt: &RequestPrompt) -> String {
    match &prompt.stage {
        Stage::Reason(_) | Stage::Text(_) => return "enter send · esc back".to_owned(),
        Stage::Choose | Stage::Mark(_) | Stage::Answered => {}
    }
    let mut keys = Vec::new();
    for row in footer_hints(Context::Request) {
        let word = match (row.action, prompt.request()) {
            (Action::AllowAlways, _) if !prompt.always_is_a_key() => continue,
            (Action::Allow, PendingRequest::Plan(_)) => "approve",
            (Action::Deny, PendingRequest::Plan(_)) => "reject",
            (Action::Deny, PendingRequest::Question(_)) => "decline",
            _ => row.hint,
        };
        let options = prompt
            .question()
            .map_or(0, |(question, ..)| question.options.len());
        let label = match row.action {
            Action::ChooseOption => format!("1-{options}"),
            _ => row.label.to_owned(),
        };
        if prompt.takes(row.action) {
            keys.push(format!("{label} {word}"));
        }
    }
    keys.join(" · ")
}

fn render_field(
    prompt: &RequestPrompt,
    inner: &mut Rect,
    buffer: &mut Buffer,
    theme: Theme,
) -> Option<Position> {
    let (label, field) = match &prompt.stage {
        Stage::Reason(field) => ("Reason (optional)", field),
        Stage::Text(field) => (answer_label(prompt), field),
        Stage::Choose | Stage::Mark(_) | Stage::Answered => return None,
    };
    let rows = (FIELD_ROWS + 1).min(inner.height);
    inner.height -= rows;
    let place = Rect::new(inner.x, inner.bottom(), inner.width, rows);
    put(buffer, place, 0, label, theme.style(Role::Strong));
    let place = Rect::new(place.x, place.y + 1, place.width, rows.saturating_sub(1));
    field.render(place, buffer, theme)
}

fn answer_label(prompt: &RequestPrompt) -> &'static str {
    match prompt.question() {
        Some((question, ..)) if question.options.is_empty() => "Answer",
        Some((question, ..)) if question.is_multiple => "Answer, or numbers separated by commas",
        Some(_) | None => "Answer, or a number",
    }
}

fn styled(row: &DetailRow, theme: Theme) -> Line<'static> {
    let style = match row.kind {
        DetailKind::Plain => Style::new(),
        DetailKind::Added => theme.style(Role::Added),
        DetailKind::Removed => theme.style(Role::Removed),
        DetailKind::Remark => theme.style(Role::Strong),
    };
    Line::from(Span::styled(row.text.clone(), style))
}

/// The rows of the request at this width. Wrapped once: a plan can be long.
fn detail_rows(prompt: &mut RequestPrompt, columns: u16) -> &[DetailRow] {
    let is_cached = prompt.rows.as_ref().is_some_and(|(at, _)| *at == columns);
    if !is_cached {
        let rows = wrap_rows(&request_rows(prompt), usize::from(columns).saturating_sub(4));
        prompt.rows = Some((columns, rows));
    }
    prompt.rows.as_ref().map_or(&[], |(_, rows)| rows)
}

fn request_rows(prompt: &RequestPrompt) -> Vec<DetailRow> {
    match prompt.request() {
        PendingRequest::Permission(asked) => {
            let mut rows = vec![row(
                DetailKind::Remark,
                format!("Allow {}?", describe_permission(asked)),
            )];
            if let Some(description) = &asked.description {
                rows.push(row(DetailKind::Plain, visible(description)));
            }
            rows.extend(request_detail(asked).rows);
            rows
        }
        PendingRequest::Plan(asked) => vec![
            row(DetailKind::Remark, "Approve the plan?".to_owned()),
            row(DetailKind::Plain, escape_hidden(&asked.plan)),
        ],
        PendingRequest::Question(_) => {
            let text = prompt.question().map(|(question, ..)| visible(&question.text));
            vec![row(DetailKind::Remark, text.unwrap_or_default())]
        }
    }
}

fn row(kind: DetailKind, text: String) -> DetailRow {
    DetailRow { kind, text }
}

fn wrap_rows(rows: &[DetailRow], columns: usize) -> Vec<DetailRow> {
    let wrapped = rows.iter().flat_map(|row| {
        let texts = rows_of(&row.text, columns.max(1));
        texts.into_iter().map(|text| DetailRow { kind: row.kind, text })
    });
    wrapped.collect()
}

/// `1 [x] Blue`, and what it means below it.
fn option_lines(prompt: &RequestPrompt, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    let Some((question, ..)) = prompt.question() else {
        return rows;
    };
    for (index, option) in question.options.iter().enumerate() {
        let mark = match &prompt.stage {
            Stage::Mark(marked) if marked.contains(&index) => "[x] ",
            Stage::Mark(_) => "[ ] ",
            Stage::Choose | Stage::Reason(_) | Stage::Text(_) | Stage::Answered => "",
        };
        let label = one_line(&visible(&option.label), columns.saturating_sub(8));
        let head = format!("{mark}{label}");
        let description = option.description.as_deref().map(visible);
        let description = description.filter(|text| !text.trim().is_empty());
        let mut spans = vec![
            Span::styled(format!("{:>2} ", index + 1), theme.style(Role::Tool)),
            Span::raw(head.clone()),
        ];
        let Some(description) = description else {
            rows.push(Line::from(spans));
            continue;
        };
        // Beside the label where that is enough.
        let faint = theme.style(Role::Faint);
        let is_beside = width(&head) + width(&description) + 5 <= columns;
        if is_beside {
            spans.push(Span::styled(
                format!("  {}", one_line(&description, columns)),
                faint,
            ));
        }
        rows.push(Line::from(spans));
        if !is_beside {
            let text = one_line(&description, columns.saturating_sub(4));
            rows.push(Line::from(Span::styled(format!("   {text}"), faint)));
        }
    }
    rows
}
