//! `render_request()`: a request of the agent in a frame at the bottom of the transcript. Nothing in it is hidden, because
//! a person decides about it.

use ralph_run::control::PendingRequest;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use run_view::{
    DetailKind, DetailRow, PromptAction, RequestDetail, Stage, describe_permission, escape_hidden,
    fold_blanks, one_line, option_keys,
};
use terminal_input::Key;

use super::panel::{RequestPanel, WrappedRows, prompt_action};
use crate::app::Now;
use crate::bindings::{Action, Context, footer_hints};
use crate::dialog::{Anchor, BoxFrame};
use crate::theme::{Role, Theme};
use crate::widgets::{put, put_spans, rows_of};

const FIELD_ROWS: u16 = 3;
const MAX_REMARK_ROWS: usize = 3;
const MAX_GRANT_KEYS: usize = 9;

/// What is asked, in one line.
pub(crate) fn request_title(panel: &RequestPanel, columns: usize) -> String {
    let end = match panel.request() {
        PendingRequest::Permission(_) | PendingRequest::Plan(_) => "?",
        PendingRequest::Question(_) => "",
    };
    one_line(&format!("{}{end}", panel.prompt.headline()), columns)
}

/// How many rows the panel would like to have.
pub(crate) fn panel_rows(panel: &mut RequestPanel, columns: u16) -> usize {
    let field = usize::from(panel.is_typing()) * usize::from(FIELD_ROWS + 1);
    let remark = remark_rows(panel, columns.saturating_sub(4)).len();
    let options = option_rows(panel, usize::from(columns).saturating_sub(4)).len();
    detail_rows(panel, columns).len() + options + field + remark + 2
}

/// Draws the request. `waiting` is how many others wait behind it.
pub(crate) fn render_request(
    panel: &mut RequestPanel,
    waiting: usize,
    area: Rect,
    buffer: &mut Buffer,
    theme: Theme,
    now: Now,
) -> Option<Position> {
    let mut title = match panel.request() {
        PendingRequest::Permission(_) => "Waiting for permission".to_owned(),
        PendingRequest::Plan(_) => "Waiting for plan approval".to_owned(),
        PendingRequest::Question(_) => match panel.prompt.question() {
            Some((_, number, total @ 2..)) => format!("Question {number} of {total}"),
            Some(_) | None => "Question".to_owned(),
        },
    };
    if waiting > 0 {
        title.push_str(&format!(" · {waiting} more waiting"));
    }
    let mut frame = BoxFrame {
        title: &title,
        keys: "",
        anchor: Anchor::Bottom,
        columns: usize::from(area.width),
        rows: usize::from(area.height).saturating_sub(2),
    };
    let mut inner = frame.content(area);
    let field = split_field(panel, &mut inner);
    let mut remark = remark_rows(panel, inner.width);
    remark.truncate(usize::from(inner.height.saturating_sub(1)));
    inner.height -= u16::try_from(remark.len()).unwrap_or(0);
    let options = option_rows(panel, usize::from(inner.width));
    let count = detail_rows(panel, area.width).len() + options.len();
    let view = panel.scroll.view(count, None, usize::from(inner.height));
    panel.note_drawn(&view, count, now.instant);
    let above = match view.start {
        0 => title.clone(),
        hidden => format!("{title} · {hidden} more ↑"),
    };
    let keys = keys_below(panel, count - view.end, now);
    frame.title = &above;
    frame.keys = &keys;
    frame.render(area, buffer, theme);
    let detail = panel.rows.as_ref().map_or(&[][..], |wrapped| &wrapped.rows);
    for (y, index) in (0..inner.height).zip(view) {
        let line = match detail.get(index) {
            Some(row) => styled(row, theme),
            None => options
                .get(index - detail.len())
                .map(|row| option_line(row, theme))
                .unwrap_or_default(),
        };
        put_spans(buffer, inner, y, &line);
    }
    for (y, row) in (inner.bottom()..).zip(remark) {
        let place = Rect::new(inner.x, y, inner.width, 1);
        put(buffer, place, 0, &row, theme.style(Role::Warning));
    }
    render_field(panel, field, buffer, theme)
}

/// What happened to the last answer, in a few rows.
fn remark_rows(panel: &RequestPanel, columns: u16) -> Vec<String> {
    let remark = panel.prompt.remark().unwrap_or_default();
    let remark = match panel.prompt.confirm_keys() {
        Some(keys) => format!("{remark} · {keys}"),
        None => remark.to_owned(),
    };
    let lines = run_view::wrap(&one_line(&remark, 400), 0, usize::from(columns).max(1));
    lines.lines().take(MAX_REMARK_ROWS).map(str::to_owned).collect()
}

