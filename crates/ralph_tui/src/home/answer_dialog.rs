//! `AnswerDialog`: a permission request in full, and yes or no to it.

use std::time::Instant;

use agent_api::{PermissionRequested, RequestId};
use ralph_run::control::{AnswerChoice, ControlCommand};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use run_view::{DetailKind, denial, describe_permission, escape_hidden, request_detail};
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
    shown_at: Instant,
    last_key_at: Option<Instant>,
    scroll: ListScroll,
    /// Whether the end of the request was on the screen. Nobody allows what was not shown.
    has_shown_end: bool,
}

impl AnswerDialog {
    pub(super) fn new(run: String, name: String, asked: Box<PermissionRequested>, now: Instant) -> Self {
        Self {
            run,
            name,
            asked,
            shown_at: now,
            last_key_at: None,
            scroll: ListScroll::default(),
            has_shown_end: false,
        }
    }

    pub(super) fn request(&self) -> &RequestId {
        &self.asked.request
    }

    /// When keys may answer.
    pub(super) fn armed_at(&self) -> Instant {
        armed_at(self.shown_at, self.last_key_at)
    }

    pub(super) fn key(&mut self, key: &Key, now: Instant) -> AnswerStep {
        let is_armed = now >= self.armed_at();
        // A report of the terminal is not a key.
        if !matches!(key, Key::Mouse(_) | Key::Focused | Key::Unfocused) {
            self.last_key_at = Some(now);
        }
        match key {
            Key::Character('y') if is_armed && self.has_shown_end => {
                self.answer(AnswerChoice::Allow, "allowed")
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
        let rows = self.rows(usize::from(area.width), theme);
        let body = Rect::new(
            area.x,
            area.y + 1.min(area.height),
            area.width,
            area.height.saturating_sub(2),
        );
        let view = self.scroll.view(rows.len(), None, usize::from(body.height));
        self.has_shown_end |= view.end == rows.len();
        for (row, (text, style)) in (0..body.height).zip(rows.iter().skip(view.start)) {
            put(buffer, body, row, text, *style);
        }
        let below = rows.len() - view.end;
        let (text, role) = if now < self.armed_at() {
            ("y allow once · n deny · esc later".to_owned(), Role::Faint)
        } else if below > 0 {
            let lines = if below == 1 { "line" } else { "lines" };
            (
                format!("{below} more {lines} ↓ · n deny · esc later"),
                Role::Strong,
            )
        } else {
            (
                "y allow once · n deny · enter open the run · esc later".to_owned(),
                Role::Strong,
            )
        };
        put(
            buffer,
            area,
            area.height.saturating_sub(1),
            &text,
            theme.style(role),
        );
    }

    fn rows(&self, columns: usize, theme: Theme) -> Vec<(String, Style)> {
        let mut rows = Vec::new();
        let mut push = |text: &str, style: Style| {
            rows.extend(rows_of(text, columns).into_iter().map(|row| (row, style)));
        };
        push(&describe_permission(&self.asked), theme.style(Role::Strong));
        if let Some(description) = &self.asked.description {
            push(&escape_hidden(description), theme.style(Role::Faint));
        }
        for detail in request_detail(&self.asked).rows {
            let style = match detail.kind {
                DetailKind::Plain => Style::new(),
                DetailKind::Added => theme.style(Role::Added),
                DetailKind::Removed => theme.style(Role::Removed),
                DetailKind::Remark => theme.style(Role::Faint),
            };
            push(&detail.text, style);
        }
        rows
    }
}
