//! `AnswerDialog`: a permission request in full, and yes or no to it.

use std::time::Instant;

use agent_api::{PermissionRequested, RequestId};
use ralph_run::control::{AnswerChoice, ControlCommand};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use run_view::{DetailKind, RequestDetail, denial, describe_permission, escape_hidden, fold_blanks};
use terminal_input::{Key, armed_at};

use crate::theme::{Role, Theme};
use crate::widgets::{ListScroll, put, rows_of};

#[derive(Debug, PartialEq)]
pub(super) enum AnswerStep {
    Open,
    Closed,
    /// The user wants the whole run.
    OpenRun,
    Answered {
        command: ControlCommand,
        notice: String,
    },
}

#[derive(Debug)]
pub(super) struct AnswerDialog {
    pub(super) run: String,
    name: String,
    asked: Box<PermissionRequested>,
    opened_at: Instant,
    /// When it was first drawn. Before, keys mean nothing to it.
    shown_at: Option<Instant>,
    last_key_at: Option<Instant>,
    scroll: ListScroll,
    /// The rows at a width.
    rows: Option<(u16, Vec<Row>)>,
    /// A part of it is too long to be shown at all.
    is_cut: bool,
    /// Whether the next y allows what cannot be shown.
    is_confirming: bool,
    /// Whether the end of the request was on the screen. Nobody allows what was not shown.
    has_shown_end: bool,
}

/// A row of the request. Safe for a terminal.
#[derive(Debug)]
struct Row {
    role: Option<Role>,
    text: String,
}

impl AnswerDialog {
    pub(super) fn new(run: String, name: String, asked: Box<PermissionRequested>, now: Instant) -> Self {
        Self {
            run,
            name,
            is_cut: RequestDetail::in_full(&asked).is_cut,
            asked,
            opened_at: now,
            shown_at: None,
            last_key_at: None,
            scroll: ListScroll::default(),
            rows: None,
            is_confirming: false,
            has_shown_end: false,
        }
    }

    pub(super) fn request(&self) -> &RequestId {
        &self.asked.request
    }

    /// When keys may answer, if it is drawn at once.
    pub(super) fn armed_at(&self) -> Instant {
        armed_at(self.shown_at.unwrap_or(self.opened_at), self.last_key_at)
    }

    fn is_armed(&self, now: Instant) -> bool {
        self.shown_at.is_some() && now >= self.armed_at()
    }

    /// Arms it again once it was drawn again: something else had the terminal meanwhile.
    pub(super) fn rearm(&mut self, now: Instant) {
        self.opened_at = now;
        self.shown_at = None;
    }

    pub(super) fn key(&mut self, key: &Key, now: Instant) -> AnswerStep {
        let is_armed = self.is_armed(now);
        // A report of the terminal is not a key.
        if !matches!(key, Key::Mouse(_) | Key::Focused | Key::Unfocused) {
            self.last_key_at = Some(now);
        }
        match key {
            Key::Character('y') if is_armed && self.has_shown_end => {
                if self.is_cut && !std::mem::replace(&mut self.is_confirming, true) {
                    self.rearm(now);
                    return AnswerStep::Open;
                }
                self.answer(AnswerChoice::allow_once(), "allowed")
            }
            Key::Character('n') if is_armed => self.answer(denial(""), "denied"),
            Key::Enter if is_armed => AnswerStep::OpenRun,
            Key::Escape | Key::Control('c') => AnswerStep::Closed,
            Key::Down | Key::Character('j') => self.scroll_by(1),
            Key::Up | Key::Character('k') => self.scroll_by(-1),
            Key::PageDown | Key::Character(' ') => self.scroll_by(10),
            Key::PageUp => self.scroll_by(-10),
            _ => AnswerStep::Open,
        }
    }

    pub(super) fn scroll_by(&mut self, rows: isize) -> AnswerStep {
        self.scroll.scroll(rows);
        AnswerStep::Open
    }

    fn answer(&self, answer: AnswerChoice, word: &str) -> AnswerStep {
        AnswerStep::Answered {
            command: ControlCommand::Answer {
                request: self.asked.request.clone(),
                answer,
            },
            notice: format!("{word}: {}", describe_permission(&self.asked)),
        }
    }

    pub(super) fn render(&mut self, area: Rect, buffer: &mut Buffer, theme: Theme, now: Instant) {
        let title = format!("Run {} asks for permission", self.name);
        put(buffer, area, 0, &title, theme.style(Role::NeedsPerson));
        let body = Rect::new(
            area.x,
            area.y + 1.min(area.height),
            area.width,
            area.height.saturating_sub(2),
        );
        let rows = match self.rows.take() {
            Some((columns, rows)) if columns == area.width => rows,
            _ => self.wrapped_rows(usize::from(area.width)),
        };
        let view = self.scroll.view(rows.len(), None, usize::from(body.height));
        // A wide character takes two columns.
        if !view.is_empty() && body.width > 1 {
            self.shown_at.get_or_insert(now);
            self.has_shown_end |= view.end == rows.len();
        }
        for (y, row) in (0..body.height).zip(rows.iter().skip(view.start)) {
            let style = row.role.map_or(Style::new(), |role| theme.style(role));
            put(buffer, body, y, &row.text, style);
        }
        let below = rows.len() - view.end;
        self.rows = Some((area.width, rows));
        let (text, role) = self.keys(below, now);
        put(
            buffer,
            area,
            area.height.saturating_sub(1),
            &text,
            theme.style(role),
        );
    }

    /// The keys, or why there are none yet.
    fn keys(&self, below: usize, now: Instant) -> (String, Role) {
        if below > 0 {
            let lines = if below == 1 { "line" } else { "lines" };
            let role = if self.is_armed(now) {
                Role::Strong
            } else {
                Role::Faint
            };
            return (format!("{below} more {lines} ↓ · n deny · esc later"), role);
        }
        if self.is_confirming {
            let text = "a part of it is too long to be shown · y again to allow · n deny";
            return (text.to_owned(), Role::Strong);
        }
        match self.is_armed(now) {
            true => (
                "y allow once · n deny · enter open the run · esc later".to_owned(),
                Role::Strong,
            ),
            false => ("y allow once · n deny · esc later".to_owned(), Role::Faint),
        }
    }

    fn wrapped_rows(&self, columns: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut push = |text: &str, role: Option<Role>| {
            let texts = rows_of(text, columns).into_iter();
            rows.extend(texts.map(|text| Row { role, text }));
        };
        push(&describe_permission(&self.asked), Some(Role::Strong));
        if let Some(description) = &self.asked.description {
            push(&escape_hidden(&fold_blanks(description)), Some(Role::Faint));
        }
        for detail in RequestDetail::in_full(&self.asked).rows {
            let role = match detail.kind {
                DetailKind::Plain => None,
                DetailKind::Added => Some(Role::Added),
                DetailKind::Removed => Some(Role::Removed),
                DetailKind::Remark | DetailKind::Grant => Some(Role::Faint),
            };
            push(&detail.text, role);
        }
        rows
    }
}