/// `27 more ↓ · space read on · G end · n deny`. Never over the rows: nothing of them is hidden.
fn keys_below(panel: &RequestPanel, below: usize, now: Now) -> String {
    let keys = match panel.is_armed(now.instant) {
        true => request_keys(panel),
        false => String::new(),
    };
    let more = format!("{below} more ↓");
    match (below, keys.is_empty()) {
        (0, _) => keys,
        (_, true) => more,
        (_, false) => format!("{more} · {keys}"),
    }
}

/// The keys that work now, from the table of keys.
fn request_keys(panel: &RequestPanel) -> String {
    match panel.prompt.stage() {
        Stage::Text(_) if !panel.prompt.has_shown_end() => return "enter read on · esc back".to_owned(),
        Stage::Reason(_) | Stage::Text(_) => return "enter send · esc back".to_owned(),
        Stage::Choose | Stage::Mark(_) | Stage::Grants(_) | Stage::Answered => {}
    }
    let is_choosing = matches!(panel.prompt.stage(), Stage::Grants(_));
    let mut keys = Vec::new();
    if !panel.prompt.has_shown_end() {
        keys.push("space read on · G end".to_owned());
    }
    for row in footer_hints(Context::Request) {
        let word = match (row.action, panel.request()) {
            (Action::Allow | Action::AllowAlways | Action::AllowEdited, _) if is_choosing => continue,
            (Action::SendAnswers, PendingRequest::Permission(_)) => "allow",
            (Action::HideRequest, _) if is_choosing => {
                keys.push("esc back".to_owned());
                continue;
            }
            (Action::Allow, PendingRequest::Plan(_)) => "approve",
            (Action::Deny, PendingRequest::Plan(_)) => "reject",
            (Action::Deny, PendingRequest::Question(_)) => "decline",
            _ => row.hint,
        };
        let options = panel.prompt.option_count();
        let label = match row.action {
            // Of a question with more, the number is typed.
            Action::ChooseOption if is_choosing => option_keys(options.min(MAX_GRANT_KEYS)),
            Action::ChooseOption => option_keys(options),
            _ => row.label.to_owned(),
        };
        // There is room for what matters more.
        let action = prompt_action(row.action, &Key::Character('1'));
        let can_wait = action.is_some_and(|action| action.is_consent() || action == PromptAction::Edit);
        let is_early = can_wait && !panel.prompt.has_shown_end();
        if panel.takes(row.action) && !is_early {
            keys.push(format!("{label} {word}"));
        }
    }
    keys.join(" · ")
}

/// Takes the room of a text field. A row of the request stays in view.
fn split_field(panel: &RequestPanel, inner: &mut Rect) -> Rect {
    let rows = match panel.is_typing() {
        true => (FIELD_ROWS + 1).min(inner.height.saturating_sub(1)),
        false => 0,
    };
    inner.height -= rows;
    Rect::new(inner.x, inner.bottom(), inner.width, rows)
}

fn render_field(panel: &RequestPanel, area: Rect, buffer: &mut Buffer, theme: Theme) -> Option<Position> {
    let (label, field) = match panel.prompt.stage() {
        Stage::Reason(field) => ("Reason (optional)", field),
        Stage::Text(field) => (answer_label(panel), field),
        Stage::Choose | Stage::Mark(_) | Stage::Grants(_) | Stage::Answered => return None,
    };
    let label_rows = u16::from(area.height > 1);
    if label_rows > 0 {
        put(buffer, area, 0, label, theme.style(Role::Strong));
    }
    let rows = area.height - label_rows;
    let place = Rect::new(area.x, area.y + label_rows, area.width, rows);
    field.render(place, buffer, theme)
}

fn answer_label(panel: &RequestPanel) -> &'static str {
    match panel.prompt.question() {
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
        DetailKind::Grant => theme.style(Role::Faint),
    };
    Line::from(Span::styled(row.text.clone(), style))
}

/// The rows of the request at this width.
fn detail_rows(panel: &mut RequestPanel, columns: u16) -> &[DetailRow] {
    let content = (
        panel.question_number(),
        matches!(panel.prompt.stage(), Stage::Grants(_)),
    );
    let known = panel.rows.take();
    let known = known.filter(|known| known.columns == columns && known.content == content);
    let rows = known.unwrap_or_else(|| WrappedRows {
        columns,
        content,
        rows: wrap_rows(&request_rows(panel), usize::from(columns).saturating_sub(4)),
    });
    &panel.rows.insert(rows).rows
}

fn request_rows(panel: &RequestPanel) -> Vec<DetailRow> {
    match panel.request() {
        PendingRequest::Permission(asked) => {
            let mut rows = vec![row(
                DetailKind::Remark,
                format!("Allow {}?", describe_permission(asked)),
            )];
            if let Some(description) = &asked.description {
                rows.push(row(DetailKind::Plain, shown(description)));
            }
            rows.extend(RequestDetail::in_full(asked).rows);
            if matches!(panel.prompt.stage(), Stage::Grants(_)) {
                // They are below, to be chosen from.
                rows.retain(|row| row.kind != DetailKind::Grant);
                rows.push(row(DetailKind::Remark, "From now on, without asking:".to_owned()));
            }
            rows
        }
        PendingRequest::Plan(asked) => vec![
            row(DetailKind::Remark, "Approve the plan?".to_owned()),
            row(DetailKind::Plain, escape_hidden(&asked.plan)),
        ],
        PendingRequest::Question(_) => {
            let text = panel
                .prompt
                .question()
                .map(|(question, ..)| shown(&question.text));
            vec![row(DetailKind::Remark, text.unwrap_or_default())]
        }
    }
}

/// All of an untrusted text. Only empty space is counted instead of shown.
fn shown(text: &str) -> String {
    escape_hidden(&fold_blanks(text))
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

/// A row of an option: its number, a part of its label, a part of what it means.
struct OptionRow {
    number: String,
    label: String,
    description: String,
}

fn option_line(row: &OptionRow, theme: Theme) -> Line<'static> {
    Line::from(vec![
        Span::styled(row.number.clone(), theme.style(Role::Tool)),
        Span::raw(row.label.clone()),
        Span::styled(row.description.clone(), theme.style(Role::Faint)),
    ])
}

/// `1 [x] Blue`, and what it means beside it or below it. All of it, because all of the label is sent.
fn option_rows(panel: &RequestPanel, columns: usize) -> Vec<OptionRow> {
    const LEAD: &str = "   ";
    let mut rows = Vec::new();
    let room = columns.saturating_sub(LEAD.len()).max(2);
    if let Stage::Grants(choice) = panel.prompt.stage() {
        for (index, line) in choice.lines().enumerate() {
            let mark = match choice.chosen().contains(&index) {
                true => "[x] ",
                false => "[ ] ",
            };
            let mut number = format!("{:>2} ", index + 1);
            for label in rows_of(&format!("{mark}{line}"), room) {
                let number = std::mem::replace(&mut number, LEAD.to_owned());
                rows.push(option_row(number, label, String::new()));
            }
        }
        return rows;
    }
    let Some((question, ..)) = panel.prompt.question() else {
        return rows;
    };
    for (index, option) in question.options.iter().enumerate() {
        let mark = match panel.prompt.stage() {
            Stage::Mark(marked) if marked.contains(&index) => "[x] ",
            Stage::Mark(_) => "[ ] ",
            Stage::Choose | Stage::Grants(_) | Stage::Reason(_) | Stage::Text(_) | Stage::Answered => "",
        };
        let labels = rows_of(&format!("{mark}{}", shown(&option.label)), room);
        let description = option.description.as_deref().map(shown).unwrap_or_default();
        let description = match description.trim().is_empty() {
            true => Vec::new(),
            false => rows_of(&description, room),
        };
        let is_single = labels.len() == 1 && description.len() == 1;
        let mut number = format!("{:>2} ", index + 1);
        for label in labels {
            let number = std::mem::replace(&mut number, LEAD.to_owned());
            rows.push(option_row(number, label, String::new()));
        }
        // Beside the label where that is enough.
        match (rows.last_mut(), description.as_slice()) {
            (Some(row), [text])
                if is_single && rows_of(&format!("{}  {text}", row.label), room).len() == 1 =>
            {
                row.description = format!("  {text}");
            }
            _ => {
                let below = description.into_iter();
                rows.extend(below.map(|text| option_row(LEAD.to_owned(), String::new(), text)));
            }
        }
    }
    rows
}

fn option_row(number: String, label: String, description: String) -> OptionRow {
    OptionRow {
        number,
        label,
        description,
    }
}
